"""The findings of heuristics in answers that are not decided: a page and a table."""

from collections.abc import Mapping, Sequence

import pandas as pd

from piecework.domain.imported import UNNAMED
from piecework.domain.text import NOTHING, count, plural, share
from piecework.qc.registry import TITLES
from piecework.report.components import (
    Code,
    KeyFigure,
    Quote,
    Section,
    notes_of_remarks,
    number,
    table,
    text,
)
from piecework.report.formatting import excerpt
from piecework.report.page import SectionsPage
from piecework.report.sections.flags import silent_tables

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
                "Answers",
                count(len(answers)),
                f"about {plural(answers['item_id'].nunique(), 'item')}",
            ),
            _workers(answers),
            KeyFigure(
                "Flagged answers",
                count(touched),
                f"{share(touched, len(answers))} of {count(len(answers))}"
                if touched
                else f"of {count(len(answers))}",
            ),
        ),
        notes=notes_of_remarks(remarks),
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
    return KeyFigure("Workers", count(named) if named else NOTHING, beside)


def _by_heuristic(findings: pd.DataFrame, ran: Sequence[str], silent: Mapping[str, str]) -> Section:
    flagged = findings.groupby("heuristic").agg(
        kind=("subject_kind", "first"),
        subjects=("subject_id", "nunique"),
        touched=("touched", "sum"),
    )
    shown = [name for name in ran if name in flagged.index]
    rest = [name for name in ran if name not in flagged.index]
    looked = ", ".join(TITLES.get(name, name) for name in rest if name not in silent)
    note = f"These looked and flagged nothing: {looked or 'none'}."
    return Section(
        key="heuristics",
        title="Flags by heuristic",
        tables=(
            table(
                "Flags by heuristic",
                shown,
                text("Heuristic", lambda name: Code(name, words=TITLES.get(name, ""))),
                text("Looks at", lambda name: f"{flagged['kind'][name]}s"),
                number("Flagged", lambda name: flagged["subjects"][name]),
                number("Answers affected", lambda name: flagged["touched"][name]),
                note=note if shown else "",
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
            table(
                "Flags, the most suspicious first",
                ranked.head(_MOST_ROWS).astype({"answer": "str"}).to_dict("records"),
                text(
                    "Heuristic",
                    lambda flag: Code(flag["heuristic"], words=TITLES.get(flag["heuristic"], "")),
                ),
                text(
                    "About",
                    lambda flag: (
                        plural(flag["times"], flag["subject_kind"])
                        if flag["times"] > 1
                        else flag["subject_kind"]
                    ),
                ),
                text(
                    "Evidence",
                    lambda flag: Quote(excerpt(flag["evidence"], limit=_EVIDENCE_CHARACTERS)),
                ),
                text("Assignment", lambda flag: Code(excerpt(flag["assignment_id"]))),
                text(
                    "Answer", lambda flag: Quote(excerpt(flag["answer"], limit=_ANSWER_CHARACTERS))
                ),
                note=" ".join(notes),
                empty="Nothing is flagged.",
                is_wide=True,
            ),
        ),
    )
