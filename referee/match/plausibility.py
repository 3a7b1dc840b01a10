"""Check what a log states beyond the rules of its game: its header, and whether each answer was possible."""

import re
from typing import Any, Final

from referee.errors import BadLog
from referee.match.canonical import Json
from referee.match.log import HEADER_MEMBERS
from referee.match.match import Match

GROUP_MEMBERS: Final = frozenset({"id", "commitment", "entries"})
PLAYER_MEMBERS: Final = frozenset({"bot", "name", "version"})
FORK_MEMBERS: Final = frozenset({"match", "n", "before"})
TIME_MEMBERS: Final = frozenset({"budget_ms", "bank_ms"})
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_WITH_NOTES: Final = frozenset({"", "illegal_action"})  # other faults have no readable answer, hence no note


def check_header(header: Json) -> None:
    """Raise ``BadLog`` unless a header has just its members, of the right kinds, and a player for each seat."""
    _require(
        header.keys() == HEADER_MEMBERS, f"the header must have just these members: {_list_members(HEADER_MEMBERS)}"
    )
    for name in ("match", "engine_version"):
        _require(isinstance(header[name], str) and header[name] != "", f"{name} must be a text")
    _require(isinstance(header["rated"], bool), "rated must be true or false")
    for name in ("log_format", "rules_version", "seats"):
        _require(_is_count(header[name]), f"{name} must be a whole number")
    _require(isinstance(header["options"], dict), "options must be an object")
    time = header["time"]
    _require(
        isinstance(time, dict) and time.keys() == TIME_MEMBERS, f"time must have just {_list_members(TIME_MEMBERS)}"
    )
    _require(all(_is_count(limit) for limit in time.values()), "time limits must be whole numbers of milliseconds")
    _check_players(header)
    _check_group(header)


def check_answer(match: Match, number: int, row: Json) -> None:
    """Raise ``BadLog`` unless the answer in row ``number`` could be counted as it was.

    A referee stops waiting at the deadline: no answer took longer, and exactly this time is recorded for an answer that
    came too late (``match.time``).
    """
    ms, seat, fault = row.get("ms", ...), row.get("seat"), row.get("fault", "")
    _require(_is_count(ms), f"ms must be a whole number of milliseconds, got {ms!r}", number)
    _require(_is_count(seat), f"seat must be a whole number, got {seat!r}", number)
    if seat not in match.state.pending():
        return  # which replaying reports
    deadline_ms = match.banks.deadline_ms(seat)
    _require(ms <= deadline_ms, f"the answer took {ms} ms, but the seat had {deadline_ms} ms", number)
    late = fault != "deadline" or ms == deadline_ms
    _require(late, f"the answer after {ms} ms was not late, since the seat had {deadline_ms} ms", number)
    _require("note" not in row or fault in _WITH_NOTES, f"an answer with the fault {fault} has no note", number)


def _check_players(header: Json) -> None:
    players = header["players"]
    _require(
        isinstance(players, list) and len(players) == header["seats"],
        f"expected a player for each of {header['seats']} seats",
    )
    for seat, player in enumerate(players, start=1):
        _check_player(player, f"the player of seat {seat}")


def _check_player(player: Any, who: str) -> None:
    members = PLAYER_MEMBERS | {"fork"} if isinstance(player, dict) and "fork" in player else PLAYER_MEMBERS
    is_player = isinstance(player, dict) and player.keys() == members
    _require(is_player, f"{who} must have just {_list_members(PLAYER_MEMBERS)}")
    named = isinstance(player["bot"], str) and isinstance(player["name"], str)
    _require(named and isinstance(player["version"], str | None), f"{who} has no name")
    if "fork" in player:
        fork = player["fork"]
        is_fork = isinstance(fork, dict) and fork.keys() == FORK_MEMBERS
        _require(is_fork, f"the fork of {who} must have just {_list_members(FORK_MEMBERS)}")
        _require(
            isinstance(fork["match"], str) and _is_count(fork["n"]), f"the fork of {who} names no decision of a match"
        )
        _check_player(fork["before"], f"the player before {who}")


def _check_group(header: Json) -> None:
    group = header["group"]
    is_group = isinstance(group, dict) and group.keys() == GROUP_MEMBERS
    _require(is_group, f"the deal group must have just {_list_members(GROUP_MEMBERS)}")
    _require(isinstance(group["id"], str) and group["id"] != "", "the deal group must have an id")
    is_hash = isinstance(group["commitment"], str) and _HASH.fullmatch(group["commitment"]) is not None
    _require(is_hash, "the commitment must be 64 lower-case hex digits")
    entries = group["entries"]
    are_ids = isinstance(entries, list) and all(isinstance(entry, str) for entry in entries)
    _require(are_ids and len(set(entries)) == len(entries), "entries must be different ids of bots")


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0  # a bool is not a number here


def _list_members(members: frozenset[str] | set[str]) -> str:
    return ", ".join(sorted(members))


def _require(holds: bool, reason: str, row: int = 0) -> None:
    if not holds:
        raise BadLog(row, reason)
