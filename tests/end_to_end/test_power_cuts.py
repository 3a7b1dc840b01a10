"""K17: after a power cut no announced result is missing, and every match is played to its end."""

from dataclasses import replace
from pathlib import Path
from random import Random

from tools.chaos.bots import RandomBots
from tools.chaos.power_cuts import HEADER, Rehearsal, run_power_cuts


def test_K17_after_a_power_cut_results_are_kept_and_all_matches_are_played_to_their_ends(tmp_path: Path) -> None:
    with RandomBots(1) as bots:
        broken = run_power_cuts(Rehearsal(bots, Random(1), [], []), tmp_path, 5)

    assert broken == {}


def test_K17_a_log_that_was_not_flushed_loses_what_was_announced(tmp_path: Path) -> None:
    with RandomBots(1) as bots:
        rehearsal = Rehearsal(bots, Random(1), [], [])
        while not any(cut.announced for cut in rehearsal.cuts):
            rehearsal.play_and_cut(tmp_path / str(len(rehearsal.cuts)), len(rehearsal.cuts) + 10)
        last = rehearsal.cuts[-1]

        problems = rehearsal.resume(tmp_path / "cut", replace(last, log=last.log[:HEADER], flushed=HEADER))

    assert any("is lost" in problem for problem in problems)
