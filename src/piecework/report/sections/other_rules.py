"""What other rules would have done with the same answers, beside the campaign's own."""

from dataclasses import dataclass

from piecework.report.components import Link, Section, number, table, text
from piecework.report.model import ReportModel


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesOutcome:
    """What one set of rules does with all answers.

    Attributes:
        name: of the rules, in a few words.
        page: where its page is, from the report's folder; "" for the campaign's own rules.
        kept: answers kept; `dropped`: set aside; `absent`: not asked for.
        excluded: workers.
        rejected: assignments.
        paid: rewards and fees of approved work, for people; "" if nothing was paid here.
        labels: labels that differ from those by the campaign's own rules.
        bad_out: answers set aside of those known to be bad, such as "5 of 6"; "" if nothing
            is known.
        good_out: the same of good ones.
    """

    name: str
    page: str
    kept: int
    dropped: int
    absent: int
    excluded: int
    rejected: int
    paid: str
    labels: int
    bad_out: str
    good_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRules:
    """The campaign's own rules and others.

    Attributes:
        outcomes: the campaign's own first; empty if they were not computed.
        has_labels: whether the task has labels.
        truth: from what it is known which answers are bad; "" if nothing is known.
        sentence: how to read them, or how to compute them.
    """

    outcomes: tuple[RulesOutcome, ...]
    has_labels: bool = False
    truth: str = ""
    sentence: str = ""


def other_rules_section(model: ReportModel) -> Section | None:
    """Show what other rules would have done; None if there is nothing to compare."""
    others = model.facts.of(OtherRules)
    if others is None:
        return None
    rows = others.outcomes
    compared = table(
        "The same answers under other rules",
        rows,
        text("Rules", lambda each: Link(each.name, each.page) if each.page else each.name),
        number("Answers kept", "kept"),
        number("Set aside", "dropped"),
        number("Not asked for", "absent"),
        number("Workers excluded", "excluded"),
        number("Rejected", "rejected", spoken="Assignments rejected"),
        number("Paid", "paid", spoken="Rewards and fees", is_shown=any(each.paid for each in rows)),
        number("Labels that flip", "labels", is_shown=others.has_labels),
        number("Bad set aside", "bad_out", is_shown=bool(others.truth)),
        number("Good set aside", "good_out", is_shown=bool(others.truth)),
        note="Not asked for: the worker would have been excluded before."
        + (f" Bad, good: known from {others.truth.partition(':')[0]}." if others.truth else "")
        + " Each name leads to a page beside this report, with the answers that change.",
        is_wide=True,
    )
    return Section(
        key="other-rules",
        title="What other rules would have done",
        lead=(others.sentence,),
        tables=(compared,) if rows else (),
    )
