"""The campaign in a few plain sentences, for whoever pays for it."""

from typing import TYPE_CHECKING

from piecework.domain.counts import count, plural, with_article
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
    " What they say was drawn by chance, since nothing says what is true of the items: "
    "it is not about them."
)


def paragraphs(model: ReportModel) -> tuple[tuple[str, str], ...]:
    """What a person asks first, each with its answer."""
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
        f"{plural(facts.items, model.item_noun)}, each by another worker; "
        f"{plural(model.wanted, 'answer')} in all."
    )


def _came(model: ReportModel) -> str:
    facts = model.facts
    if model.came.empty:
        return "Nothing yet."
    novel = model.count("novel")
    kinds = [plural(novel, model.accepted_noun) if model.text_noun else count(novel)]
    if facts.task.canned_text:
        canned = plural(model.count("canned"), "answer")
        kinds.append(f"{canned} that the picture cannot be recognised")
    counted = f"{listed(kinds)} count."
    if facts.imported is not None:
        verb = "waits" if model.waiting == 1 else "wait"
        waits = f" {count(model.waiting)} {verb} for a person." * bool(model.waiting)
        return (
            f"{plural(len(model.came), 'answer')} by {model.workers}. {counted}{waits}"
        )
    came = f"{plural(len(model.came), 'answer')} by {model.workers}. {counted}"
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
                "rejected and not paid" if is_ours else "rejected",
            ),
            (
                model.count("dropped"),
                "dropped, though paid for" if is_ours else "dropped",
            ),
            (
                model.count("surplus"),
                "good, but more than were wanted"
                if is_ours
                else "good, but a worker's second about the same item",
            ),
        )
        if number
        for words in [f"{plural(number, 'answer')} {words}"]
    ]
    if model.waiting and not model.submitted:
        return "Nothing is decided yet."
    if not words:
        if is_ours or model.facts.is_finished:
            return "Every answer that came counts."
        return "Every answer that is decided counts; the others wait for a person."
    return f"{listed(words)}.{_reasons(model)}"


def _reasons(model: ReportModel) -> str:
    reasons = model.as_stated(model.column("rejected_because", "rejected", "dropped"))
    counts = reasons[reasons != ""].value_counts()
    # Equal counts stand in the order of their words, whatever the rows' order.
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
    if not ranked:
        return ""
    shown = "; ".join(
        f"“{excerpt(str(reason), limit=_REASON_CHARACTERS).rstrip('.')}” "
        f"({times}{_flagged(model, reasons.index[reasons == reason], str(reason))})"
        for reason, times in ranked[:_MOST_REASONS]
    )
    return f" The reasons given most often: {shown}."


def _flagged(model: ReportModel, answers: "pd.Index[str]", reason: str) -> str:
    """What flagged answers most often, where their reason quotes only evidence."""
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
        f"“{model.in_words(str(name)) or name}” {plural(int(times), 'time')}"
        for name, times in ranked[:_MOST_FLAGS]
    ]
    return f"; flagged: {listed(shown)}"


def _cost(model: ReportModel, money: Money) -> str:
    novel = model.count("novel")
    each = money.spent_cents / novel / 100 if novel else 0.0
    per_answer = (
        f" That is {money.sign}{each:.2f} for {with_article(model.accepted_noun)}."
        if novel
        else ""
    )
    unpaid = " Nothing was paid: it was rehearsed." if model.facts.is_rehearsal else ""
    return (
        f"{money.shown(money.spent_cents)} of a budget of "
        f"{money.shown(money.cents('budget'))}, of which "
        f"{money.shown(money.cents('fees'))} are fees.{per_answer}{unpaid}"
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
            "Nothing that was looked at speaks against it. Nobody has checked every "
            "answer by hand."
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
    return f"{opening}, all listed below; the first of them: {shown}"
