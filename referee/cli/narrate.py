"""Narrate a match from the events in its log, without applying the rules of its game.

The presentation of a game has the sentences for its events; an event without a sentence is shown with its members.
"""

from collections.abc import Iterator, Sequence

from referee.match.canonical import Json
from referee.viewer.presentation import presentation
from referee.viewer.sentences import Sentences, describe_event


def narrate_match(rows: Sequence[Json]) -> Iterator[str]:
    """Yield lines of text that narrate the match with these log rows."""
    header = rows[0]
    names = [player["name"] for player in header["players"]]
    yield f"{header['game']}, match {header['match']}, rules version {header['rules_version']}"
    for seat, name in enumerate(names):
        yield f"  seat {seat + 1}: {name}"
    if header.get("options"):
        yield "  options: " + ", ".join(f"{name} {value}" for name, value in header["options"].items())
    sentences = Sentences(presentation(header["game"]), lambda seat: _name(seat, names))
    for row in rows[1:]:
        yield from _narrate_decision(row, names)
        for event in row.get("events", []):
            yield from _narrate_event(event, sentences, names)
        if row["type"] == "result":
            yield from _narrate_result(row, names)


def _narrate_event(event: Json, sentences: Sentences, names: Sequence[str]) -> Iterator[str]:
    text = sentences.text(event)
    if text is None:
        text = describe_event(event, lambda seat: _name(seat, names))
    if text:
        yield text if sentences.round_title(event) else f"  {text}"
    yield from (f"    {line}" for line in sentences.detail(event).split("\n") if line)


def _narrate_decision(row: Json, names: Sequence[str]) -> Iterator[str]:
    """Yield lines for facts that events do not contain: why a default action was played, and the note of the bot."""
    if row["type"] != "decision":
        return
    name = names[row["seat"]]
    if "fault" in row:
        yield f"  ! {name}: {row['fault']}; the default is played"
    if row.get("retired"):
        yield f"  ! {name} is retired; the default is played"
    if row.get("note"):
        yield f"  {name} remarks: {row['note']}"


def _narrate_result(row: Json, names: Sequence[str]) -> Iterator[str]:
    yield "Result"
    for seat in sorted(range(len(names)), key=lambda seat: (row["placements"][seat], seat)):
        count = row["faults"][seat]
        faults = f", {count} fault{'' if count == 1 else 's'}" if count else ""
        yield f"  {row['placements'][seat]}. {names[seat]}, score {row['scores'][seat]}{faults}"


def _name(seat: int, names: Sequence[str]) -> str:
    return names[seat] if 0 <= seat < len(names) else f"seat {seat + 1}"
