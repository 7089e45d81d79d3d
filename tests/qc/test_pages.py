"""The page on heuristics, the files, the registry and the tests agree."""

import subprocess
import sys
from pathlib import Path

import pytest

from piecework.qc.registry import HEURISTICS, Description, describe_heuristics
from tests.for_each import for_each
from tools.heuristics_page import MEASURED_PAGE, PAGE, heuristics_page, measured_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_committed_pages_are_the_generated_ones() -> None:
    """`python -m tools.heuristics_page` writes them."""
    assert PAGE.read_text(encoding="utf-8") == heuristics_page()
    assert MEASURED_PAGE.read_text(encoding="utf-8") == measured_page()


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


@for_each("each", describe_heuristics())
def test_every_heuristic_says_when_it_is_silent_and_what_a_naive_reading_misses(
    each: Description,
) -> None:
    """In this order, under a one-line question; the two pages show all of it."""
    titles = [section.split(": ")[0] for section in each.sections]
    assert titles == ["Idea", "Silent", "Naive reading", "Edge cases"]
    assert "\n" not in each.idea
    for page in (heuristics_page(), measured_page()):
        assert f"\n## {each.name}\n" in page


def test_the_page_for_requesters_is_short() -> None:
    """One reads it before the first campaign; figures go to the page for developers."""
    assert len(heuristics_page().split()) < 4300


@pytest.mark.full
def test_running_the_module_writes_the_pages() -> None:
    """The command that the page names does what it says."""
    before = PAGE.read_text(encoding="utf-8")
    PAGE.write_text("", encoding="utf-8")
    try:
        subprocess.run([sys.executable, "-m", "tools.heuristics_page"], cwd=ROOT, check=True)
        assert PAGE.read_text(encoding="utf-8") == heuristics_page()
    finally:
        PAGE.write_text(before, encoding="utf-8")
