"""What the heuristics flagged, with evidence, and how they overlap."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from piecework.domain.counts import count, plural
from piecework.domain.tables import answer_line
from piecework.domain.verdicts import RANDOM_SAMPLE
from piecework.report.components import Code, Quote, Section, Table, number, text
from piecework.report.formatting import excerpt, part_of, with_share
from piecework.report.model import ReportModel
from piecework.report.silence import silent_tables

_EXAMPLES_EACH = 2
_EVIDENCE_CHARACTERS = 240
_TEXT_CHARACTERS = 140
_NAME_CHARACTERS = 40


def build(model: ReportModel) -> Section:
    """Show coverage, overlaps and examples of every heuristic, decided or not."""
    return Section(
        key="flags",
        title="What the heuristics flagged",
        lead=(_lead(model),),
        tables=(
            _coverage(model),
            *_overlaps(model),
            _examples(model),
            *_silent(model),
        ),
    )


def _lead(model: ReportModel) -> str:
    heuristics = len(model.flags.columns.drop(RANDOM_SAMPLE, errors="ignore"))
    answers = part_of(int(model.is_flagged.sum()), len(model.came), "answer")
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
    return Code(
        excerpt(heuristic, limit=_NAME_CHARACTERS), words=model.title_of(heuristic)
    )


def _subjects(model: ReportModel, kind: str) -> set[str]:
    """All subjects of a kind."""
    if kind == "answer":
        return set(model.came.index)
    return set(model.came["assignment_id" if kind == "assignment" else "worker"])


def _coverage(model: ReportModel) -> Table:
    rows = []
    findings = model.facts.findings
    for (name, kind, version), of_heuristic in findings.groupby(
        ["heuristic", "subject_kind", "version"]
    ):
        judged = len(_subjects(model, str(kind)) | set(of_heuristic["subject_id"]))
        flagged = of_heuristic.loc[of_heuristic["flag"], "subject_id"].nunique()
        rows.append(
            (
                _named(model, str(name)),
                str(version),
                f"{kind}s",
                part_of(flagged, judged),
                *_touched(model, str(name)),
            )
        )
    return Table(
        caption="Heuristics and their coverage",
        columns=(
            text("Heuristic"),
            number("Version"),
            text("Looks at"),
            number("Flagged"),
            number("Answers affected"),
            number("Also affected by others"),
            number("Kept out"),
        ),
        rows=tuple(rows),
        note="Affected: the answer, its assignment or its worker is flagged. Kept out: "
        "affected answers that were dropped or rejected. If few are, the heuristic "
        "raises false alarms or the policy ignores it.",
        empty="No heuristic has reported anything.",
    )


def _silent(model: ReportModel) -> tuple[Table, ...]:
    """List the silent heuristics, so that silence is not read as praise."""
    flagged = set(model.flags.columns)
    silent = {
        name: why for name, why in model.facts.silent.items() if name not in flagged
    }
    return silent_tables(silent)


def _touched(model: ReportModel, heuristic: str) -> tuple[str, str, str]:
    flags = model.flags
    if heuristic not in flags.columns:
        return ("0", "0", "0")
    is_flagged = flags[heuristic]
    touched = int(is_flagged.sum())
    by_others = flags.drop(columns=heuristic).any(axis="columns")
    is_out = model.outcomes.isin(["dropped", "rejected"]).reindex(
        flags.index, fill_value=False
    )
    return (
        count(touched),
        with_share(int((is_flagged & by_others).sum()), touched),
        with_share(int((is_flagged & is_out).sum()), touched),
    )


def _overlaps(model: ReportModel) -> tuple[Table, ...]:
    if len(model.flags.columns) == 1:
        return ()
    flags = model.flags.to_numpy(dtype="int64")
    shared: list[list[int]] = (flags.T @ flags).tolist()
    names = [
        excerpt(model.title_of(str(name)), limit=_NAME_CHARACTERS)
        for name in model.flags
    ]
    table = Table(
        caption="Answers affected by two heuristics at once",
        columns=(
            text("Heuristic"),
            *(
                number(str(place), spoken=name)
                for place, name in enumerate(names, start=1)
            ),
        ),
        rows=tuple(
            (
                f"{place} {name}",
                *map(count, touched),
            )
            for place, (name, touched) in enumerate(
                zip(names, shared, strict=True), start=1
            )
        ),
        note="The columns have the numbers of the rows. The diagonal counts all "
        "answers that a heuristic affects.",
        empty="Nothing is flagged.",
    )
    return (table,)


def _examples(model: ReportModel) -> Table:
    findings = model.facts.findings
    worst = (
        findings[findings["flag"]]
        .sort_values(
            ["heuristic", "suspicion", "subject_id"], ascending=[True, False, True]
        )
        # Showing the same evidence twice adds nothing.
        .drop_duplicates(["heuristic", "evidence"])
        .groupby("heuristic")
        .head(_EXAMPLES_EACH)
    )
    rows = tuple(
        (
            _named(model, str(row["heuristic"])),
            f"{row['suspicion']:.2f}",
            Quote(excerpt(str(row["evidence"]), limit=_EVIDENCE_CHARACTERS)),
            Quote(_answered(model.came, row)),
        )
        for row in worst.to_dict("records")
    )
    return Table(
        caption="Examples of evidence, the most suspicious first",
        columns=(
            text("Heuristic"),
            number("Suspicion"),
            text("Evidence"),
            text(
                f"The {model.text_noun}, if an answer is flagged"
                if model.text_noun
                else "The answer, if it is flagged"
            ),
        ),
        rows=rows,
        note=f"At most {_EXAMPLES_EACH} different ones per heuristic, of "
        f"{plural(int(findings['flag'].sum()), 'flag')}. Suspicion runs from 0 (none, "
        f"for a random sample) to 1 (certain).",
        is_wide=True,
        empty="Nothing is flagged.",
    )


def _answered(answers: pd.DataFrame, finding: Mapping[Hashable, Any]) -> str:
    """A flagged answer in one line; "" for a flag on another kind of subject."""
    subject = str(finding["subject_id"])
    if finding["subject_kind"] != "answer" or subject not in answers.index:
        return ""
    return excerpt(
        answer_line(answers.loc[[subject]].iloc[0].to_dict()), limit=_TEXT_CHARACTERS
    )
