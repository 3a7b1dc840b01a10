"""Collect all tables of the service for migrations, tests and tools. Areas import their own ``tables`` instead.

The tables of extras have collections of their own.
"""

import referee.friendlies.tables  # noqa: F401
from referee.accounts import oversight_tables as oversight_tables
from referee.accounts.tables import Account as Account
from referee.bots.tables import Bot as Bot
from referee.bots.tables import Check as Check
from referee.db import former_names as former_names
from referee.db import health as health
from referee.db import idempotency as idempotency
from referee.db import search_documents as search_documents
from referee.db.base import Base as Base
from referee.ladders.tables import Ladder as Ladder
from referee.ladders.tables import LedgerEntry as LedgerEntry
from referee.ladders.tables import Rating as Rating
from referee.ladders.tables import RatingChange as RatingChange
from referee.matches.tables import DealGroup as DealGroup
from referee.matches.tables import Fault as Fault
from referee.matches.tables import LogRow as LogRow
from referee.matches.tables import MatchLog as MatchLog
from referee.matches.tables import MatchSeat as MatchSeat
from referee.matches.tables import Result as Result
from referee.matches.tables import StoredMatch as StoredMatch
from referee.tournaments.tables import Tournament as Tournament
from referee.tournaments.tables import TournamentEntry as TournamentEntry
from referee.tournaments.tables import TournamentRound as TournamentRound
