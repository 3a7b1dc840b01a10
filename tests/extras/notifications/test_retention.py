"""Rules say how long notifications and deliveries are kept."""

from pathlib import Path

import pytest

from referee.settings import BadSettings, Settings
from referee_extras.retention.rules import rules_of


def test_notifications_and_deliveries_have_rules_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_DATA", str(tmp_path))
    rules = rules_of(Settings.load())
    assert (rules["notifications"].days, rules["deliveries"].days) == (90, 30)

    for name, text, least in (("NOTIFICATIONS", "0 days", 1), ("DELIVERIES", "1 day", 2)):
        with monkeypatch.context() as patch:
            patch.setenv(f"REFEREE_KEEP_{name}", text)
            with pytest.raises(BadSettings, match=f"{name}.*expected {least} to 36500 days"):
                Settings.load()
