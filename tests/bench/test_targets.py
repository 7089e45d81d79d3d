"""Laws of the table of targets."""

from pathlib import Path

import pytest

from tests.bench import __main__ as everything
from tests.bench import labels, peers
from tests.bench.targets import ROWS, Figure, lines


def test_small_sizes_give_the_rows_of_the_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Figures have the names of rows, and a peer that is not installed has a reason."""
    monkeypatch.setattr(peers, "PEERS", tmp_path)
    figures = labels.main(500)
    assert {*figures} <= {*ROWS}
    assert all(figure.now > 0 for figure in figures.values())
    printed = [*lines(figures, 1.0, {"results": "no captions"})]
    [row] = [line for line in printed if line.startswith("| labels by Dawid-Skene, s")]
    assert "crowd-kit is not installed (`make peers`)" in row
    assert printed[-1].strip() == "results was skipped: no captions."


def test_a_run_ends_with_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each module measures in a process of its own; the table survives one that fails."""
    monkeypatch.setattr(everything, "ARGUMENTS", {"heuristics": (20,), "unknown": ()})
    assert not everything.run_all(["heuristics", "unknown"])
    end = capsys.readouterr().out.partition("## Targets")[2]
    assert "| heuristics, s |" in end
    assert "unknown was skipped: it failed with ModuleNotFoundError" in end


@pytest.mark.parametrize(
    ("name", "now", "met"),
    [
        ("heuristics, s", 3.4, "yes"),
        ("heuristics, s", 3.6, "**no**"),
        ("posting 24 at once, times as fast", 12.1, "yes"),
        ("posting 24 at once, times as fast", 11.9, "**no**"),
        ("report, s", 1.0, ""),
    ],
)
def test_a_row_says_whether_its_target_is_met(name: str, now: float, met: str) -> None:
    """Costs may be lower, rates higher; a row without a target says nothing."""
    [row] = [*lines({name: Figure(now)}, 1.0, {})][4:]
    assert row.split(" | ")[5] == met
