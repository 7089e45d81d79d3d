"""How many answers labels of models save; `make truth-machine` runs it.

It replays votes in twenty orders and writes the tables of
docs/internals/measurements/labels-of-models.md between comments. `--set WORD` replays only the
sets with this word in their names.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from piecework.domain.campaign import AsNeeded
from piecework.domain.text import plural
from tests.bench.truth.machine.figures import Interval, at_equal_accuracy, difference
from tests.bench.truth.machine.known import known_rule
from tests.bench.truth.machine.models import agreement, classifiers, planted_models
from tests.bench.truth.machine.replay import Outcome, replay
from tests.bench.truth.machine.sets import ReplayedSet, replayed_sets

PAGE = Path("docs/internals/measurements/labels-of-models.md")

ORDERS, PROCESSES = 20, 2
UNTIL = 0.9

KNOWN = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98, 0.99)
BOUND = "planted, 0.8"
PEOPLE = "people alone"

Key = tuple[str, float]


def main() -> None:
    """Replay, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="")
    parser.add_argument("--orders", type=int, default=ORDERS)
    asked = parser.parse_args()
    for place, kept in enumerate(replayed_sets()):
        if asked.set in kept.name:
            pairs = [(place, order) for order in range(asked.orders)]
            with get_context("fork").Pool(PROCESSES) as pool:
                replays = pool.starmap(outcomes_of, pairs, chunksize=1)
            write(place, replays)


def outcomes_of(place: int, order: int) -> dict[Key, Outcome]:
    """By model and `until`, the outcome of each replay of a set in this order."""
    kept, trained = _prepared(place)
    draw = kept.draw(order)
    models = {**trained, **planted_models(kept, draw, order)}
    outcomes: dict[Key, Outcome] = {}
    for name, machine in {PEOPLE: None, **models}.items():
        for until in kept.untils if name != PEOPLE else (UNTIL,):
            rule = AsNeeded(most=kept.most, until=until)
            outcomes[name, until] = replay(draw.votes, draw.gold, kept.values, rule, machine)
    for name, table in {PEOPLE: None, BOUND: models[BOUND]}.items():
        ends = known_rule(draw.votes, draw.gold, kept.values, kept.most, table, KNOWN)
        outcomes |= {(f"known, {name}", until): end for until, end in zip(KNOWN, ends, strict=True)}
    return outcomes


@cache
def _prepared(place: int) -> tuple[ReplayedSet, dict[str, pd.DataFrame]]:
    kept = replayed_sets()[place]
    return kept, classifiers(kept)


def write(place: int, replays: Sequence[dict[Key, Outcome]]) -> None:
    """Print the section of a set, from its replays, and write it into the page."""
    kept, _ = _prepared(place)
    section = "\n".join(_section(kept, place, replays))
    print(section, flush=True)
    begin, end = f"<!-- machine {place} -->", f"<!-- end {place} -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    PAGE.write_text(f"{before}{begin}\n{section}\n{end}{after}", encoding="utf-8")


def _means(replays: Sequence[dict[Key, Outcome]]) -> dict[str, dict[float, Outcome]]:
    """By model and `until`, means over all orders, by item."""
    means: dict[str, dict[float, Outcome]] = {}
    for name, until in replays[0]:
        asked, right = np.mean([of[name, until] for of in replays], axis=0)
        means.setdefault(name, {})[until] = (asked, right)
    return means


def _section(kept: ReplayedSet, place: int, replays: Sequence[dict[Key, Outcome]]) -> Iterator[str]:
    means = _means(replays)
    asked, right = people = means[PEOPLE][UNTIL]
    draw = kept.draw(0)
    agreements = {name: agreement(table, draw.gold) for name, table in _prepared(place)[1].items()}
    yield ""
    yield f"### {kept.name[0].upper()}{kept.name[1:]}"
    yield ""
    yield (
        f"{len(asked):,} items, {plural(len(replays), 'order')}. People alone: "
        f"{asked.mean():.2f} votes an item, right {right.mean():.3f}."
    )
    yield ""
    yield (
        "| model | right at the same `until` | `until` chosen | votes an item | saved "
        "| right more often |"
    )
    yield "|---|---|---|---|---|---|"
    for name, outcomes in means.items():
        if name == PEOPLE or name.startswith("known"):
            continue
        saving = at_equal_accuracy(people, outcomes)
        gap = difference(outcomes[UNTIL][1], right)
        own = f" (right {agreements[name]:.3f})" if name in agreements else ""
        yield (
            f"| {name}{own} | {_signed(gap)} | {saving.until:.2f} | {saving.asked:.2f} "
            f"| {_percent(saving.saved)} | {_signed(saving.more_right)} |"
        )
    yield ""
    for name in (PEOPLE, BOUND):
        saving = at_equal_accuracy(people, means[f"known, {name}"])
        yield (
            f"A rule that knows every voter's accuracy, {name}: {saving.asked:.2f} "
            f"votes an item, saved {_percent(saving.saved)}, right "
            f"{_signed(saving.more_right)} more often."
        )
        yield ""


def _percent(figure: Interval) -> str:
    return "{:.0%} ({:.0%} to {:.0%})".format(*figure)


def _signed(figure: Interval) -> str:
    return "{:+.3f} ({:+.3f} to {:+.3f})".format(*figure)


if __name__ == "__main__":
    main()
