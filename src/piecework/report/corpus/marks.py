"""What a dataset of marks holds, in pictures or texts, and how far people agree."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import pandas as pd

from piecework.analyses.regions import item_regions, marks_in
from piecework.domain.field import MERGED
from piecework.domain.text import count, plural, share
from piecework.report.components import Code, KeyFigure, Section, number, table, text
from piecework.report.page import SectionsPage

_NO_LABEL = "(no label)"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts:
    """Numbers of marks, answers and items with a label."""

    label: str
    marks: int
    answers: int
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedMarks:
    """Counts of the marks of a dataset's answers.

    Attributes:
        items: items with an answer that can be read.
        answers: such answers; one without any mark counts, too.
        unreadable: answers that are not the JSON of marks.
        empty: answers without any mark.
        per_item: the mean over items of how many marks an answer about it has.
        agreement: the mean over items of the mean F1 of pairs of workers; `None`: no item
            has two workers, or the workers are not known.
        items_compared: items with two workers or more.
        labels: the most frequent first.
    """

    source: str
    items: int
    answers: int
    unreadable: int
    empty: int
    per_item: float
    agreement: float | None
    items_compared: int
    labels: Sequence[LabelCounts]

    @property
    def marks(self) -> int:
        """All marks of all answers."""
        return sum(each.marks for each in self.labels)

    def as_dict(self) -> dict[str, object]:
        """Convert for programs: counts, and shares from 0 to 1."""
        return {"marks": self.marks, **asdict(self)}


def describe_marks(source: str, answers: pd.DataFrame) -> DescribedMarks:
    """Count the marks of answers.

    Args:
        source: the dataset, for people.
        answers: `item_id`, `marks` (JSON as workers sent it), and `worker` if it is known.
    """
    filled = answers[answers["marks"].str.strip() != ""]
    pairs = zip(filled["item_id"], filled["marks"], strict=True)
    read = [(item, marks_in(text)) for item, text in pairs]
    readable = [(item, marks) for item, marks in read if marks is not None]
    by_label: dict[str, list[tuple[str, int]]] = {}
    for place, (item, marks) in enumerate(readable):
        for label in marks.labels:
            by_label.setdefault(str(label) or _NO_LABEL, []).append((item, place))
    counts: dict[str, list[int]] = {}
    for item, marks in readable:
        counts.setdefault(item, []).append(len(marks))
    means = [sum(numbers) / len(numbers) for numbers in counts.values()]
    agreements = _agreements(filled) if "worker" in filled else []
    return DescribedMarks(
        source=source,
        items=len(counts),
        answers=len(readable),
        unreadable=len(read) - len(readable),
        empty=sum(not len(marks) for _, marks in readable),
        per_item=sum(means) / len(means) if means else 0.0,
        agreement=sum(agreements) / len(agreements) if agreements else None,
        items_compared=len(agreements),
        labels=[
            LabelCounts(
                label=label,
                marks=len(places),
                answers=len({place for _, place in places}),
                items=len({item for item, _ in places}),
            )
            for label, places in sorted(by_label.items(), key=lambda each: (-len(each[1]), each[0]))
        ],
    )


def _agreements(answers: pd.DataFrame) -> list[float]:
    """Return the mean F1 of pairs of workers, of each item with two readable answers or more."""
    votes = answers.rename(columns={"marks": "value"})
    # A dataset has marks of one kind; answers of the others cannot be read.
    by_kind = (item_regions(votes, part)["f1"].dropna().tolist() for part in MERGED.values())
    return max(by_kind, key=len)


def marks_page(described: DescribedMarks) -> SectionsPage:
    """Build the page, the same in a terminal."""
    figures = [
        KeyFigure("Items", count(described.items), plural(described.answers, "answer")),
        KeyFigure(
            "Marks", count(described.marks), f"{described.per_item:.1f} in an answer about an item"
        ),
        KeyFigure(
            "Answers without a mark",
            share(described.empty, described.answers),
            f"{count(described.empty)} of {count(described.answers)}",
        ),
    ]
    if described.agreement is not None:
        of = plural(described.items_compared, "item")
        figures.append(
            KeyFigure("Mean agreement", f"{described.agreement:.2f}", f"F1 of two workers, {of}")
        )
    if described.unreadable:
        figures.append(
            KeyFigure("Not read", count(described.unreadable), "answers that hold no marks")
        )
    labels = table(
        "Marks by label",
        described.labels,
        text("Label", lambda each: Code(each.label)),
        number("Marks", "marks"),
        number("Share", lambda each: share(each.marks, described.marks)),
        number("Answers", "answers"),
        number("Items", "items"),
        note="An answer and an item count once for each label that they have.",
    )
    return SectionsPage(
        source=described.source,
        kicker="What this dataset contains",
        title="what this dataset contains",
        purpose="Marks in pictures or texts, as workers made them.",
        key_figures=figures,
        notes=(),
        sections=[Section(key="labels", title="What was marked", tables=(labels,))],
    )
