"""Each promise has a test in `make test`, and not only in runs that take hours.

A promise is a key of the campaign file (`tests/keys.toml`), a row of SECURITY.md, a
section of the page about faults, a heuristic, a verdict, or a reason for which a worker
cannot accept or submit a HIT. Tests are read and not imported, so this costs a second.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from piecework.domain.verdicts import VERDICTS
from piecework.qc.registry import HEURISTICS
from tests.conftest import in_order, in_week
from tools import campaign_keys_page

ROOT = Path(__file__).resolve().parents[1]
KEYS = ROOT / "tests/keys.toml"
FAULTS = ROOT / "docs/internals/measurements/faults.md"
_NOT_IN_MAKE_TEST = re.compile(r"pytest\.mark\.(full|clients|nightly)\b")
_NAMED = re.compile(r"`((?:tests/)?[\w/]*(?:\btest_\w+\.py|(?<=/)\w*))`")
_REASONS = re.compile(r"Refusal\(\s*\"(\w+)\"")


@dataclass(frozen=True, slots=True)
class Written:
    """A test function as it is written.

    Attributes:
        source: the function with its decorators.
        is_in_make_test: whether some of its cases run there.
    """

    source: str
    is_in_make_test: bool


@cache
def written_in(path: Path) -> dict[str, Written]:
    """The tests of a file, by name."""
    text = path.read_text(encoding="utf-8")
    module, written = ast.parse(text), dict[str, Written]()
    marks = [
        ast.unparse(node.value)
        for node in module.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            all_marks = [*marks, *map(ast.unparse, node.decorator_list)]
            written[node.name] = Written(
                source=ast.unparse(node), is_in_make_test=not any(map(_is_left_out, all_marks))
            )
    return written


def _is_left_out(mark: str) -> bool:
    """Whether a mark leaves out all cases of a test.

    >>> _is_left_out("pytest.mark.full"), _is_left_out("pytest.mark.flow")
    (True, False)
    >>> _is_left_out("pytest.mark.parametrize('a', [1, pytest.param(2, marks=full)])")
    False
    """
    if mark.startswith("pytest.mark.parametrize("):
        return re.search(r", \[\*in_full\([^\[]*\)\]", mark) is not None
    return _NOT_IN_MAKE_TEST.search(mark) is not None


def in_make_test(place: Path) -> dict[str, Written]:
    """The tests of a file or a folder that run in `make test`."""
    if "clients" in place.parts:
        return {}
    files = sorted(place.rglob("test_*.py")) if place.is_dir() else [place]
    return {
        f"{file.name}::{name}": test
        for file in files
        for name, test in written_in(file).items()
        if test.is_in_make_test
    }


def named_in(text: str) -> list[Path]:
    """The files and folders of tests that a text names.

    A name without a folder is in the folder of the one before.

    >>> [path.name for path in named_in("`tests/a/b.py`, `test_c.py`")]
    ['test_c.py']
    """
    places, folder = list[Path](), ROOT / "tests"
    for name in re.findall(r"`([\w/.]+)`", text):
        if name.startswith("tests/"):
            place = ROOT / name
            folder = place if not name.endswith(".py") else place.parent
        elif re.fullmatch(r"test_\w+\.py", name):
            place = folder / name
        else:
            continue
        if place.name.startswith("test_") or not place.suffix:
            places.append(place)
    return places


def keys_of_the_schema() -> set[str]:
    """Every key of the schema with its table, such as `posting.title`."""
    campaign_keys_page.tables(campaign_keys_page.PAGE)
    meanings = tomllib.loads(campaign_keys_page.MEANINGS.read_text(encoding="utf-8"))
    return {
        f"{table}.{key}".removeprefix(".")
        for table, keys in meanings.items()
        for key in keys
        if key != "about"
    }


def _mentions(source: str, key: str) -> bool:
    """Whether a file of tests has a key's name, perhaps at the start of a line."""
    name = key.rpartition(".")[2].strip("<>")
    return re.search(rf"(?:\b|\\n){name}\b", source) is not None


def _tests_by_key() -> dict[str, str]:
    """The test of each key, from `tests/keys.toml`."""
    tables = tomllib.loads(KEYS.read_text(encoding="utf-8"))
    return {
        f"{table}.{key}".removeprefix("."): test
        for table, keys in tables.items()
        for key, test in keys.items()
    }


def test_every_key_of_the_campaign_file_has_a_test_that_sees_what_it_changes() -> None:
    """The list has the schema's keys and no other; each test exists and names its key.

    The named test gives the key a value that is not its default, and looks at what is
    then posted, planned, decided, priced, written or refused.
    """
    by_key, faults = _tests_by_key(), list[str]()
    assert set(by_key) == keys_of_the_schema()
    for key, test in by_key.items():
        file, _, name = test.partition("::")
        path = ROOT / "tests" / file
        if not path.is_file() or name not in written_in(path):
            faults.append(f"{key}: there is no {test}")
        elif not written_in(path)[name].is_in_make_test:
            faults.append(f"{key}: {test} is not in make test")
        elif not _mentions(path.read_text(encoding="utf-8"), key):
            faults.append(f"{key}: {test} does not mention it")
    assert not faults, "\n".join(faults)


def _promises() -> Iterator[tuple[str, str, str]]:
    """Page, promise and the text that names its tests."""
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for promise, tests in re.findall(r"^\| (.+) \| (.+) \|$", page, re.MULTILINE):
        if promise != "protection":
            yield "SECURITY.md", promise, tests
    for section in FAULTS.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        yield FAULTS.name, title, text


def test_every_promise_of_a_page_names_a_test_of_make_test() -> None:
    """Protections and faults: each named file is there, and not all are left out."""
    faults = []
    for page, promise, text in _promises():
        places = named_in(text)
        faults += [f"{page}: {promise!r} names {place}" for place in places if not place.exists()]
        is_elsewhere = "(docs/internals/measurements/faults.md" in text
        if not is_elsewhere and not any(in_make_test(place) for place in places):
            faults.append(f"{page}: {promise!r} has no test in make test")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", sorted(each.NAME for each in HEURISTICS))
def test_every_heuristic_has_tests_in_make_test(name: str) -> None:
    """A file of its own."""
    assert in_make_test(ROOT / f"tests/qc/heuristics/test_{name}.py")


def test_every_verdict_and_every_reason_to_refuse_work_is_in_a_test_of_make_test() -> None:
    """Of policies, and of the marketplace when a worker accepts or submits."""
    workers = ROOT / "src/piecework/marketplace/workers"
    reasons = {
        reason
        for name in ("assignment_actions", "discovery")
        for reason in _REASONS.findall((workers / f"{name}.py").read_text())
    }
    for words, places in (
        ({verdict for kinds in VERDICTS.values() for verdict in kinds}, ("qc", "engine")),
        (reasons, ("marketplace",)),
    ):
        tests = [
            test.source
            for place in places
            for test in in_make_test(ROOT / "tests" / place).values()
        ]
        assert words
        untested = {
            word
            for word in words
            if not any(re.search(rf"['\"]{word}['\"]", source) for source in tests)
        }
        assert not untested


def test_a_case_of_the_largest_suites_is_tested_once_in_as_many_weeks_as_its_mark_says() -> None:
    """`make test-full` takes a share of these cases each week, and all cases of other tests."""
    cases = [("small", 1), *[("large", 4)] * 11, *[("larger", 5)] * 7, ("small", 1)]
    weeks = [in_week(cases, week) for week in range(47, 67)]
    times = [sum(week) for week in zip(*weeks, strict=True)]
    assert times == [20, *[5] * 11, *[4] * 7, 20]
    assert {sum(week[1:12]) for week in weeks} == {2, 3}
    single = [in_week([(f"test {number}", 4) for number in range(200)], week) for week in (1, 2)]
    assert all(30 < sum(week) < 70 for week in single), "one week has its share of single tests"


def test_each_part_of_the_tests_begins_with_its_share_of_the_long_forms() -> None:
    """Only the first begins with others; no test is lost."""
    first, long_forms, others = [*"ab"], [*"MNOPQ"], [*"stuvwxyz"]
    assert "".join(in_order(first, long_forms, others, workers=3)) == "abstuMOQvwNPxyz"
    assert in_order(first, long_forms, others, workers=1) == first + long_forms + others
    assert sorted(in_order(others, long_forms, first, workers=9)) == sorted(
        others + long_forms + first
    )
