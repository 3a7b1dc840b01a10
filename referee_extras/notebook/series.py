"""Hold the matches that ``play`` has played, count their results, and show them in a terminal or a notebook."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, overload

from referee.local.matches import LocalResult
from referee.local.replay_page import write_page
from referee.local.results import PlayerResults, tabulate
from referee.match.canonical import Json
from referee.viewer import render_standalone
from referee.viewer.questions import questions

MAX_NAME_LENGTH: Final = 26  # in a table
PAGE_HEIGHT_PX: Final = 640


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
        return self.played.names

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
    """Hold the matches of one call of ``play``. ``series[0]`` is the first of them."""

    def __init__(
        self, game: str, options: Json, seed: str, names: Sequence[str], played: Sequence[LocalResult]
    ) -> None:
        self.game = game
        self.options = options
        self.seed = seed
        self._matches = [PlayedMatch(result) for result in played]
        self._results = PlayerResults(names)
        for result in played:
            self._results.add_played(result)
        self.results = list(self._results.players.values())

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

    # -- output --

    def __repr__(self) -> str:
        rows = [[_shorten(name), *cells] for name, *cells in tabulate(self._results.rank())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]) for name, *cells in rows]
        return "\n".join([self._title(), *lines, *self._remarks()])

    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        headings, *rows = tabulate(self._results.rank())
        body = "".join(row(cells, "td") for cells in rows)
        remarks = "".join(f"<pre>{html.escape(remark)}</pre>" for remark in self._remarks())
        head = f"<caption>{html.escape(self._title())}</caption><thead>{row(headings, 'th')}</thead>"
        return f"<table>{head}<tbody>{body}</tbody></table>{remarks}"

    def _title(self) -> str:
        many = f"{len(self)} matches" if len(self) != 1 else "1 match"
        return f"{self.game}, {many}, seed {self.seed}"

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


def _shorten(name: str) -> str:
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"
