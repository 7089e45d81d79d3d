"""The campaign in a few plain sentences, for the person who pays for it."""

from typing import TYPE_CHECKING

from piecework.domain.counts import count, plural
from piecework.domain.verdicts import REJECTED_WITH
from piecework.qc.reasons import GAP
from piecework.report.facts import Money
from piecework.report.formatting import excerpt, listed, part_of
from piecework.report.model import ReportModel
from piecework.report.sections import summary

if TYPE_CHECKING:
    import pandas as pd

_MOST_REASONS = 3
_MOST_FLAGS = 3
_MOST_CARES = 2
_TITLE_CHARACTERS = 120
_REASON_CHARACTERS = 160
_DRAWN = (
    " The simulated workers answered at random, because nothing is known about the "
    "items: the answers say nothing about them."
)


def paragraphs(model: ReportModel) -> tuple[tuple[str, str], ...]:
    """The questions that a reader asks first, each with its answer."""
    money = model.facts.money
    return (
        ("What was asked", _asked(model)),
        ("What came", _came(model)),
        ("What does not count, and why", _lost(model)),
        *((("What it cost", _cost(model, money)),) if money else ()),
        *((("What people earned", _earned(model, money)),) if money else ()),
        ("What to be careful of", _cares(model)),
    )


def _asked(model: ReportModel) -> str:
    facts = model.facts
    title = excerpt(facts.task.title, limit=_TITLE_CHARACTERS)
    if facts.imported is not None:
        return (
            f"“{title.rstrip('.')}”: {plural(facts.items, model.item_noun)}. Another "
            f"tool asked; its answers were imported from "
            f"{plural(len(facts.imported.files), 'file')}."
        )
    return (
        f"“{title}”: {model.answers_each} about each of "
        f"{plural(facts.items, model.item_noun)}, each by a different worker; "
        f"{plural(model.wanted, 'answer')} in all."
    )


def _came(model: ReportModel) -> str:
    facts = model.facts
    if model.came.empty:
        return "Nothing yet."
    kinds = [plural(model.count("novel"), model.accepted_noun)] * bool(model.text_noun)
    if facts.task.canned_text:
        canned = plural(model.count("canned"), "answer")
        kinds.append(f"{canned} that the picture cannot be recognised")
    came = (
        f"{plural(len(model.came), 'answer')} by {model.workers}, "
        f"{count(model.count('novel', 'canned'))} of which count"
        f"{': ' * bool(kinds)}{listed(kinds)}."
    )
    if facts.imported is not None:
        verb = "waits" if model.waiting == 1 else "wait"
        waits = f" {count(model.waiting)} {verb} for a person." * bool(model.waiting)
        return f"{came}{waits}"
    return (
        f"{came}{_DRAWN if facts.is_drawn else ''} "
        f"{part_of(model.complete_items, facts.items, model.item_noun)} "
        f"{'has' if model.complete_items == 1 else 'have'} all the answers wanted."
    )


def _lost(model: ReportModel) -> str:
    is_ours = model.facts.imported is None
    words = [
        words
        for number, words in (
            (
                model.count("rejected"),
                "rejected without pay" if is_ours else "rejected",
            ),
            (
                model.count("dropped"),
                "dropped but paid" if is_ours else "dropped",
            ),
            (
                model.count("surplus"),
                "not needed, because enough had come"
                if is_ours
                else "the worker's second about the same item",
            ),
        )
        if number
        for words in [
            f"{plural(number, 'answer')} {'was' if number == 1 else 'were'} {words}"
        ]
    ]
    if model.waiting and not model.submitted:
        return "No answer is decided yet."
    if not words:
        if is_ours or model.facts.is_finished:
            return "Every answer counts."
        return "Every decided answer counts; the others wait for a person."
    return f"{listed(words)}.{_reasons(model)}"


def _reasons(model: ReportModel) -> str:
    reasons = model.as_stated(model.column("rejected_because", "rejected", "dropped"))
    counts = reasons[reasons != ""].value_counts()
    # Sort equal counts by their text, so that the order of rows does not matter.
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
    if not ranked:
        return ""
    shown = "; ".join(
        f"“{_short(str(reason))}” for {plural(times, 'answer')}"
        f"{_flagged(model, reasons.index[reasons == reason], str(reason))}"
        for reason, times in ranked[:_MOST_REASONS]
    )
    return f" The most frequent reasons: {shown}."


def _short(reason: str) -> str:
    """A reason without what it quotes at its end, and without a full stop."""
    reason = reason.removeprefix(REJECTED_WITH).rstrip(".").removesuffix(GAP)
    return excerpt(reason.rstrip(" :("), limit=_REASON_CHARACTERS)


def _flagged(model: ReportModel, answers: "pd.Index[str]", reason: str) -> str:
    """The most frequent flags of answers, if their reason only quotes evidence."""
    if GAP not in reason:
        return ""
    counts = model.flags.loc[answers].sum().astype("int64")
    ranked = sorted(
        ((name, times) for name, times in counts.items() if times),
        key=lambda pair: (-pair[1], str(pair[0])),
    )
    if not ranked:
        return ""
    shown = [
        f"“{model.title_of(str(name))}” ({count(int(times))})"
        for name, times in ranked[:_MOST_FLAGS]
    ]
    return f", with the flags {listed(shown)}"


def _cost(model: ReportModel, money: Money) -> str:
    novel = model.count("novel")
    each = money.spent_cents / novel / 100 if novel else 0.0
    per_answer = (
        f" That is {money.sign}{each:.2f} per {model.accepted_noun}." if novel else ""
    )
    unpaid = " No money was paid: this was a rehearsal." * model.facts.is_rehearsal
    return (
        f"{money.shown(money.spent_cents)} of a budget of "
        f"{money.shown(money.cents('budget'))}, including "
        f"{money.shown(money.cents('fees'))} in fees.{per_answer}{unpaid}"
    )


def _earned(model: ReportModel, money: Money) -> str:
    if model.wages.empty:
        return "Not known: no working time is recorded."
    floor = money.wage(money.wage_floor_cents_per_hour)
    less = part_of(model.below_floor, len(model.wages), "worker")
    return (
        f"Half of the workers earned {money.wage(float(model.wages.median()))} or "
        f"more. {less} earned less than {floor}, the campaign's wage floor."
    )


def _cares(model: ReportModel) -> str:
    grave = [
        note for note in summary.notes(model) if note.level in {"problem", "watch"}
    ]
    if not grave:
        return (
            "No check found a problem. This does not mean that a person has looked at "
            "every answer."
        )
    problems = sum(note.level == "problem" for note in grave)
    counts = [
        *([plural(problems, "problem")] * bool(problems)),
        *(
            [plural(len(grave) - problems, "thing") + " to watch"]
            * bool(len(grave) - problems)
        ),
    ]
    shown = " ".join(note.text for note in grave[:_MOST_CARES])
    opening = listed(counts).capitalize()
    if len(grave) <= _MOST_CARES:
        return f"{opening}. {shown}"
    return f"{opening}, all listed below. The first: {shown}"
