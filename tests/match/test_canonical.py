"""Canonical JSON: the standard library produces the same spelling."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.match.canonical import dumps

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXT
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))


@given(VALUES)
def test_the_standard_library_spells_it_the_same(value: object) -> None:
    spelt = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)

    assert dumps(value) == spelt.encode()


@pytest.mark.parametrize("value", [2**64, {1}, {1: 2}, "\ud800", object()])
def test_what_has_no_spelling_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        dumps(value)
