"""What pages that were drawn at random changed: an experiment with the page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from piecework.analyses.page_effects import LEAST_HITS, LEAST_WORKERS, Effect, effects
from piecework.domain.text import NOTHING, plural
from piecework.report.components import Note, Section, Table, number, table, text
from piecework.report.formatting import decimals, excerpt, with_share
from piecework.report.model import ReportModel

_NO_WORDING = "no sentence"
_WORDING_CHARACTERS = 100
_SHORT = 40


@dataclass(frozen=True, kw_only=True)
class PageExperiment:
    """Texts from pages that were drawn at random for each HIT.

    Attributes:
        wordings: the sentences that pages showed; the others are compared with the
            first.
        pastes: what pages did about pastes, in the same way.
        texts: one row per text: `hit`, `worker` (hashed), `wording`, `paste`,
            `is_flagged` (by `not_typed`), `words`, and `seconds` on screen or NaN.
        records_typing: whether pages recorded how texts were entered.
    """

    wordings: tuple[str, ...]
    pastes: tuple[str, ...]
    texts: pd.DataFrame
    records_typing: bool


def experiment_section(model: ReportModel) -> Section | None:
    """Show each arm and the effect of its parts; None without an experiment."""
    experiment = model.facts.of(PageExperiment)
    if experiment is None:
        return None
    compared = list(_compared(experiment, model.facts.drawing_seed))
    pages = plural(len(experiment.wordings) * len(experiment.pastes), "page")
    workers = plural(experiment.texts["worker"].nunique(), "worker")
    came = f"{plural(len(experiment.texts), 'text')} by {workers} came back"
    return Section(
        key="experiment",
        title="The experiment with the page",
        lead=(f"Each HIT got one of {pages} by chance. {came}.", *_conclusions(compared)),
        notes=tuple(_notes(experiment)),
        tables=(_by_page(experiment), _effects(compared)),
    )


def _compared(experiment: PageExperiment, seed: int) -> Iterator[tuple[str, str, list[Effect]]]:
    """Yield each measure and factor, with the effects of the factor's other levels."""
    texts = experiment.texts.assign(
        is_flagged=experiment.texts["is_flagged"].astype("float64"),
        log_seconds=np.log(experiment.texts["seconds"]),
    )
    for factor, levels in (("wording", experiment.wordings), ("paste", experiment.pastes)):
        if len(levels) > 1:
            for measure in ("is_flagged", "words", "log_seconds"):
                yield (measure, factor, effects(texts, factor, levels, measure, seed=seed))


def _conclusions(compared: Sequence[tuple[str, str, list[Effect]]]) -> Iterator[str]:
    """Say of each page what it changes about texts not typed, as far as is known."""
    for measure, factor, of_levels in compared:
        for effect in of_levels if measure == "is_flagged" else ():
            name = _level(factor, effect.level)
            interval = f"{_points(effect.low)} to {_points(effect.high)}"
            is_known = effect.low > 0 or effect.high < 0
            verdict = "" if is_known else " That may be chance."
            yield (
                f"With {name}, {_percent(effect.mean)} of the texts are flagged as not "
                f"typed, instead of {_percent(effect.base)} (difference: "
                f"{_points(effect.difference)} points, 95 % interval {interval})."
                f"{verdict}"
            )


def _notes(experiment: PageExperiment) -> Iterator[Note]:
    if "blocked" in experiment.pastes:
        yield Note(
            "watch",
            "Where pasting is off, a text can hardly be flagged for a paste. Fewer "
            "flags there show that the page works, not that people wrote more texts "
            "themselves: a retyped text looks typed.",
        )
    if not experiment.records_typing:
        yield Note(
            "watch",
            "The pages record no typing, so flags follow from counts of keys and pastes alone.",
        )
    yield Note(
        "fact",
        "A worker may do HITs with different pages, and remember the one before. That "
        "makes differences smaller than between groups of workers.",
    )


def _effects(compared: Sequence[tuple[str, str, list[Effect]]]) -> Table:
    return table(
        "Differences from the first page",
        [
            (_level(factor, effect.level), *_shown(measure, effect), f"{effect.p:.3f}")
            for measure, factor, of_levels in compared
            for effect in of_levels
        ],
        text("Page"),
        text("Measure"),
        number("First"),
        number("This"),
        number("Difference"),
        number("95 % interval"),
        number("p"),
        note="Pages with the same sentence, or the same pasting, are taken together. "
        "The interval draws workers and HITs again, as a worker writes many texts; "
        "p deals the pages to the HITs again by chance. p is not corrected for the "
        "number of rows. Seconds: means of logarithms, so the difference is a ratio.",
        is_wide=True,
        empty=f"Nothing is compared with fewer than {LEAST_HITS} HITs for each page "
        f"or {LEAST_WORKERS} workers.",
    )


def _shown(measure: str, effect: Effect) -> tuple[str, str, str, str, str]:
    if measure == "is_flagged":
        return (
            "flagged as not typed",
            _percent(effect.base),
            _percent(effect.mean),
            f"{_points(effect.difference)} points",
            f"{_points(effect.low)} to {_points(effect.high)}",
        )
    if measure == "words":
        return (
            "words",
            f"{effect.base:.1f}",
            f"{effect.mean:.1f}",
            _signed(f"{effect.difference:+.1f}"),
            _signed(f"{effect.low:+.1f} to {effect.high:+.1f}"),
        )
    base, mean, ratio, low, high = np.exp(
        [effect.base, effect.mean, effect.difference, effect.low, effect.high]
    )
    return (
        "seconds",
        f"{base:.0f}",
        f"{mean:.0f}",
        f"factor {ratio:.2f}",
        f"{low:.2f} to {high:.2f}",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _points(share: float) -> str:
    return _signed(f"{100 * share:+.1f}")


def _signed(shown: str) -> str:
    return shown.replace("-", "\N{MINUS SIGN}")


def _wording(wording: str) -> str:
    return excerpt(wording, limit=_WORDING_CHARACTERS) if wording else _NO_WORDING


def _beginning(wording: str) -> str:
    if len(wording) <= _SHORT:
        return wording
    return f"{wording[:_SHORT].rpartition(' ')[0] or wording[:_SHORT]} …"


def _level(factor: str, level: str) -> str:
    if factor == "paste":
        return f"pasting {level}"
    return f"“{_beginning(level)}”" if level else _NO_WORDING


def _by_page(experiment: PageExperiment) -> Table:
    texts = experiment.texts
    rows = []
    for wording in experiment.wordings:
        for paste in experiment.pastes:
            of = texts[(texts["wording"] == wording) & (texts["paste"] == paste)]
            rows.append(
                (
                    _wording(wording),
                    paste,
                    of["hit"].nunique(),
                    of["worker"].nunique(),
                    len(of),
                    with_share(int(of["is_flagged"].sum()), len(of)) if len(of) else NOTHING,
                    decimals(of["words"].mean(), 1),
                    decimals(of["seconds"].median(), 0),
                )
            )
    return table(
        "Texts by page",
        rows,
        text("Sentence"),
        text("Pasting"),
        number("HITs"),
        number("Workers"),
        number("Texts"),
        number("Flagged as not typed"),
        number("Words"),
        number("Seconds"),
        note="Words: mean. Seconds: median time that the item was on screen. Texts "
        "that were dropped or rejected count too; canned and empty texts do not.",
        is_wide=True,
    )
