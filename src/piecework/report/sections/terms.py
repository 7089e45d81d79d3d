"""The terms of a report, for readers who run no campaigns."""

from piecework.report.components import Section
from piecework.report.model import ReportModel

_TERMS = (
    ("HIT", "A page of work that a worker accepts and sends as a whole."),
    ("Assignment", "One worker's work on a HIT. It is approved and paid, or rejected."),
    ("Answer", "What one assignment says about one item."),
    ("Batch", "Items that are posted together. Excluded workers see no later batch."),
    ("Round", "0 is a batch's first posting; each later round posts what is missing."),
    ("Novel", "Written by the worker, and accepted."),
    ("Canned", "The page's own sentence for pictures that show nothing to describe."),
    ("Dropped", "Paid, but kept out of the dataset, for a stated reason."),
    ("Rejected", "Not paid, and kept out of the dataset, for a stated reason."),
    ("Surplus", "Good and paid, but more than the item needed."),
    ("Excluded", "A worker who gets no more HITs. Their account is not affected."),
    ("Heuristic", "A check for one kind of bad work, run on all answers."),
    ("Flag", "A heuristic's suspicion that passed its limit. It is not a verdict."),
    ("Policy", "The rules in the campaign file that turn flags into verdicts."),
    ("Wage floor", "The least that an hour should pay. Bonuses of `piecework pay` raise it."),
    ("Split", "The part of the dataset that an item is in: train, val or test."),
    ("Alpha", "Krippendorff's alpha: 1 is full agreement, 0 is chance."),
    ("p-value", "How often chance alone would give a difference at least this large."),
)


_IMPORTED = {
    "Assignment": "One worker's work on one HIT.",
    "Dropped": "Kept out of the dataset, for a stated reason.",
    "Rejected": "Kept out of the dataset with its assignment, for a stated reason.",
    "Surplus": "Good, but its worker's second answer about the item.",
    "Excluded": "A worker whom a rule or a person would give no more work.",
}
"""Meanings if another tool posted and paid."""


def build(model: ReportModel) -> Section:
    """List each term with its meaning; leave out terms that the report cannot use."""
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
        title="Glossary",
        terms=tuple(term for term in meanings.items() if term[0] not in left_out),
    )
