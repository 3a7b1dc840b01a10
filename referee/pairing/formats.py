"""Register the tournament formats by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from referee.pairing.gauntlet import Gauntlet
from referee.pairing.knockout import Knockout
from referee.pairing.model import Format
from referee.pairing.round_robin import DoubleRoundRobin, RoundRobin
from referee.pairing.swiss import Swiss

_ALL: Final[tuple[Format, ...]] = (RoundRobin(), DoubleRoundRobin(), Swiss(), Knockout(), Gauntlet())
_BY_NAME: Final[Mapping[str, Format]] = MappingProxyType({known.name: known for known in _ALL})


def formats() -> Mapping[str, Format]:
    """Return all formats, keyed by the name that tournaments store."""
    return _BY_NAME
