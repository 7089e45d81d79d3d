"""Changes the files of `subjects.toml` in small ways and sees whether a test fails.

Cosmic Ray makes the mutants; `make mutants` runs this in an environment of its own. A
copy of the checkout is changed, never the checkout. What survives needs a test, or a
reason in `subjects.toml` why it changes nothing.

All mutants take hours. So without files it tries a sample that ends in ten minutes on
two cores. The week of the year draws it, or a number that is given.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from difflib import unified_diff
from math import inf
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import parso
from cosmic_ray import commands, plugins
from cosmic_ray.mutating import mutate_code, use_mutation
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

from tests.mutants.operators import Node, Provider

ROOT = Path(__file__).resolve().parents[2]
SUBJECTS = Path(__file__).with_name("subjects.toml")
PLACE = ROOT / ".piecework" / "mutants"
_AT_ONCE = 2
_MINUTES = 10
_SAMPLED = 12
"""Mutants of a file in a sample, so that ten minutes reach several files."""
_FIRST_RUN_SECONDS = 60
"""A file begins with a run of its tests without a mutant."""
_PYTEST = [
    *("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"),
    "--hypothesis-profile=any_failure",
]
_OFTEN = 20
_SURVIVED = ": survived:"
_SENSELESS = re.compile(
    "core/ReplaceBinaryOperator_.*_(Pow|RShift|LShift|Mod|FloorDiv|BitXor)"
    "|core/ReplaceBinaryOperator_(Add|Sub|Mul|Div)_(BitOr|BitAnd)"
    "|core/ReplaceComparisonOperator_(Eq|NotEq)_(?!Eq|NotEq).*"
    "|core/ReplaceComparisonOperator_(Is|IsNot)_(?!Is|IsNot).*"
    "|core/ReplaceComparisonOperator_(In|NotIn)_(?!In|NotIn).*"
    "|core/ReplaceComparisonOperator_(Lt|Gt).*_(Is|In|NotIn|IsNot)"
)
"""Operators of Cosmic Ray that write what no person would: `a ** b` for `a - b`, or
`verdict <= "reject"` for `verdict == "reject"`."""


@dataclass(slots=True)
class Outcome:
    """What became of the mutants of a file."""

    path: str
    mutants: int = 0
    killed: int = 0
    timed_out: int = 0
    explained: int = 0
    seconds: float = 0.0


def main() -> int:
    """Try a sample, or every mutant of the named files or of all; 1 if one survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("paths", nargs="*", help="files of subjects.toml, each whole")
    parser.add_argument("--all", action="store_true", help="all files, each whole")
    parser.add_argument(
        "--seed", type=int, help="draws the sample; by default the week of the year"
    )
    parser.add_argument(
        "--go-on",
        action="store_true",
        help="try what was not tried yet, and once more what survived; the file is as it was",
    )
    options = parser.parse_args()
    subjects = tomllib.loads(SUBJECTS.read_text())["file"]
    unknown = set(options.paths) - {subject["path"] for subject in subjects}
    if unknown:
        parser.error(f"not in {SUBJECTS}: {', '.join(sorted(unknown))}")
    plugins.OPERATOR_PROVIDERS["piecework"] = Provider()
    PLACE.mkdir(parents=True, exist_ok=True)
    if options.paths or options.all:
        chosen = [
            subject for subject in subjects if not options.paths or subject["path"] in options.paths
        ]
        return _run(chosen, copy=0, goes_on=options.go_on)
    seed = options.seed
    if seed is None:
        seed = date.today().isocalendar().week  # noqa: DTZ011 - only a draw
    print(f"a sample drawn with --seed {seed}", flush=True)
    Random(seed).shuffle(subjects)  # noqa: S311 - no secret
    until = time.monotonic() + _MINUTES * 60
    with ProcessPoolExecutor(_AT_ONCE, mp_context=get_context("fork")) as pool:
        ends = [
            pool.submit(_run, subjects[n::_AT_ONCE], copy=n, seed=seed, until=until)
            for n in range(_AT_ONCE)
        ]
        return max(end.result() for end in ends)


def _run(
    subjects: list[dict[str, Any]],
    *,
    copy: int,
    goes_on: bool = False,
    seed: int | None = None,
    until: float = inf,
) -> int:
    """Try mutants of these files in a copy of the checkout; 1 if one survives.

    Args:
        subjects: tables of `subjects.toml`.
        copy: the number of the copy; another process has another one.
        goes_on: try only what was not tried yet, and what survived.
        seed: draws a sample; `None`: all mutants.
        until: when to begin no more, as `time.monotonic` counts.
    """
    plugins.OPERATOR_PROVIDERS["piecework"] = Provider()
    place = PLACE / f"checkout-{copy}"
    _copy_checkout(place)
    os.chdir(place)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(place / "src"), str(place)])
    outcomes, faults = [], 0
    # At its end, pytest removes old folders, also those that other runs have left.
    with TemporaryDirectory(prefix="mutants-") as temporary:
        # A PostgreSQL server of root's tests runs as another user, with its files in here.
        Path(temporary).chmod(0o711)
        os.environ["TMPDIR"] = temporary
        for subject in subjects:
            if time.monotonic() >= until - _FIRST_RUN_SECONDS:
                break
            outcome, complaints = _try(subject, goes_on=goes_on, seed=seed, until=until)
            outcomes.append(outcome)
            faults += len(complaints)
            print("\n\n".join(complaints), flush=True)
    _print_table(outcomes)
    return 1 if faults else 0


def _copy_checkout(place: Path) -> None:
    """What git knows or would add; tests and mutants run there."""
    shutil.rmtree(place, ignore_errors=True)
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_symlink() or (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name, follow_symlinks=False)


def _try(
    subject: dict[str, Any], *, goes_on: bool, seed: int | None, until: float
) -> tuple[Outcome, list[str]]:
    """Mutants of a file, one by one; what became of them, and what is wrong."""
    path = subject["path"]
    begun = time.monotonic()
    session = PLACE / (path.replace("/", ".") + ".sqlite")
    with _tests(path, subject["tests"]) as run, use_db(str(session)) as work:
        if not goes_on:
            commands.init([Path(path)], work, {})
            _skip_others(work, Path(path).read_text())
        survivors = [
            item
            for item, result in work.completed_work_items
            if result.test_outcome == TestOutcome.SURVIVED
        ]
        items = [*survivors, *work.pending_work_items]
        if seed is not None:
            items = Random(f"{seed} {path}").sample(items, min(_SAMPLED, len(items)))  # noqa: S311 - no secret
        for number, item in enumerate(items, 1):
            if time.monotonic() >= until:
                break
            work.set_result(item.job_id, _result(item, run))
            if number % _OFTEN == 0:
                print(f"{path}: {number} of {len(items)}", flush=True)
        results = [result for _, result in work.results if result.test_outcome]
    outcome = Outcome(path, mutants=len(results), seconds=time.monotonic() - begun)
    outcome.killed = sum(result.is_killed for result in results)
    outcome.timed_out = sum(result.output == "time" for result in results)
    complaints = _unexplained(subject, outcome, results)
    # A sample says nothing about reasons whose mutant is not in it.
    return outcome, complaints if seed is None else _survivors(complaints)


def _survivors(complaints: list[str]) -> list[str]:
    return [complaint for complaint in complaints if _SURVIVED in complaint]


@contextmanager
def _tests(path: str, tests: list[str]) -> Iterator[Callable[[], str]]:
    """Runs a file's tests; gives the exit code of pytest, or "time".

    Raises:
        SystemExit: they fail without any mutant.
    """
    words = [f"{ROOT}/.venv/bin/python", "tests/mutants/warm_tests.py", path]
    with (
        Path("mutants.txt").open("w") as output,
        subprocess.Popen(
            [*words, *_PYTEST, *tests],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
        ) as warm,
    ):

        def run() -> str:
            assert warm.stdin
            assert warm.stdout
            warm.stdin.write("\n")
            warm.stdin.flush()
            return warm.stdout.readline().strip()

        if run() != "0":
            log = Path(output.name).resolve()
            sys.exit(f"{path}: its tests fail without any mutant, see {log}")
        yield run


def _result(item: WorkItem, run: Callable[[], str]) -> WorkResult:
    (mutation,) = item.mutations
    operator = plugins.get_operator(mutation.operator_name)()
    with use_mutation(mutation.module_path, operator, mutation.occurrence) as (was, now):
        code = run()
    return WorkResult(
        worker_outcome=WorkerOutcome.NORMAL,
        test_outcome=TestOutcome.SURVIVED if code == "0" else TestOutcome.KILLED,
        output=code,
        diff="\n".join(unified_diff(was.splitlines(), now.splitlines(), lineterm="")),
    )


def _skip_others(work: WorkDB, source: str) -> None:
    """Leave mutants that are programs, each once.

    Annotations, decorators' arguments and the `*` of parameters are the type checker's.
    """
    module, seen = parso.parse(source), {ast.dump(ast.parse(source))}
    for item in work.work_items:
        (mutation,) = item.mutations
        operator = plugins.get_operator(mutation.operator_name)()
        leaf = module.get_leaf_for_position(mutation.start_pos)
        is_left_out = _SENSELESS.fullmatch(mutation.operator_name) or (
            mutation.operator_name != "core/RemoveDecorator" and _is_type_checked(leaf)
        )
        program = _program(mutate_code(source, operator, mutation.occurrence))
        if is_left_out or program in seen | {""}:
            skipped = WorkResult(worker_outcome=WorkerOutcome.SKIPPED)
            work.set_result(item.job_id, skipped)
        else:
            seen.add(program)


def _program(source: str) -> str:
    """What a text means to Python, whatever its layout; "" if it means nothing."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return ""


def _is_type_checked(leaf: Node) -> bool:
    inner, outer = leaf, leaf.parent
    while outer is not None:
        place = outer.children.index(inner)
        sign = getattr(outer.children[place - 1], "value", "") if place else ""
        if outer.type == "decorator" or (outer.type == "funcdef" and sign == "->"):
            return True
        if outer.type in {"tfpdef", "annassign"} and sign == ":":
            return True
        if outer.type == "parameters" and inner is leaf:
            return True
        inner, outer = outer, outer.parent
    return False


def _unexplained(subject: dict[str, Any], outcome: Outcome, results: list[WorkResult]) -> list[str]:
    """Survivors without a reason, and reasons without a survivor."""
    reasons = Counter(
        {(_plain(it["was"]), _plain(it["now"])): 0 for it in subject.get("equivalent", [])}
    )
    complaints = []
    for result in results:
        if result.is_killed:
            continue
        change = _change(result.diff or "")
        if change in reasons:
            reasons[change] += 1
            outcome.explained += 1
        else:
            complaints.append(f"{subject['path']}{_SURVIVED}\n{result.diff}")
    complaints += [
        f"{subject['path']}: no mutant survives that a reason is given for:\n- {was}\n+ {now}"
        for (was, now), number in reasons.items()
        if not number
    ]
    return complaints


def _change(diff: str) -> tuple[str, str]:
    lines = [line for line in diff.splitlines() if line[:3] not in {"---", "+++"}]
    was, now = ("\n".join(line[1:] for line in lines if line[:1] == sign) for sign in "-+")
    return _plain(was), _plain(now)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _print_table(outcomes: list[Outcome]) -> None:
    print("| file | mutants | killed | of these by time | survived | explained | s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    total = Outcome("all")
    for outcome in [*outcomes, total]:
        print(
            f"| `{outcome.path}` | {outcome.mutants} | {outcome.killed} | "
            f"{outcome.timed_out} | {outcome.mutants - outcome.killed} | "
            f"{outcome.explained} | {outcome.seconds:.0f} |"
        )
        if outcome is not total:
            for field in ("mutants", "killed", "timed_out", "explained", "seconds"):
                setattr(total, field, getattr(total, field) + getattr(outcome, field))


if __name__ == "__main__":
    sys.exit(main())
