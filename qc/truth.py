"""How accurate each heuristic is: figures measured on labelled work.

`make truth` measures them (`tests/bench/truth/`) and writes `qc/truth.json`; the page
on heuristics shows them. A heuristic without figures was never measured, and its page
says so.
"""

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Kind = Literal["real", "planted", "driven", "rehearsed"]
"""Real work with labels by experts or gold; real texts, some of them exchanged; a real
browser that programs drive; simulated workers, which only show that a heuristic does
what it was written for."""

BY_PEOPLE = frozenset[Kind]({"real", "planted"})
"""Work by real people."""

_NOTHING = "–"  # noqa: RUF001 - an en dash is what a table shows for "no value"

Share = tuple[float, float, float]
"""A share with the bounds of its 95 % interval."""

FILE = Path(__file__).with_name("truth.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One heuristic on one labelled set.

    Attributes:
        set_name: the name of the labelled set.
        unit: what was labelled: answers, assignments or workers.
        bad: how many of them are labelled bad, out of `units`.
        flagged: how many the heuristic flags with its defaults.
        precision: the share of flagged units that are bad; `None` if none is flagged.
        recall: the share of bad units that are flagged; `None` if none is bad.
        honest_flagged: the share of the other units that are flagged.
        auc: how often a bad unit has a greater suspicion than another, counting a tie
            as half; `None` if none is bad.
    """

    set_name: str
    kind: Kind
    unit: str
    units: int
    bad: int
    flagged: int
    precision: Share | None
    recall: Share | None
    honest_flagged: Share
    auc: Share | None


@functools.cache
def measured() -> Mapping[str, tuple[int, tuple[Figures, ...]]]:
    """By name of a heuristic, the version that was measured and its figures."""
    held = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: (entry["version"], tuple(_figures(figures) for figures in entry["figures"]))
        for name, entry in held.items()
    }


def table_of(name: str) -> Iterator[str]:
    """Yield the lines of one heuristic's table in Markdown, or a sentence."""
    if name not in measured():  # a random sample has no truth
        return
    _, figures = measured()[name]
    if not any(row.kind in BY_PEOPLE for row in figures):
        yield (
            "**Never measured** on work by real people: no labelled set contains what it looks at."
        )
        yield ""
    if not figures:
        return
    yield "| measured on | bad | flagged | precision | recall | honest flagged | AUC |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for row in figures:
        yield (
            f"| {row.set_name} | {row.bad:,} of {row.units:,} {row.unit} "
            f"| {row.flagged:,} | {percent(row.precision)} | {percent(row.recall)} "
            f"| {percent(row.honest_flagged)} | {_decimal(row.auc)} |"
        )
    yield ""


def percent(share: Share | None, *, has_interval: bool = True) -> str:
    """A share as a cell of a table, with or without its interval."""
    if share is None:
        return _NOTHING
    middle, low, high = (f"{100 * part:.1f}" for part in share)
    return f"{middle} % ({low} to {high})" if has_interval else f"{middle} %"


def _figures(held: Mapping[str, Any]) -> Figures:
    """Turn JSON's lists into the tuples of shares."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in held.items()
    }
    return Figures(**fields)


def _decimal(share: Share | None) -> str:
    if share is None:
        return _NOTHING
    middle, low, high = (f"{part:.2f}" for part in share)
    return f"{middle} ({low} to {high})"
