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
    "a rehearsal, ms a picture": Row(19.5, target=23.0),
    "a rehearsal, MiB": Row(1453, target=1536),
    "posting 24 at once, times as fast": Row(15.7, target=12, is_least=True),
    "posting, share of a limit of 100 calls a second": Row(0.94, target=0.95, is_least=True),
    "marketplace, signed creates a second": Row(1736, is_least=True),
    "heuristics, s": Row(4.0, target=5.0),
    "cleaning, s": Row(13.0),
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
    "labels by ability, s": Row(1.65, 0.39, 2.0),
    "labels by ability, times as long as by Dawid-Skene": Row(6.0, 0.39, 10.0),
    "labels by Dawid-Skene, s": Row(0.28, 0.39),
    "labels by ability, votes a second": Row(54_400, 0.39, 16_667, is_least=True),
    "Krippendorff's alpha, s": Row(0.17, 0.39),
}
"""By row of the table, the earlier version: the last figures of `docs/internals/measurements`
before this table, and for labels two runs of that version while tests ran beside it."""


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
