"""Make the ladders of the database agree with the official ladders of the service, when it starts or is upgraded."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.db.engine import take_advisory_lock
from referee.ladders import members
from referee.ladders.ladder_names import make_unique, variant_name
from referee.ladders.official import OfficialLadder
from referee.ladders.ratings import get_or_create_ladder
from referee.ladders.tables import Ladder


def sync_ladders(session: Session, official: Sequence[OfficialLadder]) -> list[str]:
    """Create or update the official ladders, and name the variants. Return a sentence for each ladder that changed.

    A ladder that is no longer official keeps its ratings as a variant, and an unlisted one stays unlisted. Certified
    bots join new official ladders.
    """
    take_advisory_lock(session, "ladders")
    before = {ladder.id: (ladder.name, _kind(ladder)) for ladder in session.scalars(select(Ladder))}
    chosen = {
        get_or_create_ladder(session, wanted.game, wanted.options, wanted.seats).id: wanted for wanted in official
    }
    ladders = list(session.scalars(select(Ladder).order_by(Ladder.created_at, Ladder.id)))
    standards = {wanted.game: (wanted.options, wanted.seats) for wanted in official if not wanted.unlisted}
    names = {ladder_id: wanted.name for ladder_id, wanted in chosen.items()}
    for ladder in ladders:
        ladder.official = ladder.id in chosen
        ladder.daily_matches = chosen[ladder.id].daily_matches if ladder.official else None
        if ladder.official:
            ladder.unlisted = chosen[ladder.id].unlisted
        else:
            name = variant_name(ladder.game, ladder.options, ladder.seats, standards.get(ladder.game))
            names[ladder.id] = make_unique(name, ladder.id, {*names.values()})
    _rename(session, ladders, names)
    changed = [ladder for ladder in ladders if before.get(ladder.id) != (ladder.name, _kind(ladder))]
    if any(_kind(ladder) != before.get(ladder.id, ("", (False, False)))[1] for ladder in changed):
        members.refresh_all(session)
    return [_describe(ladder) for ladder in changed]


def _rename(session: Session, ladders: Sequence[Ladder], names: dict[str, str]) -> None:
    changed = [ladder for ladder in ladders if ladder.name != names[ladder.id]]
    for ladder in changed:
        ladder.name = ladder.id  # free the former names first, because names are unique
    session.flush()
    for ladder in changed:
        ladder.name = names[ladder.id]
    session.flush()


def _kind(ladder: Ladder) -> tuple[bool, bool]:
    return ladder.official, ladder.unlisted


def _describe(ladder: Ladder) -> str:
    kind = f"official, {ladder.daily_matches} matches a day for each bot" if ladder.official else "variant"
    kind += ", unlisted" if ladder.unlisted else ""
    return f"ladder {ladder.id}: {ladder.name} ({kind}, {ladder.seats} seats)"
