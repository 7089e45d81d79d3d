"""The words of a report, for readers who run no campaigns."""

from piecework.report.components import Section, Table, text
from piecework.report.model import ReportModel

_TERMS = (
    ("HIT", "A page of work that a worker accepts and sends as a whole."),
    ("Assignment", "One worker's go at one HIT. It is approved and paid, or rejected."),
    ("Answer", "What one assignment says about one item."),
    ("Batch", "The items that are posted together. Bad workers of one see no later."),
    ("Round", "0 is a batch's first posting; each later one asks for what is missing."),
    ("Novel", "Written by the worker, and accepted."),
    ("Canned", "The page's own sentence for pictures that show nothing to describe."),
    ("Dropped", "Paid for, and kept out of the dataset, with its reason."),
    ("Rejected", "Not paid for, and kept out of the dataset, with its reason."),
    ("Surplus", "Good and paid for, but more than were wanted of the item."),
    ("Excluded", "A worker who is not asked again. The account is not harmed."),
    ("Heuristic", "One idea of what bad work looks like, tried on all answers."),
    ("Flag", "A heuristic's suspicion is enough to speak of. It is no verdict."),
    ("Policy", "The campaign file's rules that turn flags into verdicts."),
    (
        "Wage floor",
        "What an hour is to pay at least; bonuses of `piecework pay` go by the median.",
    ),
    ("Split", "The part of the dataset that an item is in: train, val or test."),
    ("Alpha", "Krippendorff's: 1 is full agreement between people, 0 is chance."),
    ("p-value", "How often chance alone would make a difference at least as large."),
)


_IMPORTED = {
    "Assignment": "One worker's go at one HIT.",
    "Dropped": "Kept out of the dataset, with its reason.",
    "Rejected": "Kept out of the dataset with all of its assignment, with the reason.",
    "Surplus": "Good, but its worker's second answer about the item.",
    "Excluded": "A worker whom a rule or a person would not ask again.",
}
"""What is meant by words where another tool posted and paid."""


def build(model: ReportModel) -> Section:
    """Each word with its meaning; those that the page cannot hold are left out."""
    left_out, meanings = set(), dict(_TERMS)
    if model.facts.imported is not None:
        left_out |= {"Batch", "Round"}
        meanings |= _IMPORTED
    if not model.text_noun:
        left_out |= {"Novel"}
    else:
        left_out |= {"Alpha", "p-value"}
    if not model.facts.task.canned_text:
        left_out.add("Canned")
    if model.facts.money is None:
        left_out.add("Wage floor")
    return Section(
        key="terms",
        title="What the words mean",
        tables=(
            Table(
                caption="Terms",
                columns=(text("Word"), text("Meaning")),
                rows=tuple(
                    term for term in meanings.items() if term[0] not in left_out
                ),
                is_wide=True,
            ),
        ),
    )
