"""What the heuristics flagged, with evidence, and how reviewers judged it.

How flags overlap, what the heuristics miss, and how reviewers agree.
"""

import math
from collections.abc import Mapping

import pandas as pd

from piecework.domain.text import count, plural
from piecework.domain.verdicts import RANDOM_SAMPLE, ReviewQuality
from piecework.qc.registry import TITLES
from piecework.report.comparison_plots import matrix
from piecework.report.components import Code, Figure, Quote, Section, Table, number, table, text
from piecework.report.formatting import excerpt, listed, part_of, with_share
from piecework.report.model import ReportModel, subjects_of
from piecework.report.plots import figure

_EVIDENCE_CHARACTERS = 95
_MOST_PAIRS = 6
_NAME_CHARACTERS = 40
_HIGH_PLOT = 10
"""Rows of a plot that is as high as a narrow table of the silent heuristics."""


def flags_section(model: ReportModel) -> Section:
    """Show coverage, overlaps and examples of every heuristic, decided or not."""
    overlaps = _overlaps(model)
    coverage = _coverage(model)
    # A high plot leaves a third of the page's width free for the silent heuristics.
    tables = (
        (*_silent(model, is_wide=False), coverage)
        if overlaps and len(model.flags.columns) >= _HIGH_PLOT
        else (coverage, *_silent(model, is_wide=True))
    )
    return Section(
        key="flags",
        title="What the heuristics flagged",
        lead=(_lead(model),),
        figures=overlaps,
        tables=tables,
    )


def _lead(model: ReportModel) -> str:
    heuristics = len(model.flags.columns.drop(RANDOM_SAMPLE, errors="ignore"))
    answers = part_of(int(model.is_flagged.sum()), len(model.collected), "answer")
    summary = (
        f"{plural(heuristics, 'heuristic')} flagged {answers}, directly or through "
        "their assignment or worker."
        if heuristics
        else "No heuristic flagged anything."
    )
    waits = f" This includes {plural(model.waiting, 'answer')} not decided yet."
    return (
        f"{summary} Every heuristic looks at all answers; none hides another, and none "
        f"decides.{waits * bool(model.waiting)}"
    )


def _named(model: ReportModel, heuristic: str) -> Code:
    """The title and the name of a heuristic."""
    return Code(excerpt(heuristic, limit=_NAME_CHARACTERS), words=model.title_of(heuristic))


def _coverage(model: ReportModel) -> Table:
    is_out = model.outcomes.isin(["dropped", "rejected"])
    kept_out = model.flags[is_out.reindex(model.flags.index, fill_value=False)].sum()
    touched, subjects = model.flags.sum(), subjects_of(model.collected)
    by_heuristic = model.facts.findings.groupby(["heuristic", "subject_kind"])
    return table(
        "Heuristics, and the strongest evidence of each",
        [
            (
                _named(model, str(name)),
                f"{kind}s: {_flagged(findings, subjects[str(kind)])}",
                touched.get(name, 0),
                with_share(kept_out.get(name, 0), touched.get(name, 0)),
                _worst(findings),
            )
            for (name, kind), findings in by_heuristic
        ],
        text("Heuristic"),
        number("Flagged"),
        number("Answers affected"),
        number("Kept out"),
        text("Strongest evidence"),
        note="Affected: the answer, its assignment or its worker is flagged. Kept out: "
        "affected answers that were dropped or rejected. If few are, the heuristic "
        "raises false alarms or the policy ignores it.",
        is_wide=True,
        empty="No heuristic has reported anything.",
    )


def _flagged(findings: pd.DataFrame, subjects: pd.Series) -> str:
    flagged = findings.loc[findings["flag"], "subject_id"].nunique()
    return part_of(flagged, len({*subjects.tolist(), *findings["subject_id"].tolist()}))


def _silent(model: ReportModel, *, is_wide: bool) -> tuple[Table, ...]:
    """List the silent heuristics, so that silence is not read as praise."""
    flagged = set(model.flags.columns)
    silent = {name: why for name, why in model.facts.silent.items() if name not in flagged}
    return silent_tables(silent, is_wide=is_wide)


def _worst(of_heuristic: pd.DataFrame) -> Quote:
    """The strongest evidence of a heuristic."""
    flagged = of_heuristic[of_heuristic["flag"]]
    if flagged.empty:
        return Quote("")
    in_order = flagged.sort_values(
        ["suspicion", "subject_id"], ascending=[False, True], kind="stable"
    )
    evidence = str(in_order.iloc[0]["evidence"])
    return Quote(excerpt(evidence, limit=_EVIDENCE_CHARACTERS))


def _overlaps(model: ReportModel) -> tuple[Figure, ...]:
    """Show which heuristics affect the same answers, as a matrix."""
    if len(model.flags.columns) < 2:  # noqa: PLR2004 - nothing to compare
        return ()
    flags = model.flags.to_numpy(dtype="int64")
    shared: list[list[int]] = (flags.T @ flags).tolist()
    names = [model.title_of(str(name)) for name in model.flags]
    pairs = sorted(
        (-shared[first][second], first, second)
        for first in range(len(names))
        for second in range(first)
        if shared[first][second]
    )
    described = "; ".join(
        f"{names[first]} and {names[second]}: {count(-number_)}"
        for number_, first, second in pairs[:_MOST_PAIRS]
    )
    return (
        figure(
            matrix(names, shared),
            key="overlaps",
            title="Answers affected by two heuristics at once",
            description=f"{described}." if described else "0 answers.",
            note="The columns have the numbers of the rows. The diagonal counts all "
            "answers that a heuristic affects.",
            is_wide=True,
        ),
    )


def silent_tables(silent: Mapping[str, str], *, is_wide: bool = True) -> tuple[Table, ...]:
    """One row per reason, with the titles of the heuristics; no table if none.

    Args:
        silent: why each can flag nothing, by name (`piecework.qc.silence.silences`).
        is_wide: False if the table stands beside a plot.
    """
    because: dict[str, list[str]] = {}
    for name, why in silent.items():
        because.setdefault(why, []).append(TITLES.get(name, name))
    if not because:
        return ()
    cells = [(why, listed(titles)) for why, titles in because.items()]
    return (
        table(
            "Heuristics that could flag nothing here",
            cells,
            text("Reason: heuristics", lambda row: f"{row[0]}: {row[1]}", is_shown=not is_wide),
            text("Reason", lambda row: row[0], is_shown=is_wide),
            text("Heuristics", lambda row: row[1], is_shown=is_wide),
            is_wide=is_wide,
        ),
    )


def reviews_section(model: ReportModel) -> Section | None:
    """Show how often flags were upheld, missed bad work, and agreement."""
    quality = model.facts.reviews
    if quality is None or not (quality.upheld or quality.sampled or quality.twice):
        return None
    upheld = table(
        "Flags that reviewers upheld",
        quality.upheld,
        text("Heuristic", lambda tally: _named(model, tally.heuristic)),
        number("Reviewed", lambda tally: tally.reviewed),
        number("Upheld", lambda tally: part_of(tally.upheld, tally.reviewed)),
        note="Upheld: a person dropped, rejected or excluded it; for an assignment or "
        "a worker, also if half of the reviewed answers were dropped. Reviewers saw "
        "the evidence unless the review was blind.",
        empty="No flag has been reviewed.",
    )
    return Section(
        key="reviews",
        title="How reviewers judged the flags",
        lead=tuple(review_sentences(quality)),
        tables=(upheld,),
    )


def review_sentences(quality: ReviewQuality) -> list[str]:
    """Say how much bad work is missed and how far reviewers agree, if reviewed."""
    lines = []
    if quality.sampled:
        missed, low, high = quality.missed
        lines.append(
            f"Reviewers dropped {count(quality.sampled_bad)} of "
            f"{plural(quality.sampled, 'randomly drawn answer')} that no heuristic "
            f"flagged. So about {count(missed)} of all "
            f"{plural(quality.unflagged, 'unflagged answer')} are bad (95 % interval: "
            f"{count(low)} to {count(high)})."
        )
    if quality.twice:
        kappa = "" if math.isnan(quality.kappa) else f"; Cohen's kappa {quality.kappa:.2f}"
        lines.append(
            f"Two people reviewed {plural(quality.twice, 'answer')} and gave the same "
            f"verdict on {part_of(quality.agreed, quality.twice)}{kappa}."
        )
    return lines
