"""Measures models of labels beside crowd-kit's; `make truth` runs it.

Writes the tables of docs/internals/measurements/labels.md between comments.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.bench.truth.labels.measure import Interval, Outcomes, Resamples, outcomes, write_between
from tests.bench.truth.labels.models import ABILITY, OWN, crowd_kit
from tests.bench.truth.labels.sets import GoldVotes, gold_votes

PAGE = Path("docs/internals/measurements/labels.md")
BEGIN, END = "<!-- labels -->", "<!-- end -->"


def main() -> None:
    """Measure, print and write."""
    lines: list[str] = []
    for gold_set in gold_votes():
        section = [*_section(gold_set)]
        print(*section, sep="\n", flush=True)
        lines += section
    write_between(PAGE, BEGIN, lines, END)


def own_outcomes(gold_set: GoldVotes) -> dict[str, Outcomes]:
    """By name, the outcomes of our own models."""
    values = [*gold_set.labels]
    return {name: outcomes(gold_set, model(gold_set.votes, values)) for name, model in OWN.items()}


def _section(gold_set: GoldVotes) -> Iterator[str]:
    values = [*gold_set.labels]
    peers = crowd_kit(gold_set.votes, values)
    results = own_outcomes(gold_set)
    results |= {name: outcomes(gold_set, table) for name, table in peers.items()}
    votes, gold = gold_set.votes, gold_set.gold
    voted = votes[votes["item_id"].isin(gold.index)]
    yield ""
    yield f"## {gold_set.name[0].upper()}{gold_set.name[1:]}"
    yield ""
    yield (
        f"{len(gold):,} items with known labels, {len(voted):,} votes, "
        f"{voted['worker'].nunique()} workers."
    )
    yield ""
    yield "| model | right | log loss | ECE | labels without a vote |"
    yield "|---|---|---|---|---|"
    for name, result in results.items():
        yield row(name, result)
    yield ""
    yield from _compared(results)


def row(name: str, result: Outcomes) -> str:
    """One row of the table."""
    samples = Resamples(len(result.right))
    cells = [
        shown(samples.mean(result.right)),
        shown(samples.mean(result.loss)),
        shown(samples.calibration(result)),
        f"{result.is_unvoted.mean():.1%}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _compared(results: dict[str, Outcomes]) -> Iterator[str]:
    """How far `ability` is from the best of the others, with paired intervals."""
    own = results[ABILITY]
    others = {name: result for name, result in results.items() if name != ABILITY}
    samples = Resamples(len(own.right))
    right = max(others, key=lambda name: others[name].right.mean())
    loss = min(others, key=lambda name: others[name].loss.mean())
    more = samples.mean(own.right - others[right].right)
    less = samples.mean(own.loss - others[loss].loss)
    yield (
        f"{ABILITY} minus the best other: right {_signed(more)} ({right}), log loss "
        f"{_signed(less)} ({loss})."
    )


def shown(figure: Interval) -> str:
    """Return a figure with its interval."""
    return "{:.3f} ({:.3f} to {:.3f})".format(*figure)


def _signed(figure: Interval) -> str:
    return "{:+.3f} ({:+.3f} to {:+.3f})".format(*figure)


if __name__ == "__main__":
    main()
