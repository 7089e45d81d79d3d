"""The findings of heuristics in answers that are not decided: a page and a table."""

from collections.abc import Mapping, Sequence

import pandas as pd

from piecework.domain.imported import UNNAMED
from piecework.domain.text import NOTHING, count, plural, share
from piecework.qc.registry import TITLES
from piecework.report.components import Code, KeyFigure, Note, Quote, Section, Table, number, text
from piecework.report.formatting import excerpt
from piecework.report.page import SectionsPage
from piecework.report.silence import silent_tables

_MOST_ROWS = 200
_EVIDENCE_CHARACTERS = 240
_ANSWER_CHARACTERS = 140


def findings_page(
    source: str,
    findings: pd.DataFrame,
    answers: pd.DataFrame,
    *,
    ran: Sequence[str],
    silent: Mapping[str, str],
    remarks: tuple[str, ...] = (),
) -> SectionsPage:
    """Build the page of all findings that flag something, the most suspicious first.

    Args:
        source: the file or campaign.
        findings: one row per finding that flags: `heuristic`, `subject_kind`,
            `subject_id`, `suspicion`, `evidence`, `assignment_id` and `answer` (of an
            example), and `touched` (how many answers it is about).
        answers: one row per answer, index its id, with `assignment_id`, `worker_id`,
            `item_id` and `is_touched` (some finding is about it).
        ran: the names of the heuristics that ran, in order.
        silent: why a heuristic can flag nothing in these answers, by name.
        remarks: warnings about the whole page.
    """
    touched = int(answers["is_touched"].sum())
    return SectionsPage(
        source=source,
        kicker="What the heuristics found",
        purpose="A flag is a suspicion with evidence, not a verdict. Approvals and "
        "rejections elsewhere were not considered.",
        key_figures=(
            KeyFigure(
                label="Answers",
                value=count(len(answers)),
                beside=f"about {plural(answers['item_id'].nunique(), 'item')}",
            ),
            _workers(answers),
            KeyFigure(
                label="Flagged answers",
                value=count(touched),
                beside=f"{share(touched, len(answers))} of {count(len(answers))}"
                if touched
                else f"of {count(len(answers))}",
            ),
        ),
        notes=tuple(Note("watch", remark) for remark in remarks),
        sections=(
            _by_heuristic(findings, ran, silent),
            *([] if findings.empty else [_suspicious(findings)]),
        ),
    )


def _workers(answers: pd.DataFrame) -> KeyFigure:
    is_unnamed = answers["worker_id"].str.startswith(UNNAMED)
    named = answers["worker_id"][~is_unnamed].nunique()
    unnamed = answers["assignment_id"][is_unnamed].nunique()
    beside = plural(answers["assignment_id"].nunique(), "assignment")
    if unnamed:
        who = f"{count(unnamed)} by unnamed workers" if named else "workers not named"
        beside += f", {who}"
    return KeyFigure(label="Workers", value=count(named) if named else NOTHING, beside=beside)


def _by_heuristic(findings: pd.DataFrame, ran: Sequence[str], silent: Mapping[str, str]) -> Section:
    flagged = findings.groupby("heuristic").agg(
        kind=("subject_kind", "first"),
        subjects=("subject_id", "nunique"),
        touched=("touched", "sum"),
    )
    rows = tuple(
        (
            Code(name, words=TITLES.get(name, "")),
            f"{flagged['kind'][name]}s",
            count(flagged["subjects"][name]),
            count(flagged["touched"][name]),
        )
        for name in ran
        if name in flagged.index
    )
    rest = [name for name in ran if name not in flagged.index]
    looked = ", ".join(TITLES.get(name, name) for name in rest if name not in silent)
    note = f"These looked and flagged nothing: {looked or 'none'}."
    return Section(
        key="heuristics",
        title="Flags by heuristic",
        tables=(
            Table(
                caption="Flags by heuristic",
                columns=(
                    text("Heuristic"),
                    text("Looks at"),
                    number("Flagged"),
                    number("Answers affected"),
                ),
                rows=rows,
                note=note if rows else "",
                # A table without rows shows only this.
                empty=f"Nothing is flagged. {note}",
                is_wide=True,
            ),
            *silent_tables({name: silent[name] for name in rest if name in silent}),
        ),
    )


def _suspicious(findings: pd.DataFrame) -> Section:
    ranked = findings.sort_values(
        ["suspicion", "heuristic", "subject_id"], ascending=[False, True, True], kind="stable"
    )
    alike = ["heuristic", "evidence"]
    times = ranked.groupby(alike, sort=False)["evidence"].transform("size")
    # Repeating the same evidence thirty times adds nothing.
    ranked = ranked.assign(times=times).drop_duplicates(alike)
    left_out = len(ranked) - _MOST_ROWS
    notes = []
    if "worker" in set(ranked["subject_kind"]) or bool((times > 1).any()):
        notes.append(
            "For a worker, and for flags with the same evidence, one assignment is "
            "shown as an example."
        )
    if left_out > 0:
        notes.append(f"{count(left_out)} more are not shown.")
    return Section(
        key="flags",
        title="The flags",
        tables=(
            Table(
                caption="Flags, the most suspicious first",
                columns=(
                    text("Heuristic"),
                    text("About"),
                    text("Evidence"),
                    text("Assignment"),
                    text("Answer"),
                ),
                rows=tuple(
                    (
                        Code(str(row.heuristic), words=TITLES.get(str(row.heuristic), "")),
                        _about(str(row.subject_kind), int(str(row.times))),
                        Quote(excerpt(str(row.evidence), limit=_EVIDENCE_CHARACTERS)),
                        Code(excerpt(str(row.assignment_id))),
                        Quote(excerpt(str(row.answer), limit=_ANSWER_CHARACTERS)),
                    )
                    for row in ranked.head(_MOST_ROWS).itertuples()
                ),
                note=" ".join(notes),
                empty="Nothing is flagged.",
                is_wide=True,
            ),
        ),
    )


def _about(kind: str, times: int) -> str:
    return kind if times == 1 else plural(times, kind)
