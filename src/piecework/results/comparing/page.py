"""The comparison of two sets of rules as a page, the same in a terminal and as HTML."""

from collections.abc import Iterable

import numpy as np

from piecework.domain.text import NOTHING, count, plural
from piecework.qc.registry import TITLES
from piecework.report.components import (
    Cell,
    Code,
    KeyFigure,
    Note,
    Quote,
    Section,
    Table,
    Tag,
    number,
    ranges,
    text,
)
from piecework.report.formatting import excerpt
from piecework.report.page import SectionsPage
from piecework.results.comparing.changed_answers import ShownAnswer
from piecework.results.comparing.comparison import (
    RulesComparison,
    Side,
)

_MOST_ROWS = 200
_EVIDENCE_CHARACTERS = 300
_ANSWER_CHARACTERS = 140

_VERDICTS = {"keep": "kept", "drop": "set aside", "absent": "not given"}
"""How a verdict reads in a table."""


def comparison_page(compared: RulesComparison) -> SectionsPage:
    """Build the page: figures under both sets of rules, then what changes."""
    changed = int(compared.answers["is_changed"].sum())
    keys = ", ".join(compared.changed_keys)
    return SectionsPage(
        source=f"{compared.campaign.name}, by the rules of {compared.rules.name}",
        kicker="Other rules on the same answers",
        purpose="Both sets of rules judged the stored answers again, batch by batch. "
        "Nothing was written or paid.",
        key_figures=tuple(_key_figures(compared, changed)),
        notes=(
            Note("fact", f"Keys that differ: {keys}.")
            if keys
            else Note("watch", f"{compared.rules} states the campaign's own rules."),
            *(Note("watch", remark) for remark in compared.notes),
        ),
        sections=tuple(_sections(compared)),
    )


def _key_figures(compared: RulesComparison, changed: int) -> Iterable[KeyFigure]:
    before, after = compared.before, compared.after
    yield KeyFigure(
        label="Changed answers", value=count(changed), beside=f"of {count(len(compared.answers))}"
    )
    kept = before.verdicts["keep"]
    yield KeyFigure(
        label="Kept answers", value=count(after.verdicts["keep"]), beside=f"{count(kept)} before"
    )
    yield KeyFigure(
        label="Excluded workers",
        value=count(after.excluded),
        beside=f"{count(before.excluded)} before",
    )
    if compared.n_labels:
        yield KeyFigure(
            label="Changed labels",
            value=count(len(compared.labels)),
            beside=f"of {count(compared.n_labels)}",
        )


def _sections(compared: RulesComparison) -> Iterable[Section]:
    yield Section(
        key="changes", title="What changes", tables=(_figures(compared), _heuristics(compared))
    )
    if compared.before.agreements:
        yield Section(
            key="agreement", title="Which rules are right", tables=(_agreement(compared),)
        )
    if len(compared.workers):
        yield Section(key="workers", title="Excluded workers", tables=(_workers(compared),))
    if len(compared.labels):
        yield Section(key="labels", title="Labels that flip", tables=(_labels(compared),))
    if compared.shown:
        yield Section(key="answers", title="Changed answers", tables=(_shown(compared),))


def _figures(compared: RulesComparison) -> Table:
    def rows(side: Side) -> list[str]:
        shown = compared.campaign.rewards.shown
        again = shown(round(side.lacking * compared.cost_per_answer_cents))
        return [
            *(count(side.verdicts[name]) for name in _VERDICTS),
            count(side.rejected),
            count(side.excluded),
            *([count(side.waiting)] if waits else []),
            shown(side.paid_cents),
            shown(side.unpaid_cents),
            f"{count(side.lacking)}, {again}" if side.lacking else "0",
        ]

    waits = compared.before.waiting or compared.after.waiting
    labels = (
        *(f"Answers {word}" for word in _VERDICTS.values()),
        "Assignments rejected",
        "Workers excluded",
        *(["Waiting for a person"] if waits else []),
        "Paid, with fees",
        "Refused, with fees",
        "Answers to ask again",
    )
    return Table(
        caption="Figures under both sets of rules",
        columns=(text("What"), number("Own rules"), number("New rules")),
        rows=tuple(zip(labels, rows(compared.before), rows(compared.after), strict=True)),
        note="Not given: the worker would have been excluded before. Answers to ask again "
        "cost as much as the answers so far did on average.",
    )


def _heuristics(compared: RulesComparison) -> Table:
    before, after = compared.before.by_heuristic, compared.after.by_heuristic
    return Table(
        caption="Answers set aside, by the heuristics that flag them",
        columns=(text("Heuristic"), number("Own rules"), number("New rules")),
        rows=tuple(
            (
                Code(name, words=TITLES.get(name, "")),
                count(before.get(name, 0)),
                count(after.get(name, 0)),
            )
            for name in sorted(
                {*before, *after},
                key=lambda name: (-max(before.get(name, 0), after.get(name, 0)), name),
            )
        ),
        note="Only heuristics that a rule names. An answer counts for each that flags it.",
        empty="No rule sets any answer aside.",
    )


def _agreement(compared: RulesComparison) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, before in compared.before.agreements.items():
        for words, each in (("own", before), ("new", compared.after.agreements[name])):
            shares = each.shares
            rows.append(
                (
                    f"{name}, {words} rules",
                    f"{count(each.bad)} of {count(each.bad + each.good)}",
                    *(_interval(shares[part]) for part in ("precision", "recall")),
                    _interval(shares["honest_harmed"]),
                )
            )
    return Table(
        caption="Agreement with what is known otherwise",
        columns=(
            text("Known from"),
            number("Bad"),
            ranges("Precision"),
            ranges("Recall"),
            ranges("Honest harmed"),
        ),
        rows=tuple(rows),
        note="Precision: of what the rules set aside, the share that is bad. Recall: of what "
        "is bad, the share that they set aside. Honest harmed: of the rest, the share that "
        "they set aside. In brackets: 95 % interval (Wilson).",
        is_wide=True,
    )


def _interval(share: tuple[float, float, float]) -> str:
    middle, low, high = share
    if np.isnan(middle):
        return NOTHING
    return f"{100 * middle:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def _workers(compared: RulesComparison) -> Table:
    differ = compared.workers["before"] != compared.workers["after"]
    ordered = compared.workers.assign(same=~differ).sort_values("same", kind="stable")
    return Table(
        caption="Workers whom either set of rules excludes, and after which batch",
        columns=(text("Worker"), text("Own rules"), text("New rules"), number("Answers")),
        rows=tuple(
            (Code(str(worker)), str(was or NOTHING), str(now or NOTHING), count(int(answers)))
            for worker, was, now, answers in ordered[["before", "after", "answers"]]
            .head(_MOST_ROWS)
            .itertuples()
        ),
        note=_left_out(len(ordered)),
    )


def _labels(compared: RulesComparison) -> Table:
    return Table(
        caption="Labels that differ",
        columns=(text("Item"), text("Label"), text("Own rules"), text("New rules")),
        rows=tuple(
            (
                Code(excerpt(str(item))),
                str(label),
                Quote(_label(was)),
                Quote(_label(now)),
            )
            for item, label, was, now in compared.labels.head(_MOST_ROWS).itertuples(index=False)
        ),
        note=_left_out(len(compared.labels)),
    )


def _label(cell: object) -> str:
    if isinstance(cell, float):
        return NOTHING if np.isnan(cell) else f"{cell:.4g}"
    if isinstance(cell, tuple):
        return ", ".join(map(str, cell)) or NOTHING
    return excerpt(str(cell)) or NOTHING


def _shown(compared: RulesComparison) -> Table:
    changed = int(compared.answers["is_changed"].sum())
    others = changed - len(compared.shown)
    return Table(
        caption="Changed answers, the worst first",
        columns=(
            text("Answer"),
            text("Own rules"),
            text("New rules"),
            text("Against"),
            text("Why"),
            text("Text"),
        ),
        rows=tuple(_row(each) for each in compared.shown),
        note="First those that contradict what is known, then the most suspicious."
        + (f" {plural(others, 'more answer')} changed." if others else ""),
        is_wide=True,
    )


def _row(each: ShownAnswer) -> tuple[Cell, ...]:
    why = each.because or next(iter(each.evidence), "nothing flags it")
    return (
        Code(each.worker, words=f"item {excerpt(each.item)}, batch {each.batch}, worker"),
        _VERDICTS[each.before],
        Tag(_VERDICTS[each.after], "watch" if each.contradicts else "fact"),
        ", ".join(each.contradicts) or NOTHING,
        Quote(excerpt(why, limit=_EVIDENCE_CHARACTERS)),
        Quote(excerpt(each.text, limit=_ANSWER_CHARACTERS)),
    )


def _left_out(rows: int) -> str:
    return f"{count(rows - _MOST_ROWS)} more are not shown." if rows > _MOST_ROWS else ""
