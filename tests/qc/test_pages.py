"""The page on heuristics, the files, the registry and the tests agree."""

import subprocess
import sys
from pathlib import Path

import pytest

from piecework.qc.registry import HEURISTICS, Description, describe
from tests.for_each import for_each
from tools.heuristics_page import heuristics_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_committed_page_is_the_generated_one() -> None:
    """`python -m tools.heuristics_page > docs/reference/heuristics.md` writes it."""
    committed = (ROOT / "docs/reference/heuristics.md").read_text(encoding="utf-8")
    assert committed == heuristics_page()


def test_files_registry_and_tests_are_the_same_list() -> None:
    """No heuristic without its file, its place in the tuple and its tests."""
    listed = sorted(heuristic.NAME for heuristic in HEURISTICS)
    files = sorted(
        path.stem for path in (ROOT / "qc" / "heuristics").glob("*.py") if path.stem != "__init__"
    )
    folder = ROOT / "tests" / "qc" / "heuristics"
    tests = sorted(path.stem.removeprefix("test_") for path in folder.glob("test_*.py"))
    assert files == listed
    assert tests == listed


@for_each("each", describe())
def test_every_heuristic_says_idea_naive_reading_and_edge_cases(each: Description) -> None:
    """In this order, under a one-line question; the page shows all of it."""
    titles = [section.split(": ")[0] for section in each.sections]
    assert titles == ["Idea", "Naive reading", "Edge cases"]
    assert "\n" not in each.idea
    assert f"\n## {each.name}\n" in heuristics_page()


@pytest.mark.full
def test_running_the_module_writes_the_page() -> None:
    """The command that the page names does what it says."""
    command = [sys.executable, "-m", "tools.heuristics_page"]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    assert ran.stdout.decode() == heuristics_page()
