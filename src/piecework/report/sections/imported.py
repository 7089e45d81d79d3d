"""Answers from other tools: their files, and the decisions there beside ours.

Decisions made elsewhere are shown for comparison only. They do not affect any judgement
here.
"""

import pandas as pd

from piecework.domain.counts import count, plural
from piecework.report.components import Question, Section, Table, number, text
from piecework.report.facts import ImportedFacts
from piecework.report.formatting import excerpt, part_of
from piecework.report.model import ReportModel

_REJECTED = "rejected"
_MOST_OUTCOMES = 30
_MOST_FEEDBACK = 3
_FEEDBACK_CHARACTERS = 160


def build(model: ReportModel) -> Section | None:
    """Show files and outcomes; None if answers were collected here."""
    imported = model.facts.imported
    if imported is None:
        return None
    return Section(
        key="imported",
        title="Where the answers come from",
        lead=(
            (
                "Another tool collected these answers; piecework posted and paid "
                "nothing. Approvals and rejections there are not evidence: the "
                "heuristics do not see them."
            ),
            *_of_workers(model, imported),
            *_of_pay(imported),
        ),
        tables=(_files(imported), *_outcomes(model, imported)),
    )


def decided_elsewhere(model: ReportModel) -> Question | None:
    """Say what the requester rejected elsewhere, and what they wrote about it.

    None if answers were collected here, or if nothing was rejected or written.
    """
    imported = model.facts.imported
    if imported is None:
        return None
    is_rejected = rejected_elsewhere(model)
    words = imported.feedback.reindex(model.came.index).fillna("").str.strip()
    about = words[is_rejected & (words != "")]
    if about.empty:
        about = words[words != ""]
    rejected = int(is_rejected.sum())
    if not rejected and about.empty:
        return None
    counts = sorted(about.value_counts().items(), key=lambda pair: (-pair[1], pair[0]))
    return Question(
        name="What was decided elsewhere",
        answer=_against_flags(model, is_rejected),
        points=tuple(
            f"{plural(times, 'answer')}: the requester wrote "
            f"“{excerpt(str(feedback), limit=_FEEDBACK_CHARACTERS)}”"
            for feedback, times in counts[:_MOST_FEEDBACK]
        ),
    )


def rejected_elsewhere(model: ReportModel) -> "pd.Series[bool]":
    """Whether another tool rejected an answer that came, by its id."""
    imported = model.facts.imported
    if imported is None:
        return pd.Series(data=False, index=model.came.index)
    outcomes = imported.outcomes.reindex(model.came.index).fillna("")
    return outcomes.str.strip().str.casefold() == _REJECTED


def _against_flags(model: ReportModel, is_rejected: "pd.Series[bool]") -> str:
    rejected, others = int(is_rejected.sum()), int((~is_rejected).sum())
    if not rejected:
        return "The requester rejected nothing there."
    flagged = model.is_flagged
    both = part_of(int((flagged & is_rejected).sum()), rejected)
    beside = part_of(int((flagged & ~is_rejected).sum()), others)
    of_others = f", and of the others {beside}" * bool(others)
    return (
        f"The requester rejected {part_of(rejected, len(model.came), 'answer')} there. "
        f"The heuristics, which do not see that, flag {both} of these{of_others}."
    )


def _of_workers(model: ReportModel, imported: ImportedFacts) -> tuple[str, ...]:
    if not imported.unnamed_workers:
        return ()
    assignments = plural(imported.unnamed_workers, "assignment")
    if not model.named_workers:
        sentence = (
            f"The files name no workers. Each of {assignments} counts as a different "
            "person's, so nothing is known about single workers."
        )
        return (sentence,)
    sentence = (
        f"The files name no worker for {assignments}: each counts as a different "
        "person's, so nothing is known about that person's other answers."
    )
    return (sentence,)


def _of_pay(imported: ImportedFacts) -> tuple[str, ...]:
    wages = imported.wages_cents_per_hour
    if wages.empty:
        return ()
    sentence = (
        "According to the rewards and times in the files, half of "
        f"{plural(len(wages), 'worker')} earned ${wages.median() / 100:.2f} an hour or "
        "more, if everything was paid."
    )
    return (sentence,)


def _files(imported: ImportedFacts) -> Table:
    return Table(
        caption="Files",
        columns=(
            text("File"),
            text("Format"),
            number("Assignments"),
            number("Known before"),
            number("Never sent"),
            number("Unreadable rows"),
        ),
        rows=tuple(
            (
                excerpt(file.name),
                file.format_name,
                count(file.assignments),
                count(file.known),
                count(file.not_sent),
                count(file.unreadable),
            )
            for file in imported.files
        ),
        note="Known before: already read from this or another file, and not counted "
        "twice. The store keeps unreadable rows.",
        is_wide=True,
    )


def _outcomes(model: ReportModel, imported: ImportedFacts) -> tuple[Table, ...]:
    elsewhere = imported.outcomes.reindex(model.came.index).fillna("")
    if not elsewhere.map(bool).any():
        return ()
    here = model.outcomes.reindex(elsewhere.index)
    table = pd.DataFrame(
        {
            "elsewhere": elsewhere,
            "flagged": model.is_flagged,
            "out": here.isin(["dropped", "rejected"]),
            "waits": here.isna(),
        }
    )
    counts = table.groupby("elsewhere").agg(
        answers=("flagged", "size"),
        flagged=("flagged", "sum"),
        out=("out", "sum"),
        waits=("waits", "sum"),
    )
    ranked = counts.sort_values("answers", ascending=False, kind="stable")
    return (
        Table(
            caption="What was decided elsewhere, and here",
            columns=(
                text("Elsewhere"),
                number("Answers"),
                number("Flagged here"),
                number("Dropped here"),
                number("Not decided here"),
            ),
            rows=tuple(
                (
                    excerpt(str(outcome)) or "nothing",
                    count(row["answers"]),
                    part_of(int(row["flagged"]), int(row["answers"])),
                    part_of(int(row["out"]), int(row["answers"])),
                    count(row["waits"]),
                )
                for outcome, row in ranked.head(_MOST_OUTCOMES).iterrows()
            ),
            note=(
                f"{count(len(ranked) - _MOST_OUTCOMES)} rarer outcomes are not shown."
                if len(ranked) > _MOST_OUTCOMES
                else ""
            ),
            is_wide=True,
        ),
    )
