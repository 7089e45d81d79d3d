"""Run the tests nearest to what changed: `python -m tools.near [FILE ...]`.

Without files, what changed is what is not committed, or else the last commit. A test
file is as far from a changed module as its imports are: its own change and its import
of the module come first, then imports of what imports the module. After a number of
seconds no further test begins. `make test` has the last word: a change can break what
is far from it.
"""

import ast
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import click
import grimp
import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTS = {ROOT / "tests": ROOT, **{path: path for path in ROOT.glob("packages/*/tests")}}
"""Folders of tests, each with the folder from which their modules are named."""

SOURCES = (ROOT / "src", *ROOT.glob("packages/*/src"))
_PACKAGES = tuple(path.parent.name for root in SOURCES for path in root.glob("*/__init__.py"))
_OURS = {*_PACKAGES, "tests", *(f"{name}_tests" for name in _PACKAGES)}
_UNTIL = "PIECEWORK_NEAR_UNTIL"
_AT_ONCE = "not browser and not flow and not full and not clients"
_MOST_FILES = 24
"""More are not collected in time."""

_LEAST_SECONDS = 5
"""For tests, however long a loaded machine took to collect them."""

_PAGES = ("test_docs.py", "test_plain_english.py", "test_messages.py")
"""Tests that read pages and not modules."""


def changed_files() -> list[str]:
    """Return the changed files, relative to the root, that still exist."""
    diff = ("diff", "--name-only", "HEAD")
    names = [*_git(*diff), *_git("ls-files", "--others", "--exclude-standard")]
    names = names or _git("diff", "--name-only", "HEAD~1", "HEAD")
    return [name for name in names if (ROOT / name).is_file()]


def near_tests(changed: Iterable[str], *, rings: int = 1) -> list[str]:
    """Return test files, the nearest first, relative to the root.

    Args:
        changed: files relative to the root.
        rings: how many imports away a test may be; if none is as near, the nearest.
    """
    own, modules = set[str](), set[str]()
    for name in changed:
        path = ROOT / name
        if (tests := _holder(path, TESTS)) and path.name.startswith("test_"):
            own.add(name)
        elif source := _holder(path, SOURCES):
            modules |= _modules_of(path, source)
        elif path.suffix == ".py" and tests:
            modules.add(_module(path, TESTS[tests]))
        elif path.suffix == ".md":
            own.update(f"tests/{page}" for page in _PAGES)
    near = (
        *sorted(own),
        *_of_the_name(modules),
        *_by_distance(modules, rings=rings),
        *_of_the_room(modules),
    )
    return list(dict.fromkeys(near))


def _holder(path: Path, roots: Iterable[Path]) -> Path | None:
    return next((root for root in roots if path.is_relative_to(root)), None)


def _modules_of(path: Path, source: Path) -> set[str]:
    """Return the module that a file is, or those of the folder that reads it."""
    if path.suffix == ".py" and path.stem != "__init__":
        return {_module(path, source)}
    known = imported_by()
    for folder in path.relative_to(source).parents:
        room = _module(source / folder, source)
        if inside := {name for name in known if name.startswith(f"{room}.")}:
            return inside
    return set()


def _of_the_name(modules: set[str]) -> list[str]:
    """Return tests that are named after a module: they may use it through HTTP."""
    return [
        test
        for test in imports_of_tests()
        if any(
            _room(module) in test and _word(module) in Path(test).stem.split("_")
            for module in modules
        )
    ]


def _of_the_room(modules: set[str]) -> list[str]:
    rooms = {_room(module) for module in modules}
    return [test for test in imports_of_tests() if any(room in test for room in rooms)]


def _room(module: str) -> str:
    """Return the folder of the tests of a module's room.

    >>> _room("piecework.store.ledger"), _room("offline_markets.connect.books")
    ('tests/store/', 'tests/offline_markets_tests/connect/')
    """
    first, second, *_ = module.split(".")
    is_apart = first not in ("piecework", "tests")
    apart = f"{first.removesuffix('_tests')}_tests/" if is_apart else ""
    return f"tests/{apart}{second}/"


def _word(module: str) -> str:
    """Return the last word of a module's name, usually its noun.

    >>> _word("piecework.marketplace.state.worker_limits")
    'limits'
    """
    return module.rpartition(".")[2].rpartition("_")[2]


def _by_distance(modules: set[str], *, rings: int) -> list[str]:
    """Return test files by distance, and within a ring those of fewest imports."""
    importers = imported_by()
    imports = imports_of_tests()
    order: dict[str, None] = {}
    ring, seen = set(modules), set(modules)
    for distance in range(len(importers)):
        near = [test for test, names in imports.items() if names & ring]
        near.sort(key=lambda test: (len(imports[test]), test))
        order |= dict.fromkeys(near)
        around = {name for module in ring for name in importers.get(module, ())}
        ring = around - seen
        seen |= ring
        if not ring or (order and distance >= rings):
            break
    return list(order)


@cache
def imported_by() -> Mapping[str, frozenset[str]]:
    """Return the direct importers of each module of the product and of `tests`."""
    graph = grimp.build_graph(*_PACKAGES, cache_dir=str(ROOT / ".piecework/grimp"))
    importers: dict[str, set[str]] = {
        module: set(graph.find_modules_that_directly_import(module)) for module in graph.modules
    }
    for tests, root in TESTS.items():
        for path in tests.rglob("*.py"):
            if not path.name.startswith("test_"):
                for name in _imports(path, tests):
                    importers.setdefault(name, set()).add(_module(path, root))
    return {module: frozenset(names) for module, names in importers.items()}


@cache
def imports_of_tests() -> Mapping[str, frozenset[str]]:
    """Return the modules that each test file imports, by its path."""
    return {
        str(path.relative_to(ROOT)): _imports(path, tests)
        for tests in TESTS
        for path in sorted(tests.rglob("test_*.py"))
    }


def _imports(path: Path, tests: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            # What is imported from a package may be a module.
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    # Fixtures arrive without an import.
    conftests = [folder / "conftest.py" for folder in path.parents if folder.is_relative_to(tests)]
    names |= {_module(file, TESTS[tests]) for file in conftests if file.is_file()}
    return frozenset(name for name in names if name.split(".")[0] in _OURS)


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _git(*words: str) -> list[str]:
    command = ["git", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


@cache
def _end() -> float:
    """Return when tests no longer begin; the first that asks is the first to run."""
    until = float(os.environ.get(_UNTIL, "inf"))
    return max(until, time.monotonic() + _LEAST_SECONDS)


def pytest_runtest_setup() -> None:
    """Begin no test after the time that `main` sets."""
    if time.monotonic() > _end():
        pytest.skip("the time is over; make test runs it")


@click.command()
@click.argument("files", nargs=-1)
@click.option("--seconds", default=20.0, help="After these, no further test begins.")
def main(files: tuple[str, ...], seconds: float) -> None:
    """Run the tests nearest to FILES, or to what changed."""
    until = str(time.monotonic() + seconds)
    tests = near_tests(files or changed_files())
    if not tests:
        sys.exit("no test is near to what changed; make test runs all")
    words = ["-m", "pytest", "-p", "tools.near", "-q", "-n", "2", "-rfE"]
    words += ["--dist", "load", "--maxschedchunk", "4", "--hypothesis-profile=near"]
    environment = {**os.environ, _UNTIL: until}
    command = [sys.executable, *words, "-m", _AT_ONCE, *tests[:_MOST_FILES]]
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
