"""Compute the pairings of tournament rounds from entries and results alone. The scheduler creates the matches."""

from referee.pairing.formats import formats as formats
from referee.pairing.history import bye_points as bye_points
from referee.pairing.model import Bye as Bye
from referee.pairing.model import Entrant as Entrant
from referee.pairing.model import Format as Format
from referee.pairing.model import Leg as Leg
from referee.pairing.model import PairingInput as PairingInput
from referee.pairing.model import PairingRound as PairingRound
from referee.pairing.model import PlayedRound as PlayedRound
from referee.pairing.model import Table as Table
from referee.pairing.round_robin import MAX_TABLES as MAX_TABLES
from referee.pairing.round_robin import round_robin as round_robin
from referee.pairing.sections import sections as sections
