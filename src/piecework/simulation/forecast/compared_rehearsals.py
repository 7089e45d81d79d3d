"""Two rehearsals of a campaign beside each other: what differs, and what that did.

One rehearsal of each is one draw of chance. With more seeds, both are rehearsed again
with the same simulated workers, so that the difference of each pair of rehearsals is that
of the files, and their range shows what chance does to it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path

from piecework.campaign.assembling import load_with_results
from piecework.campaign.rehearsal_folders import (
    Begun,
    at_number,
    below,
    latest_rehearsal,
    made_from,
    numbers,
)
from piecework.config.campaign_file import CampaignFile, parse
from piecework.config.changed_keys import differences
from piecework.domain.errors import ConfigError, PieceworkError
from piecework.domain.inputs import Difference
from piecework.domain.text import NOTHING, one_line, plural, shell_word
from piecework.engine.opening import open_to_look
from piecework.engine.progress import read_progress
from piecework.report.components import Column, Note, Section, Table, number, table, text
from piecework.report.forecast import (
    Estimate,
    Forecast,
    Row,
    changed_figures,
    covered,
    difference_and_range,
    forecast_columns,
    forecast_figures,
    mean_and_range,
)
from piecework.report.page import SectionsPage
from piecework.simulation.forecast.choices import Choice, Outcome, outcome_of, summarised
from piecework.simulation.forecast.forecasts import forecast

_NAMED, _SHOWN = 8, 60
"""Changed keys that a line names, and characters of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalsCompared:
    """Two rehearsals, what differs, and their figures.

    Attributes:
        numbers: the two numbers, in the order in which they were named.
        differences: the keys and files that differ.
        figures: both rehearsals as the rows of a forecast.
        change: by figure, the second rehearsal's value minus the first's, over the same
            seeds.
    """

    numbers: tuple[int, int]
    differences: tuple[Difference, ...]
    figures: Forecast
    change: Mapping[str, Estimate]

    def as_dict(self) -> dict[str, object]:
        """Return plain values for `--json`; a figure that was not counted is null."""
        rows = {row.name: row.estimates for row in self.figures.rows} | {"change": self.change}
        return {
            "campaign": self.figures.campaign,
            "currency": self.figures.currency,
            "rehearsals": list(self.numbers),
            "differences": [asdict(each) for each in self.differences],
            "seeds": self.figures.seeds,
            "figures": {
                name: {figure: _plain(each) for figure, each in estimates.items()}
                for name, estimates in rows.items()
            },
        }


def compare_rehearsals(
    path: Path,
    wanted: tuple[int, int] | None = None,
    *,
    seeds: int = 1,
    processes: int | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> RehearsalsCompared:
    """Compare two rehearsals of a campaign.

    Args:
        path: the campaign file.
        wanted: the numbers of the two; without them, the latest and the one before.
        seeds: how many rehearsals of each to compare, starting with the first one's seed;
            1 makes none and reads the two that there are.
        processes: how many rehearsals run at once; by default one per core.
        on_progress: called with the number of finished rehearsals and the total.

    Raises:
        ConfigError: there are no two rehearsals, or one of them is not finished.
    """
    file = parse(path)
    pair = wanted or _last_two(file)
    first, second = (at_number(file, each) for each in pair)
    if first.tables.currency != second.tables.currency:
        raise ConfigError(
            [f"rehearsals {pair[0]} and {pair[1]} are in different currencies"],
            next_step=f"piecework compare {shell_word(path)} --rehearsals N M",
        )
    if seeds == 1:
        outcomes = [[_outcome(path, each)] for each in pair]
    else:
        on_progress(0, 2 * seeds)
        outcomes = forecast(
            [(first, Choice()), (second, Choice())],
            seeds=seeds,
            processes=processes,
            done=lambda done: on_progress(done, 2 * seeds),
        )
    before, now = made_from(file, pair[0]), made_from(file, pair[1])
    differing = differences(before.inputs, now.inputs) if before and now else ()
    return RehearsalsCompared(
        numbers=pair,
        differences=differing,
        figures=Forecast(
            campaign=second.tables.name,
            currency=second.tables.currency,
            seeds=seeds,
            rows=[
                Row(f"rehearsal {each}", summarised(own))
                for each, own in zip(pair, outcomes, strict=True)
            ],
            assumptions=(),
        ),
        change=summarised([_minus(*each) for each in zip(*outcomes, strict=True)]),
    )


def change_lines(path: Path, begun: Begun) -> Iterator[str]:
    """Say what has changed since the rehearsal before, and what the figures were and are.

    Args:
        path: the campaign file.
        begun: a finished rehearsal with changes.
    """
    assert begun.before is not None  # noqa: S101 - something has changed since it
    pair = (begun.before, begun.number)
    changes = ", ".join(one_line(each, at_most=_SHOWN) for each in begun.changes[:_NAMED])
    more = len(begun.changes) - _NAMED
    yield f"Changed since {begun.before}: {changes}" + (f" and {more} more" if more > 0 else "")
    which = "" if pair == _last_two(parse(path)) else f" --rehearsals {pair[0]} {pair[1]}"
    try:
        yield from changed_figures(compare_rehearsals(path, pair).figures)
    except PieceworkError as fault:
        # An unfinished one, or one of an older version, has no figures to show.
        yield f"  no figures of {begun.before}: {fault}"
        return
    yield f"next: piecework compare {shell_word(path)}{which} (with --seeds 10: what chance does)"


def comparison_page(compared: RehearsalsCompared) -> SectionsPage:
    """Build the page, the same in a terminal and as HTML."""
    first, second = compared.numbers
    return SectionsPage(
        source=f"{compared.figures.campaign}: rehearsal {second} beside rehearsal {first}",
        kicker="Rehearsals compared",
        purpose="The same campaign before and after a change of its files, on simulated workers.",
        key_figures=(),
        notes=tuple(_notes(compared)),
        sections=(
            *([_differing(compared)] if compared.differences else ()),
            Section(
                key="figures",
                title="What it costs and yields",
                tables=(_figures(compared),),
                figures=() if compared.figures.seeds == 1 else forecast_figures(compared.figures),
            ),
        ),
    )


def _last_two(file: CampaignFile) -> tuple[int, int]:
    last = latest_rehearsal(file)
    other = None if last is None else (below(file, last) or max(numbers(file)))
    if last is None or other in {None, last}:
        raise ConfigError(
            [f"{file.path}: there are no two rehearsals to compare"],
            next_step=f"change the file, then: piecework rehearse {shell_word(file.path)}"
            if file.tables.imported is None
            else "try other rules on its answers: piecework compare "
            f"{shell_word(file.path)} --rules FILE",
        )
    return other, last


def _outcome(path: Path, number: int) -> Outcome:
    with open_to_look(load_with_results(path, rehearsal=number)) as opened:
        if not read_progress(opened).is_finished:
            raise ConfigError(
                [f"{path}: rehearsal {number} is not finished"],
                next_step=f"finish it with its file: piecework rehearse {shell_word(path)}; "
                "or compare "
                f"others: piecework compare {shell_word(path)} --rehearsals N M",
            )
        return outcome_of(opened)


def _minus(first: Outcome, second: Outcome) -> Outcome:
    values = {
        name: getattr(second, name) - getattr(first, name) for name in Outcome.__dataclass_fields__
    }
    return Outcome(**values)


def _notes(compared: RehearsalsCompared) -> Iterator[Note]:
    if not compared.differences:
        yield Note("fact", "Nothing differs between the files of the two.")
    if compared.figures.seeds == 1:
        yield Note(
            "watch",
            "One rehearsal of each: chance alone may explain a difference. --seeds 10 "
            "rehearses both ten times, with the same workers.",
        )


def _differing(compared: RehearsalsCompared) -> Section:
    first, second = (f"Rehearsal {each}" for each in compared.numbers)
    listed = table(
        "Keys and files that differ",
        compared.differences,
        text("Key", "key"),
        text(first, lambda each: _value(each, _whole_or_short(each)[0])),
        text(second, lambda each: _value(each, _whole_or_short(each)[1])),
    )
    return Section(key="differences", title="What differs", tables=(listed,))


def _whole_or_short(difference: Difference) -> tuple[str, str]:
    """Return both values; rules as a person would copy them."""
    is_whole = difference.key == "decisions.rule"
    return (difference.before, difference.now) if is_whole else difference.shown


def _value(difference: Difference, value: str) -> str:
    """Return a value; of a file, which has none, that it is not the same."""
    return value or (NOTHING if difference.before or difference.now else "changed")


def _figures(compared: RehearsalsCompared) -> Table:
    figures, seeds = compared.figures, compared.figures.seeds
    labels = forecast_columns(figures)
    value = number if seeds == 1 else text

    def of_row(row: Row) -> Column[str]:
        return value(
            row.name.capitalize(), lambda name: _in_words(*mean_and_range(figures, row, name))
        )

    return table(
        "One rehearsal of each"
        if seeds == 1
        else f"Means of {plural(seeds, 'rehearsal')} of each, and ranges of {covered(figures)}",
        labels,
        text("Figure", labels.__getitem__),
        *(of_row(row) for row in figures.rows),
        value(
            "Difference",
            lambda name: _in_words(*difference_and_range(figures, compared.change[name], name)),
        ),
        text("Chance", lambda name: _beside_chance(compared.change[name]), is_shown=seeds > 1),
        note=""
        if seeds == 1
        else "Beyond chance: the range of the differences, over the same "
        "seeds, does not include zero. Caps are ignored, and simulated workers of no market work.",
    )


def _in_words(mean: str, between: str) -> str:
    return f"{mean} ({between})" if between else mean


def _beside_chance(change: Estimate) -> str:
    """Say whether the range of the differences has zero inside."""
    if isnan(change.mean) or change.low == change.high == 0:
        return NOTHING
    return "may be chance" if change.low <= 0 <= change.high else "beyond chance"


def _plain(estimate: Estimate) -> dict[str, float | None]:
    return {name: None if isnan(value) else value for name, value in asdict(estimate).items()}
