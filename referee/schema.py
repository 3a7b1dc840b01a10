"""Collect all tables of the service for migrations, tests and tools. Areas import their own ``tables`` instead.

The tables of extras have collections of their own.
"""

from referee.accounts.oversight_tables import Act as Act
from referee.accounts.oversight_tables import OrganiserRequest as OrganiserRequest
from referee.accounts.tables import Account as Account
from referee.accounts.tables import Token as Token
from referee.bots.tables import Bot as Bot
from referee.bots.tables import Certificate as Certificate
from referee.bots.tables import Check as Check
from referee.db.base import Base as Base
from referee.db.base import Json as Json
from referee.db.base import UtcTime as UtcTime
from referee.db.former_names import FormerName as FormerName
from referee.db.health import DatabaseIdentity as DatabaseIdentity
from referee.db.idempotency import Idempotency as Idempotency
from referee.db.search_documents import SearchDocument as SearchDocument
from referee.friendlies.tables import ChallengerEntry as ChallengerEntry
from referee.friendlies.tables import FriendlyRequest as FriendlyRequest
from referee.friendlies.tables import FriendlyRules as FriendlyRules
from referee.friendlies.tables import RequestedOwner as RequestedOwner
from referee.ladders.tables import DailyExchange as DailyExchange
from referee.ladders.tables import Ladder as Ladder
from referee.ladders.tables import LadderMember as LadderMember
from referee.ladders.tables import LadderPlayer as LadderPlayer
from referee.ladders.tables import LedgerEntry as LedgerEntry
from referee.ladders.tables import OwnerExchange as OwnerExchange
from referee.ladders.tables import Rating as Rating
from referee.ladders.tables import RatingChange as RatingChange
from referee.ladders.tables import RatingCount as RatingCount
from referee.matches.tables import DealGroup as DealGroup
from referee.matches.tables import Fault as Fault
from referee.matches.tables import GroupToClose as GroupToClose
from referee.matches.tables import LogRow as LogRow
from referee.matches.tables import MatchLog as MatchLog
from referee.matches.tables import MatchSeat as MatchSeat
from referee.matches.tables import MatchVoid as MatchVoid
from referee.matches.tables import PublishedKey as PublishedKey
from referee.matches.tables import QueuedSeat as QueuedSeat
from referee.matches.tables import ReportedError as ReportedError
from referee.matches.tables import Result as Result
from referee.matches.tables import SealedAnswer as SealedAnswer
from referee.matches.tables import SignedLog as SignedLog
from referee.matches.tables import StoredMatch as StoredMatch
from referee.matches.tables import friendly as friendly
from referee.matches.tables import is_unstarted as is_unstarted
from referee.tournaments.tables import Tournament as Tournament
from referee.tournaments.tables import TournamentEntry as TournamentEntry
from referee.tournaments.tables import TournamentRound as TournamentRound
