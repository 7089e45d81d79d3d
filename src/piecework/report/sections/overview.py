"""The campaign in a few plain sentences, for the person who pays for it.

Quality, time and money on the first page are the key figures and one plot each; the
results of checks that the first page has no room for have a section.
"""

import pandas as pd

from piecework.domain.text import count, plural, plural_of
from piecework.domain.verdicts import REJECTED_WITH
from piecework.qc.reasons import GAP, without_evidence
from piecework.report.components import Aspect, Figure, KeyFigure, Note, Question, Section
from piecework.report.facts import Money
from piecework.report.formatting import duration, excerpt, listed, part_of
from piecework.report.model import BY_POLICY, ReportModel
from piecework.report.sections import (
    answers_and_agreement,
    comparisons,
    conditions,
    money,
    other_sources,
    outcomes,
    summary,
    timeline,
)

_MOST_REASONS = 3
_MOST_RESULTS = 3
_MOST_FLAGS = 3
_NO_REASON = "no reason is recorded"
_MOST_CARES = 6
_TITLE_CHARACTERS = 120
_REASON_CHARACTERS = 110
_DRAWN = (
    " The simulated workers answered at random, because nothing is known about the "
    "items: the answers say nothing about them."
)


def questions(model: ReportModel) -> tuple[Question, ...]:
    """The questions that a reader asks first, each with its answer."""
    money = model.facts.money
    elsewhere = other_sources.decided_elsewhere(model)
    return (
        *((elsewhere,) if elsewhere else ()),
        Question(name="What was asked", answer=_asked(model)),
        Question(name="What came back", answer=_came(model)),
        Question(name="What does not count", answer=_lost(model), points=_reasons(model)),
        *((Question(name="What it cost", answer=_cost(model, money)),) if money else ()),
        cares(model),
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
        f"{plural(facts.items, model.item_noun)}, "
        f"{plural(model.wanted, 'answer')} in all."
    )


def _came(model: ReportModel) -> str:
    facts = model.facts
    if model.came.empty:
        return "Nothing yet."
    kinds = []
    if facts.task.canned_text:
        kinds += [plural(model.count("novel"), model.accepted_noun)] * bool(model.text_noun)
        canned = plural(model.count("canned"), "answer")
        kinds.append(f"{canned} that the picture cannot be recognised")
    counted = model.count("novel", "canned")
    came = (
        f"{plural(len(model.came), 'answer')} by {model.workers}; "
        f"{count(counted)} {'counts' if counted == 1 else 'count'}"
        f"{': ' * bool(kinds)}{listed(kinds)}."
    )
    verb = "waits" if model.waiting == 1 else "wait"
    if facts.imported is not None:
        waits = f" {count(model.waiting)} {verb} for a person." * bool(model.waiting)
        return f"{came}{waits}"
    waits = f" {count(model.waiting)} {verb} for a decision." * bool(model.waiting)
    return (
        f"{came}{waits}{_DRAWN if facts.is_drawn else ''} "
        f"{part_of(model.complete_items, facts.items, model.item_noun)} "
        f"{'has' if model.complete_items == 1 else 'have'} all the answers wanted."
    )


def _lost(model: ReportModel) -> str:
    is_ours = model.facts.imported is None
    kinds = [
        (number, words)
        for number, words in (
            (model.count("dropped"), "dropped but paid" if is_ours else "dropped"),
            (model.count("rejected"), money.rejected_words(model)),
            (
                model.count("surplus"),
                "more than the item needed"
                if is_ours
                else "the worker's second about the same item",
            ),
        )
        if number
    ]
    if model.came.empty:
        return "Nothing came back yet."
    if model.waiting and not model.submitted:
        return "No answer is decided yet."
    if not kinds:
        if is_ours or model.facts.is_finished:
            return "Every answer counts."
        return "Every decided answer counts; the others wait for a person."
    lost = model.count("dropped", "rejected", "surplus")
    verb = "does" if lost == 1 else "do"
    of_kinds = [f"{count(number)} {words}" for number, words in kinds]
    if len(kinds) == 1:
        of_kinds = [words for _, words in kinds]
    return f"{plural(lost, 'answer')} {verb} not count: {listed(of_kinds)}."


def _reasons(model: ReportModel) -> tuple[str, ...]:
    """The most frequent reasons, each with the number of its answers."""
    reasons = _reasons_of_dropped(model).replace("", _NO_REASON)
    counts = reasons.value_counts()
    # Sort equal counts by their text, so that the order of rows does not matter.
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
    shown = tuple(
        f"{plural(times, 'answer')}: {_short(str(reason))}"
        f"{_flagged(model, reasons.index[reasons == reason], str(reason))}."
        for reason, times in ranked[:_MOST_REASONS]
    )
    rest = sum(times for _, times in ranked[_MOST_REASONS:])
    if not rest:
        return shown
    return (*shown, f"{plural(rest, 'answer')}: other reasons.")


def _reasons_of_dropped(model: ReportModel) -> "pd.Series[str]":
    """Why each rejected or dropped answer does not count, as its rule states it, by its id."""
    because = model.column("rejected_because", "rejected", "dropped")
    of_answers = model.verdicts[model.verdicts["subject_kind"] == "answer"]
    made = of_answers.set_index("subject_id").reindex(because.index)
    decisions = pd.DataFrame(
        {
            "because": because,
            "decided_by": made["decided_by"].fillna(BY_POLICY),
            "is_accepted": made["is_accepted"].fillna(value=False).astype("bool"),
        }
    )
    return model.as_stated(decisions.assign(subject_kind="answer", verdict="drop"))


def _short(reason: str) -> str:
    """A reason without what it quotes at its end, and without a full stop."""
    reason = reason.removeprefix(REJECTED_WITH).rstrip(".").removesuffix(GAP)
    return excerpt(reason.rstrip(" :("), limit=_REASON_CHARACTERS)


def _flagged(model: ReportModel, answers: "pd.Index[str]", reason: str) -> str:
    """The strongest flag of each answer, if their reason only quotes evidence.

    Each answer is counted under one flag, so the counts add up. Flags that the rules
    with this reason do not name did not decide, so they are left out.
    """
    if GAP not in reason:
        return ""
    kind = ("assignment", "reject") if reason.startswith(REJECTED_WITH) else ("answer", "drop")
    named = {
        name
        for rule in model.facts.policy
        if (rule.subject_kind, rule.then) == kind
        and reason.removeprefix(REJECTED_WITH) == without_evidence(rule)
        for name in rule.any_of
    }
    counts = model.strongest_flags(answers, named).value_counts()
    unflagged = int(counts.pop("")) if "" in counts else 0
    if counts.empty:
        return ""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
    shown = [
        f"“{model.title_of(str(name))}” ({count(times)})" for name, times in ranked[:_MOST_FLAGS]
    ]
    others = sum(times for _, times in ranked[_MOST_FLAGS:])
    shown += [f"another flag ({count(others)})"] * bool(others)
    shown += [f"no flag on record ({count(unflagged)})"] * bool(unflagged)
    return f", flagged most strongly as {listed(shown)}"


def _cost(model: ReportModel, money: Money) -> str:
    unpaid = " No money was paid: this was a rehearsal." * model.facts.is_rehearsal
    return (
        f"{money.shown(money.spent_cents)} of a budget of "
        f"{money.shown(money.cents('budget'))}, including "
        f"{money.shown(money.cents('fees'))} in fees."
        f"{_each(model, money)}{_earned(model, money)}{unpaid}"
    )


def _each(model: ReportModel, money: Money) -> str:
    novel = model.count("novel")
    if not novel:
        return ""
    return f" That is {money.each(novel)} for each {model.accepted_noun}."


def _earned(model: ReportModel, money: Money) -> str:
    if model.wages.empty:
        return ""
    median = money.wage(float(model.wages.median()))
    return f" Half of the {plural_of(model.paid_worker)} earned {median} or more."


def cares(model: ReportModel) -> Question:
    """Return why a reader should be careful, the most serious reason first."""
    name = "Be careful of"
    grave = [note for note in summary.summary_notes(model) if note.level in {"problem", "watch"}]
    if not grave:
        return Question(
            name=name,
            answer="No check found a problem. This does not mean that a person has "
            "looked at every answer.",
        )
    rest = len(grave) - _MOST_CARES
    shown = tuple(grave[:_MOST_CARES])
    if rest > 0:
        more = Note("watch", f"{plural(rest, 'more point')} under “How the work was checked”.")
        shown = (*shown, more)
    return Question(name=name, answer="", notes=shown)


def results(model: ReportModel) -> tuple[Figure, ...]:
    """Return the plots of what a study has found; a dataset of texts has none.

    Means of the conditions that it compares, else strengths of systems, else the shares
    of each label.
    """
    made = (each.result_figures(model) for each in (conditions, comparisons, answers_and_agreement))
    return next((figures for figures in made if figures), ())[:_MOST_RESULTS]


def aspects(model: ReportModel) -> tuple[Aspect, ...]:
    """Return quality, time if it is known, and money if any was spent."""
    facts = model.facts
    items, accepted, workers, *of_money = summary.key_figures(model)
    quality = Aspect(
        key="quality",
        title="Quality",
        key_figures=(accepted, items),
        figure=answers_and_agreement.agreement_figure(model) or outcomes.funnel_figure(model),
    )
    return (
        quality,
        Aspect(
            key="time",
            title="Time",
            key_figures=(_span(model), workers),
            figure=timeline.pace_figure(model),
        ),
        *(
            [
                Aspect(
                    key="cost",
                    title="Money",
                    key_figures=tuple(of_money),
                    figure=money.ledger_figure(facts.money),
                )
            ]
            if facts.money
            else []
        ),
    )


def _span(model: ReportModel) -> KeyFigure:
    facts = model.facts
    if not facts.time_span:
        return KeyFigure("From first to last", "unknown", "no times")
    seconds = (facts.finished_at - facts.started_at).total_seconds()
    rounds = len(facts.batches)
    return KeyFigure("From first to last", duration(seconds), f"in {plural(rounds, 'round')}")


def checks_section(model: ReportModel) -> Section | None:
    """List the notes that the first page leaves out, the gravest first."""
    shown = cares(model).notes
    notes = tuple(note for note in summary.summary_notes(model) if note not in shown)
    if not notes:
        return None
    return Section(key="checked", title="What else was checked", notes=notes)
