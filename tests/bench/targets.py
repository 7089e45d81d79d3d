"""The table that `make bench` ends with: what was measured now, before, and wanted."""

import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

LOOP_STEPS = 20_000_000


class Figure(NamedTuple):
    """What a module measured for a row.

    Attributes:
        peer: another program's figure on the same data, or why it has none.
    """

    now: float
    peer: str = ""


class Row(NamedTuple):
    """What is known of a row before it is measured.

    Attributes:
        earlier: the earlier version's figure, in the largest size that was measured.
        loop: processor seconds of the loop beside it, if it was timed.
        target: at most this; for a rate or a gain at least this.
    """

    earlier: float
    loop: float | None = None
    target: float | None = None
    is_least: bool = False


ROWS: Mapping[str, Row] = {
    "a rehearsal, s": Row(482, target=300),
    "a rehearsal, processor ms a picture": Row(14.2, target=9),
    "a rehearsal, MiB": Row(1771, target=1024),
    "a pass without work, s": Row(2.3, target=0.8),
    "posting 24 at once, times as fast": Row(15.7, target=12, is_least=True),
    "posting, share of a limit of 100 calls a second": Row(0.94, target=0.95, is_least=True),
    "marketplace, signed creates a second, one connection": Row(719, target=1007, is_least=True),
    "marketplace, signed creates a second, 16 connections": Row(1088, target=1523, is_least=True),
    "500 workers without pauses, list, p99 ms": Row(133, target=100),
    "500 workers without pauses, accept, p99 ms": Row(313, target=200),
    "500 workers without pauses, submit, p99 ms": Row(197, target=150),
    "heuristics, s": Row(6.5, target=3.5),
    "heuristics, MiB": Row(643, target=450),
    "judging, batch five times batch one": Row(2.19, target=1.2),
    "cleaning, s": Row(14.1),
    "cleaning 170,000 captions by command, s": Row(33, target=18),
    "cleaning 170,000 captions by command, MiB": Row(960, target=500),
    "files, s": Row(10.6),
    "report, s": Row(4.9),
    "other rules, the policy decides, s": Row(17.0),
    "other rules, people decide, s": Row(41.0),
    "judging in two processes, rows a second": Row(47_619, 0.55, 27_778, is_least=True),
    "judging in two processes, times as fast": Row(1.3, 0.55, 1.6, is_least=True),
    "judging in two processes, MiB": Row(1448, 0.55, 4096),
    "cleaning in two processes, rows a second": Row(6410, 0.55, 2778, is_least=True),
    "cleaning in two processes, times as fast": Row(1.57, 0.55, 1.6, is_least=True),
    "cleaning in two processes, MiB": Row(2281, 0.55, 4096),
    "labels by ability, s": Row(15.5, target=2.0),
    "labels by ability, times as long as by Dawid-Skene": Row(44, target=10.0),
    "labels by Dawid-Skene, s": Row(0.35),
    "labels by ability, votes a second": Row(54_400, 0.39, 16_667, is_least=True),
    "Krippendorff's alpha, s": Row(0.17, 0.39),
}
"""By row of the table, the earlier version. Rows without a loop were measured at once, on two
quiet cores of another machine; the others are older."""


def seconds_of_loop() -> float:
    """Return the processor seconds of a plain loop, which say how fast the machine is now."""
    began, total = time.process_time(), 0
    for number in range(LOOP_STEPS):
        total += number
    return time.process_time() - began


def measured(module: str, *arguments: object) -> tuple[dict[str, Figure], float]:
    """Return a module's figures, and how long the loop took before and after, on average."""
    before = seconds_of_loop()
    main: Callable[..., dict[str, Figure]] = import_module(f"tests.bench.{module}").main
    figures = main(*arguments)
    return figures, (before + seconds_of_loop()) / 2


def lines(figures: Mapping[str, Figure], loop: float, skipped: Mapping[str, str]) -> Iterator[str]:
    """Yield the table.

    Args:
        figures: by row.
        loop: what `seconds_of_loop` returned beside them.
        skipped: by module that was not run, why.
    """
    yield f"A loop of {LOOP_STEPS:,} steps took {loop:.2f} s of the processor."
    yield ""
    yield "| row | now | earlier version | loop, times as long | target | met | peer |"
    yield "|---|---:|---:|---:|---:|---|---|"
    for name, row in ROWS.items():
        if name not in figures:
            continue
        now, peer = figures[name]
        ratio = "" if row.loop is None else f"{loop / row.loop:.2f}"
        sign = "at least" if row.is_least else "at most"
        target = "" if row.target is None else f"{sign} {_shown(row.target)}"
        is_met = row.target is None or (now >= row.target if row.is_least else now <= row.target)
        met = "" if row.target is None else ("yes" if is_met else "**no**")
        cells = [name, _shown(now), _shown(row.earlier), ratio, target, met, peer]
        yield f"| {' | '.join(cells)} |"
    for module, reason in skipped.items():
        yield f"\n{module} was skipped: {reason}."


def _shown(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"
