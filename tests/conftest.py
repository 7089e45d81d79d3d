"""What all tests share: patience (a slow machine is no fault), and one Chromium."""

import gc
import os
import shutil
import sys
import zlib
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest
from _pytest.mark import ParameterSet
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import HealthCheck, Phase, settings
from playwright.sync_api import Browser, expect, sync_playwright

from tests.postgres_server import installed_initdb, running_postgres
from tests.read_once import read_once
from tests.stores import url_of

read_once()
expect.set_options(timeout=15_000)
# Five seconds, httpx's default, are no promise of ours: a loaded machine takes longer.
DEFAULT_TIMEOUT_CONFIG.read = DEFAULT_TIMEOUT_CONFIG.connect = 60.0

# For `make test-full`: as many examples of each law as Hypothesis thinks right.
settings.register_profile("thorough", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("patient", settings.get_profile("thorough"), max_examples=15)
# A landing must not depend on luck; new examples are looked for on people's machines.
settings.register_profile("repeatable", settings.get_profile("patient"), derandomize=True)
# For `make mutants`, to which any example that fails says enough.
settings.register_profile(
    "any_failure", settings.get_profile("repeatable"), phases=[Phase.explicit, Phase.generate]
)
# For `make near`, which looks for what broke.
settings.register_profile("near", settings.get_profile("patient"), max_examples=10)
settings.load_profile("repeatable" if os.environ.get("CI") else "patient")

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def installed_chromium() -> str | None:
    """Path of Debian's headless shell, else of its whole chromium, else None."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the number of a week, whose share of the largest suites is tested."""
    sentence = "of tests marked full(weeks=N), only this week's: all of them in N weeks"
    parser.addoption("--week", type=int, metavar="NUMBER", help=sentence)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name a failure at once: a long run that is cut off prints no summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED {report.nodeid} ({report.when})", file=sys.__stderr__, flush=True)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the week, so that its tests can be repeated."""
    if (week := config.getoption("--week")) is not None:
        terminalreporter.write_line(f"of the largest suites, the cases of --week {week}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave a week's share, and begin with the longest and with those that share a server.

    Workers of xdist begin with tests that follow each other: one of them starts the server
    of Prefect.
    """
    if (week := config.getoption("--week")) is not None:
        are_tested = in_week([_case(item) for item in items], week)
        left_out = [
            item for item, is_tested in zip(items, are_tested, strict=True) if not is_tested
        ]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item, is_tested in zip(items, are_tested, strict=True) if is_tested]
    parts = [list[pytest.Item](), list[pytest.Item](), list[pytest.Item]()]
    for item in items:
        if item.get_closest_marker("early") or "prefect_server" in getattr(
            item, "fixturenames", ()
        ):
            parts[0].append(item)
        else:
            parts[1 if item.get_closest_marker("full") else 2].append(item)
    items[:] = in_order(*parts, workers=int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def in_order(first: list[T], long_forms: list[T], others: list[T], *, workers: int) -> list[T]:
    """Return tests in an order in which none that takes minutes begins near the end.

    A worker of xdist first gets an equal part of all tests. The first part begins with
    `first`, and each other part with its share of the long forms.
    """
    shares = [long_forms[n :: workers - 1] for n in range(workers - 1)]
    begins = [first, *shares] if shares else [first + long_forms]
    total = len(first) + len(long_forms) + len(others)
    ordered: list[T] = []
    left = iter(others)
    for number, begin in enumerate(begins, start=1):
        ordered += begin
        ordered += islice(left, max(0, total * number // workers - len(ordered)))
    return [*ordered, *left]


def _case(item: pytest.Item) -> tuple[str, int]:
    mark = item.get_closest_marker("full")
    return item.nodeid.partition("[")[0], mark.kwargs.get("weeks", 1) if mark else 1


def in_week(cases: Sequence[tuple[str, int]], week: int) -> list[bool]:
    """Return whether each case is tested in a week.

    Args:
        cases: the test of each, and in how many weeks all cases of it are tested.
        week: its number.
    """
    # Each test begins at a place of its own, so that not all of them fall into one week.
    are_tested, places = [], {test: zlib.crc32(test.encode()) for test, _ in cases}
    for test, weeks in cases:
        are_tested.append((places[test] + week) % weeks == 0)
        places[test] += weeks > 1
    return are_tested


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from looking at a million collected objects, then and later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)


def absent(program: str, sentence: str) -> NoReturn:
    """Skip a test for want of a program; fail where it must be there.

    Args:
        program: its name in the environment variable `PIECEWORK_NEEDS`, a list.
        sentence: what is missing, and what installs it.
    """
    if program in os.environ.get("PIECEWORK_NEEDS", "").split():
        pytest.fail(f"{sentence}, and PIECEWORK_NEEDS lists {program}")
    pytest.skip(sentence)


def in_full(*cases: object, weeks: int = 1) -> list[ParameterSet]:
    """Cases of a parametrized test for `make test-full` alone.

    A case with several values is a tuple, as elsewhere.

    Args:
        cases: the values, or tuples of values.
        weeks: how many weeks it takes until each was tested.
    """
    mark = pytest.mark.full(weeks=weeks)
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=mark) for case in cases
    ]


@pytest.fixture(scope="session", autouse=True)
def _trusts_nothing_yet(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The list of trusted campaigns is the tests' own, not that of who runs them."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium without a window, for all tests of a process.

    One and not one a file: two of Playwright's synchronous kind cannot live together.
    """
    chromium = installed_chromium()
    if chromium is None:
        absent("chromium", "chromium is not installed (tests/need_chromium.sh installs it)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def store_url(request: pytest.FixtureRequest) -> str:
    """The URL for a kind of store (`tests.stores.KINDS`); "" for a file."""
    return url_of(request)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a database of PostgreSQL, for all tests of a process."""
    initdb = installed_initdb()
    if initdb is None:
        absent("postgresql", "PostgreSQL is not installed")
    with running_postgres(initdb) as url:
        yield url
