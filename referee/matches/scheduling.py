"""Create matches from plans: validate all plans together, then insert the matches in bulk with their deal groups."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

import referee
from referee.bots import certificates, house_bots
from referee.bots.states import SEATED, BotState
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.db.prepared import Prepared, insert_columns
from referee.errors import BadOption, Conflict, NotFound
from referee.games import game as rules_of
from referee.match.canonical import dumps
from referee.match.time_limits import Limits
from referee.matches.deals import deal_groups
from referee.matches.queue.queued_seats import add_to_queue
from referee.matches.states import DealSharing, MatchState
from referee.matches.tables import DealGroup, MatchSeat, StoredMatch

Json = dict[str, Any]

_INSERTS: Final = [  # in the order of foreign keys; with the columns that have no value in a new row
    (Prepared(insert_columns(model.__table__)), dict.fromkeys(model.__table__.columns.keys()))
    for model in (DealGroup, StoredMatch, MatchSeat)
]

_COPIED: Final = (  # from a plan to its match
    *("game", "tournament_id", "tournament_round", "table_no", "leg", "rematch_of", "ladder_id", "listed"),
    "created_by",
)


@dataclass(frozen=True, slots=True)
class Deal:
    """Identify a shared deal. Plans with equal deals share a deal group."""

    key: Hashable
    kind: DealSharing


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """Describe a match to create: its game, its terms, its bots in seat order, and its table in a tournament.

    ``entrants``, if given, are the bots to which the seats belong. A bot that plays in another's seat is a substitute
    and is not rated. Without a ``deal`` the match gets its own deal group. ``ladder_id`` is the official ladder for
    which the service makes the match, or None.
    """

    game: str
    bots: Sequence[str]
    options: Mapping[str, Any]
    limits: Limits
    rated: bool = True
    created_by: str | None = None
    tournament_id: str | None = None
    tournament_round: int | None = None
    table_no: int | None = None
    leg: int | None = None
    entrants: Sequence[str] | None = None
    deal: Deal | None = None
    rematch_of: str | None = None
    ladder_id: str | None = None
    listed: bool = True


def create_matches(session: Session, plans: Sequence[MatchPlan], *, master_key: bytes) -> list[str]:
    """Create matches that are due immediately, in new groups for their deals.

    Return their ids in the order of ``plans``. A match is rated only if its plan is and ``counts_on_ladder`` holds.
    Raise ``NoSuchGame``, ``NotFound`` for an unknown bot, ``BadOption`` for invalid options or a bot that does not play
    the game, ``Conflict`` for a bot that is not verified, and ``NoCertificate`` for a rated match outside tournaments;
    tournaments check certificates themselves.
    """
    draft = _Draft(session, plans)
    draft.check()
    moment = current_time(session)
    groups = draft.groups(moment, master_key)
    rows = [
        {**draft.row(plan), "group_id": groups[key]["id"], "created_at": moment}
        for plan, key in zip(plans, draft.deals, strict=True)
    ]
    seats = [seat for plan, row in zip(plans, rows, strict=True) for seat in draft.seats(plan, row["id"])]
    for (add, blank), batch in zip(_INSERTS, (groups.values(), rows, seats), strict=True):
        add.execute_all(session, [blank | row for row in batch])
    match_ids = [row["id"] for row in rows]
    add_to_queue(session, match_ids)
    return match_ids


def has_owner_twice(owners: Collection[str]) -> bool:
    """Return whether two bots at a table have the same owner.

    Such a table is unrated even in a rated tournament.
    """
    return len(set(owners)) < len(owners)


def counts_on_ladder(owners: Collection[str], anchors: Collection[int | None]) -> bool:
    """Return whether a rated match counts: at least one rated bot, at least two seats that count, no owner twice.

    ``owners`` are those of the rated seats. ``anchors`` has the rating of each anchor at the table, None for others.
    """
    seats = len(owners) + sum(anchor is not None for anchor in anchors)
    return len(owners) > 0 and seats > 1 and not has_owner_twice(owners)


@dataclass(frozen=True)
class _Draft:
    """Hold plans together with the bots and options they need, which are loaded once for all plans."""

    session: Session
    plans: Sequence[MatchPlan]

    @cached_property
    def bots(self) -> Mapping[str, Row[Any]]:
        wanted = {bot_id for plan in self.plans for bot_id in plan.bots}
        columns = (Bot.id, Bot.owner_id, Bot.status, Bot.name, Bot.version, Bot.games, Bot.url)
        query = select(*columns).where(Bot.id.in_(wanted))
        if any(not plan.rated and plan.tournament_id is None for plan in self.plans):
            # Take shared locks in id order, so that a concurrent pause of a bot either comes first or cancels the
            # friendly.
            query = query.order_by(Bot.id).with_for_update(read=True)
        return {bot.id: bot for bot in self.session.execute(query)}

    @cached_property
    def options(self) -> dict[tuple[str, int, bytes], Json]:
        """Return the options, completed by defaults, for each combination of game, seats and given options."""
        of_kind = {_options_key(plan): plan for plan in self.plans}
        return {key: rules_of(plan.game).start(len(plan.bots), plan.options).options for key, plan in of_kind.items()}

    @cached_property
    def deals(self) -> list[Hashable]:
        """Return the key of each plan's deal group: the plan's deal, or the plan's index if it has no deal."""
        return [plan.deal or index for index, plan in enumerate(self.plans)]

    def groups(self, moment: datetime, master_key: bytes) -> dict[Hashable, Json]:
        """Return the row of a new deal group for each key in ``deals``. House bots contribute no nonces."""
        plans_by_deal: dict[Hashable, list[MatchPlan]] = {}
        for key, plan in zip(self.deals, self.plans, strict=True):
            plans_by_deal.setdefault(key, []).append(plan)
        return {key: self._group(plans, moment, master_key) for key, plans in plans_by_deal.items()}

    def _group(self, plans: Sequence[MatchPlan], moment: datetime, master_key: bytes) -> Json:
        entries = [bot for plan in plans for bot in plan.bots if self.bots[bot].status != BotState.HOUSE]
        kind = plans[0].deal.kind if plans[0].deal else DealSharing.OWN
        return {**deal_groups.new_group_row(entries, moment, master_key, plans[0].tournament_id), "kind": kind}

    def check(self) -> None:
        _ = self.options
        for game, bot_id in {(plan.game, bot_id): None for plan in self.plans for bot_id in plan.bots}:
            self._check_bot(bot_id, game)
        rated = [plan for plan in self.plans if plan.tournament_id is None and self._is_rated(plan)]
        for game, bot_id in {(plan.game, bot_id): None for plan in rated for bot_id in plan.bots}:
            certificates.require_certificate(self.session, self.session.get_one(Bot, bot_id), game)

    def _check_bot(self, bot_id: str, game: str) -> None:
        bot = self.bots.get(bot_id)
        if bot is None:
            raise NotFound("bot", bot_id)
        if bot.status not in SEATED:
            raise Conflict(f"The bot {bot.name!r} is {bot.status}; only verified bots get seats.")
        if game not in bot.games:
            raise BadOption("bots", f"bot {bot.name!r} does not play {game}; its manifest lists {', '.join(bot.games)}")

    def row(self, plan: MatchPlan) -> Json:
        given = {name: getattr(plan, name) for name in _COPIED}
        return {
            **given,
            "id": new_id("match"),
            "rules_version": rules_of(plan.game).rules_version,
            "engine_version": referee.__version__,
            "options": self.options[_options_key(plan)],
            "seats": len(plan.bots),
            "budget_ms": plan.limits.budget_ms,
            "bank_ms": plan.limits.bank_ms,
            "rated": self._is_rated(plan),
            "status": MatchState.DUE,
            **dict.fromkeys(("epoch", "lost_claims", "claims_without_progress", "rows"), 0),
        }

    def _is_rated(self, plan: MatchPlan) -> bool:
        if not plan.rated:
            return False
        counted = zip(plan.bots, self._rated_seats(plan), strict=True)
        owners = [self.bots[bot_id].owner_id for bot_id, counts in counted if counts]
        terms = plan.game, self.options[_options_key(plan)], len(plan.bots)
        anchors = [house_bots.find_anchor(self.bots[bot_id].url, *terms) for bot_id in plan.bots]
        return counts_on_ladder(owners, anchors)

    def _rated_seats(self, plan: MatchPlan) -> list[bool]:
        """Return for each seat whether it is rated. Seats in which house bots or substitutes play are not."""
        return [
            self.bots[bot].status != BotState.HOUSE and entrant == bot
            for bot, entrant in zip(plan.bots, plan.entrants or plan.bots, strict=True)
        ]

    def seats(self, plan: MatchPlan, match_id: str) -> list[Json]:
        bots, counted = [self.bots[bot_id] for bot_id in plan.bots], self._rated_seats(plan)
        entrants = plan.entrants or plan.bots
        return [
            {
                "match_id": match_id,
                "seat": seat,
                "bot_id": bot.id,
                "entrant_id": entrants[seat] if entrants[seat] != bot.id else None,
                "rated": counted[seat],
                "bot_name": bot.name,
                "version": bot.version,
                "faults": 0,
            }
            for seat, bot in enumerate(bots)
        ]


def _options_key(plan: MatchPlan) -> tuple[str, int, bytes]:
    return plan.game, len(plan.bots), dumps(dict(plan.options))
