"""Limits that pages state are those of the program."""

from pathlib import Path

import pytest

from referee.accounts import accounts, co_organisers
from referee.botclient import address_guard, bot_clock, framing, name_lookup
from referee.bots import checks
from referee.cli import check
from referee.conformance.context import Pace
from referee.db import former_names
from referee.friendlies import requests, rules
from referee.matches.queue import capacity, quotas
from referee.pairing import official
from referee.protocol import messages
from referee.ratings.elo import MICRO
from referee.tournaments import announcement, private, terms, tournaments
from referee.workflows.accounts import invitations
from workers import bot_checks

DOCS = Path(__file__).parents[1] / "docs"
SENTENCES = {
    "account": [
        f"at most {accounts.TOKENS_PER_ACCOUNT} tokens that have not expired",
        f"It ends after {accounts.DEVICE_LIFETIME.days} days, when you sign out",
        f"`PUT /challengers/{{account}}`; up to {rules.MAX_ENTRIES}.",
        f"They expire after {requests.LIFETIME.days} days. An account can have {requests.MAX_SENT} pending ones, and "
        f"{requests.MAX_RECEIVED} can wait for one owner.",
        f"may have **{quotas.MAX_OPEN_FRIENDLIES} open friendlies**",
        f"at most {invitations.MAX_PER_DAY} invitations in 24 hours, {invitations.MAX_PER_DAY_FROM_ONE} of them",
        f"is held for {former_names.HOLD.days} days",
        f"can be changed {former_names.MAX_CHANGES} times in {former_names.HOLD.days} days",
    ],
    "tournaments": [
        f"at most {private.MAX_ENTRIES} entries and {private.MAX_CYCLES} cycles, "
        f"at most {private.MAX_BUDGET_MS // 1000} s per decision and a bank of {private.MAX_BANK_MS // 1000} s",
        f"up to {tournaments.MAX_UNFINISHED_PER_OWNER} unfinished tournaments",
        f"Up to {co_organisers.MAX_CO_ORGANISERS} **co-organisers**",
        f"up to {announcement.MAX_DESCRIPTION_LENGTH:,} characters of Markdown",
        f"one line of up to {terms.MAX_LINE_LENGTH} characters",
    ],
    "checking": [
        f"as the manifest allows (at most {Pace().max_concurrent}; with `--full` all)",
        f"number of decisions, {check.QUESTIONS} by default",
        f"{check.FULL_QUESTIONS:,} questions, a pause of {check.FULL_PAUSE_S:g} s",
        f"the questions are limited to {Pace().slow_question_time_s:g} s",
        f"at most {capacity.CALLS_PER_CHECK} concurrent questions and ends after {bot_checks.PACE.time_limit_s:g} s",
        f"if a valid certificate is younger than {checks.YOUNG.days} days",
    ],
    "bot-protocol": [
        f"a note of at most {messages.MAX_NOTE_BYTES:,} bytes",
        f"`error` is a string of at most {messages.MAX_ERROR_BYTES:,} bytes",
        f"within {name_lookup.LOOK_UP_SECONDS:g} s, or resolved to more than {address_guard.MAX_ADDRESSES} addresses",
        f"larger than {framing.MAX_HEAD_BYTES >> 10} KiB, or followed more than {framing.MAX_INTERIM} interim",
        f"the body of the response was larger than {framing.MAX_BODY_BYTES >> 10} KiB",
        f"401 with a `Date` more than {bot_clock.TOLERATED_S:g} s off",
    ],
    "official-ladders": [
        f"of other owners are free within {official.PARTNER_WAIT_S:g} s",
        f"its next {official.VERSION_MATCHES} matches on this ladder follow immediately",
        f"have ratings within {official.HOUSE_DISTANCE // MICRO} points",
    ],
}


@pytest.mark.parametrize("page", SENTENCES)
def test_limits_that_a_page_states_are_those_of_the_program(page: str) -> None:
    text = " ".join((DOCS / f"{page}.md").read_text().split())

    assert [sentence for sentence in SENTENCES[page] if sentence not in text] == []
