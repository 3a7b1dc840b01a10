"""The registration of a bot runs few functions and statements, so that a reader can follow it."""

import sys
from types import CodeType, FrameType

from tests.api.conftest import Start
from tests.api.test_site_ladders import counted_statements
from tests.test_layers import ROOT

PACKAGES = tuple(f"{ROOT / package}/" for package in ("referee", "api", "workers"))


def test_a_registration_runs_few_functions_files_and_statements(start: Start) -> None:
    owner = start(rate_limits=False).person()
    owner.post("/bots", {"name": "First", "url": "https://first.example.org/"})  # fills the caches
    called: set[CodeType] = set()

    def note(frame: FrameType, kind: str, _: object) -> None:
        code = frame.f_code
        if kind == "call" and code.co_filename.startswith(PACKAGES) and not code.co_name.startswith("<"):
            called.add(code)

    with counted_statements() as statements:
        sys.setprofile(note)
        try:
            answer = owner.post("/bots", {"name": "Second", "url": "https://second.example.org/"})
        finally:
            sys.setprofile(None)

    shown = owner.get(f"/bots/{answer.get_json()['id']}").get_json()
    assert {name: value for name, value in answer.get_json().items() if name != "secret"} == shown
    assert len(called) <= 100, sorted(code.co_qualname for code in called)  # without comprehensions
    assert len({code.co_filename for code in called}) <= 28
    assert len(statements) <= 10, statements
