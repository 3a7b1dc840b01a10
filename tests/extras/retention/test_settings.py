"""The settings REFEREE_KEEP_…: what they may say, and the sentence for anything else."""

from pathlib import Path

import pytest

from referee.settings import BadSettings, Settings
from referee_extras.retention.rules import Kind, rules_of


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_DATA", str(tmp_path))


@pytest.mark.parametrize(
    ("name", "text", "kind", "days"),
    [
        ("LADDER_LOGS_DAYS", "0", Kind.LADDER_LOGS, None),
        ("LADDER_LOGS_DAYS", "7", Kind.LADDER_LOGS, 7),
        ("LADDER_LOGS_DAYS", "36500", Kind.LADDER_LOGS, 36_500),
        ("TOKENS", "forever", Kind.TOKENS, None),
        ("TOKENS", "30 days", Kind.TOKENS, 30),
        ("TOKENS", "1 day", Kind.TOKENS, 1),
        ("TOKENS", "90days", Kind.TOKENS, 90),
        ("LOGS", "", Kind.LOGS, None),
    ],
)
def test_a_setting_is_a_rule(
    name: str, text: str, kind: Kind, days: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"REFEREE_KEEP_{name}", text)

    assert rules_of(Settings.load())[kind].days == days


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("LADDER_LOGS_DAYS", "6", "7 to 36500"),
        ("LADDER_LOGS_DAYS", "36501", "7 to 36500"),
        ("LADDER_LOGS_DAYS", "a week", "Must be a whole number"),
        ("LOGS", "6 days", "expected 7 to 36500 days, or forever"),
        ("LOGS", "30", "expected forever or days, like 90 days"),
        ("FAULT_REPORTS", "3 days, 4 days", "expected forever or days, like 90 days"),
        ("NOTIFICATIONS", "0 days", "expected 1 to 36500 days"),
        ("DELIVERIES", "1 day", "expected 2 to 36500 days"),
        ("TOKENS", "a week", "expected forever or days, like 90 days"),
    ],
)
def test_an_impossible_setting_is_explained_in_a_sentence(
    name: str, text: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"REFEREE_KEEP_{name}", text)

    with pytest.raises(BadSettings, match=f"REFEREE_KEEP_{name}.*{reason}"):
        Settings.load()
