"""Hold the matches that ``referee.play`` has played, count their results, and show them in a terminal or a notebook."""

import html
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, overload

from referee.local.matches import LocalResult
from referee.local.problems import Problems
from referee.local.replay_page import write_page
from referee.match.canonical import Json
from referee.viewer import render_standalone
from referee.viewer.questions import questions

MAX_NAME_LENGTH: Final = 28  # in a table
PAGE_HEIGHT_PX: Final = 640


@dataclass(frozen=True, slots=True)
class PlayerResult:
    """Sum up the matches of one player.

    ``score`` is the share of opponents placed behind the player, ties counting half: 1 if it always came first, ½ if
    all are equal. ``standard_error`` is that of the score, over deals, since matches with the same cards are not
    independent; it is None with fewer than two deals. ``errors`` counts exceptions of a function, ``traceback`` is the
    last one. ``faults`` counts faults by code, and ``fault_detail`` describes the first one of each.
    """

    player: str
    score: float
    standard_error: float | None
    placements: tuple[int, ...]  # by match
    returns: int
    errors: int
    traceback: str
    faults: dict[str, int]
    fault_detail: dict[str, str]

    @property
    def wins(self) -> int:
        """Return the number of first places, including shared ones."""
        return self.placements.count(1)


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """Hold a finished match with its log. A notebook shows it in the viewer."""

    played: LocalResult = field(repr=False)

    @property
    def log(self) -> list[bytes]:
        """Return the lines of the log, which `referee verify` and `referee_extras.sdk.replay` accept."""
        return self.played.lines

    @property
    def players(self) -> list[str]:
        """Return the names of the players, by seat."""
        return [str(player["name"]) for player in self.played.header["players"]]

    @property
    def placements(self) -> list[int]:
        """Return the placements, by seat."""
        return list(self.played.result["placements"])

    @property
    def scores(self) -> list[int]:
        """Return the scores of the game, by seat."""
        return list(self.played.result["scores"])

    def save(self, path: str | Path) -> Path:
        """Write the log to a file or, if the name ends in ``.html``, a page with the viewer, and return the path."""
        path = Path(path)
        if path.suffix == ".html":
            write_page(path, self.log)
        else:
            path.write_bytes(b"".join(line + b"\n" for line in self.log))
        return path

    def __repr__(self) -> str:
        order = sorted(zip(self.placements, self.players, self.scores, strict=True))
        result = ", ".join(f"{place}. {name} ({score})" for place, name, score in order)
        return f"<match {self.played.header['match']}: {result}>"

    def _repr_html_(self) -> str:
        page = render_standalone(self.log, questions=dict(questions(self.log)))
        return (
            f'<iframe title="{html.escape(repr(self))}" srcdoc="{html.escape(page)}" sandbox="allow-scripts" '
            f'width="100%" height="{PAGE_HEIGHT_PX}"></iframe>'
        )


class MatchSeries(Sequence[PlayedMatch]):
    """Hold the matches of one call of ``referee.play``. ``series[0]`` is the first of them."""

    def __init__(
        self, game: str, options: Json, seed: str, names: Sequence[str], played: Sequence[LocalResult]
    ) -> None:
        self.game = game
        self.options = options
        self.seed = seed
        self._names = list(names)
        self._matches = [PlayedMatch(result) for result in played]
        self.results = [self._sum_up(name) for name in self._names]

    def __len__(self) -> int:
        return len(self._matches)

    @overload
    def __getitem__(self, number: int) -> PlayedMatch: ...

    @overload
    def __getitem__(self, number: slice) -> list[PlayedMatch]: ...

    def __getitem__(self, number: int | slice) -> PlayedMatch | list[PlayedMatch]:
        return self._matches[number]

    def save(self, folder: str | Path) -> list[Path]:
        """Write the log of every match to a file in ``folder``, which is created, and return the files."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        return [match.save(folder / f"{match.played.header['match']}.ndjson") for match in self]

    def _sum_up(self, name: str) -> PlayerResult:
        seats = [match.players.index(name) for match in self._matches]
        placements = [match.placements[seat] for match, seat in zip(self._matches, seats, strict=True)]
        shares = [_share(match.placements, seat) for match, seat in zip(self._matches, seats, strict=True)]
        size = len(self._names)
        deals = [statistics.fmean(shares[first : first + size]) for first in range(0, len(shares), size)]
        problems = Problems()
        for match, seat in zip(self._matches, seats, strict=True):
            problems.add(match.played.problems[seat])
        return PlayerResult(
            player=name,
            score=statistics.fmean(shares) if shares else 0.0,
            standard_error=statistics.stdev(deals) / len(deals) ** 0.5 if len(deals) > 1 else None,
            placements=tuple(placements),
            returns=sum(m.played.result["returns"][seat] for m, seat in zip(self._matches, seats, strict=True)),
            errors=problems.errors,
            traceback=problems.last_error[1],
            faults=dict(problems.faults),
            fault_detail={code: detail for code, (_, detail) in problems.first_of_fault.items()},
        )

    # -- output --

    def __repr__(self) -> str:
        rows = [HEADINGS, *map(_cells, self._sort_results())]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
        lines = []
        for name, *figures in rows:
            cells = [cell.rjust(width) for cell, width in zip(figures, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *cells]))
        return "\n".join([self._title(), *lines, *self._remarks()])

    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(row(_cells(result), "td") for result in self._sort_results())
        remarks = "".join(f"<pre>{html.escape(remark)}</pre>" for remark in self._remarks())
        head = f"<caption>{html.escape(self._title())}</caption><thead>{row(HEADINGS, 'th')}</thead>"
        return f"<table>{head}<tbody>{body}</tbody></table>{remarks}"

    def _title(self) -> str:
        many = f"{len(self)} matches" if len(self) != 1 else "1 match"
        return f"{self.game}, {many}, seed {self.seed}"

    def _sort_results(self) -> list[PlayerResult]:
        return sorted(self.results, key=lambda result: (-result.score, result.player))

    def _remarks(self) -> list[str]:
        """Return what went wrong: the last traceback of each function, and the first fault of each code."""
        remarks = []
        for result in self.results:
            if result.errors:
                many = f"{result.errors} times" if result.errors > 1 else "once"
                remarks.append(
                    f"{result.player} raised an exception {many}, and the default action was played instead. "
                    f"The last one:\n{result.traceback}"
                )
            remarks += [
                f"{result.player} had {count} × {code}: {result.fault_detail[code]}"
                for code, count in result.faults.items()
            ]
        return remarks


HEADINGS: Final = ("player", "score", "average place", "wins", "faults", "errors")


def _cells(result: PlayerResult) -> tuple[str, ...]:
    error = "" if result.standard_error is None else f" ± {result.standard_error:.3f}"
    name = result.player if len(result.player) <= MAX_NAME_LENGTH else f"{result.player[: MAX_NAME_LENGTH - 1]}…"
    average = statistics.fmean(result.placements) if result.placements else 0.0
    counts = (str(result.wins), str(sum(result.faults.values())), str(result.errors))
    return name, f"{result.score:.3f}{error}", f"{average:.2f}", *counts


def _share(placements: Sequence[int], seat: int) -> float:
    """Return the share of opponents placed behind ``seat``, ties counting half."""
    others = [placement for other, placement in enumerate(placements) if other != seat]
    own = placements[seat]
    return sum((own < other) + (own == other) / 2 for other in others) / len(others)
