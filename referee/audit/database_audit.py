"""Audit the database: replay all logs and ladders, check signatures, and compare stored values with derived ones.

The audit reads one snapshot and writes nothing. ``repairs`` recomputes ladders.
"""

from collections.abc import Iterator
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.audit import stored_matches
from referee.audit.chain_walk import FOLLOWS, ChainWalk
from referee.audit.findings import Difference
from referee.audit.stored_ladders import Step, check_ladders, count_entries
from referee.errors import DamagedChain
from referee.match.signing_keys import PublicKey
from referee.matches.logs import chain
from referee.matches.tables import SignedLog

LOGS_PER_PAGE: Final = 100
SIGNATURES_PER_PAGE: Final = 500


def audit(session: Session, step: Step = lambda more: None, *, key: PublicKey | None = None) -> Iterator[Difference]:
    """Yield all differences: first those of logs and results, then those of signatures, then those of ladders.

    ``key`` is the current key of the service (``ChainWalk.current``). After each page, call ``step`` with the number of
    items compared. These numbers add up to ``count_items``.
    """
    yield from check_logs(session, step)
    yield from check_chain(session, step, key=key)
    yield from check_ladders(session, step)


def count_items(session: Session) -> int:
    """Return the number of items to compare: matches, entries of the chain of signatures, and ledger entries."""
    signatures = session.scalars(select(func.count()).select_from(SignedLog)).one()
    return stored_matches.count_matches(session) + signatures + count_entries(session)


def check_logs(session: Session, step: Step = lambda more: None) -> Iterator[Difference]:
    """Yield all differences between stored matches and their logs."""
    after: str | None = ""
    while after is not None:
        page = stored_matches.check_page(session, after, LOGS_PER_PAGE)
        yield from page.differences
        step(len(page.matches))
        after = page.last
        session.expunge_all()  # free memory, because logs are large


def check_chain(
    session: Session, step: Step = lambda more: None, *, key: PublicKey | None = None
) -> Iterator[Difference]:
    """Yield a difference for each entry of the chain that does not follow from the one before it."""
    walk, after = ChainWalk(chain.load_keys(session), None if key is None else key.id), 0
    while entries := chain.list_entries(session, after, SIGNATURES_PER_PAGE):
        for entry in entries:
            yield from walk.check(entry)
        after = entries[-1].number
        step(len(entries))


def check_links(session: Session, match_ids: list[str]) -> Iterator[Difference]:
    """Yield a difference for each signature of these matches that does not follow from the entry before it."""
    for match_id in match_ids:
        try:
            chain.find_checked_entry(session, match_id)
        except DamagedChain as error:
            yield Difference("chain", f"entry {error.number}", error.reason, FOLLOWS)


def check_gaps(session: Session) -> Iterator[Difference]:
    """Yield a difference if the entries are not numbered from 1 without gaps, without reading them all."""
    numbers = SignedLog.number
    count, first, last = session.execute(select(func.count(), func.min(numbers), func.max(numbers))).one()
    if count and (first, last) != (1, count):
        yield Difference("chain", f"entries 1 to {last}", f"{count} entries from {first} to {last}", f"{last} entries")
