"""The page of a comparison, and the rules that it compares.

No rules at all and rules under which every flag counts are the two ends; between them are
the campaign's own rules without the heuristic that set most answers aside. Each is a
file of rules and a page beside the report, as `piecework compare --rules` shows them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from markupsafe import escape

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import Campaign
from piecework.domain.text import NOTHING, count, plural, shell_word
from piecework.domain.verdicts import RANDOM_SAMPLE, PolicyRule
from piecework.qc.registry import BY_NAME, TITLES
from piecework.report.components import (
    Code,
    Column,
    KeyFigure,
    Note,
    Quote,
    Section,
    Table,
    Tag,
    number,
    table,
    text,
)
from piecework.report.formatting import excerpt
from piecework.report.model import ReportModel
from piecework.report.page import SectionsPage, render_sections
from piecework.report.sections.other_sources import OtherRules, RulesOutcome
from piecework.results.comparing.changed_answers import ShownAnswer
from piecework.results.comparing.comparison import RulesComparison, Side, compare_with_each
from piecework.results.comparing.rules_to_try import TriedRules, rules_as_toml
from piecework.results.table import hidden_ids
from piecework.store.files import write_whole_text

FOLDER = "other-rules"

MOST_ANSWERS = 50_000
"""With more, judging everything again would delay the report (ours)."""

_NONE, _WITHOUT, _EVERY = "no-rules", "without-heuristic", "every-flag"
"""Names of the files, without their suffixes."""

_TRUTHS = ("planted workers: answers", "known answers: answers", "people: answers")
"""What is known about answers; the first that a campaign has is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Alternative:
    """Other rules: the name of their file without its suffix, and a name for people."""

    key: str
    name: str
    rules: tuple[PolicyRule, ...]


def write_other_rules(opened: OpenedCampaign, model: ReportModel) -> OtherRules | None:
    """Write a file and a page of each set of rules beside the report; return the figures.

    Args:
        opened: the campaign, whose store is only read.
        model: of its report.
    """
    campaign, folder = opened.campaign, opened.campaign.out / FOLDER
    for key in (_NONE, _WITHOUT, _EVERY):
        for suffix in ("toml", "html"):
            (folder / f"{key}.{suffix}").unlink(missing_ok=True)
    if len(model.came) > MOST_ANSWERS:
        return OtherRules(
            outcomes=(),
            sentence=f"With more than {count(MOST_ANSWERS)} answers, other rules are only tried "
            f"on request: `piecework compare {shell_word(campaign.path.name)} --rules FILE`.",
        )
    alternatives = [*_alternatives(campaign, model)]
    if not alternatives or model.came.empty:
        return None
    tried = []
    for each in alternatives:
        path = folder / f"{each.key}.toml"
        write_whole_text(path, f"# {each.name}, to compare.\n{rules_as_toml(each.rules)}")
        others = replace(campaign, policy=each.rules)
        tried.append(TriedRules(campaign=others, path=path, changed=("decisions.rule",)))
    compared = compare_with_each(opened, tried)
    ids = hidden_ids(opened)
    for each, comparison in zip(alternatives, compared, strict=True):
        page = render_sections(comparison_page(comparison))
        write_whole_text(folder / f"{each.key}.html", ids.in_page(page, escape))
    return _figures(alternatives, compared)


def _alternatives(campaign: Campaign, model: ReportModel) -> Iterator[_Alternative]:
    own = campaign.policy
    if own:
        yield _Alternative(key=_NONE, name="No rules", rules=())
    if acted := _acted_most(campaign, model):
        yield _Alternative(
            key=_WITHOUT,
            name=f"Without “{TITLES.get(acted, acted)}”",
            rules=tuple(_without(own, acted)),
        )
    # What has flagged nothing adds nothing, and would only cost time.
    names = sorted((BY_NAME.keys() & set(model.flags.columns)) - {RANDOM_SAMPLE})
    if not names:
        return
    every = PolicyRule(
        subject_kind="answer", any_of=tuple(names), then="drop", because="Set aside: {evidence}."
    )
    yield _Alternative(key=_EVERY, name="Every flag counts", rules=(*own, every))


def _acted_most(campaign: Campaign, model: ReportModel) -> str:
    """Return the heuristic of the rules that flags most of what is set aside; "" for none."""
    outcomes = model.outcomes
    out = outcomes.index[outcomes.isin(["dropped", "rejected"])]
    named = {name for rule in campaign.policy for name in rule.any_of}
    flags = model.flags.loc[out, sorted(named & set(model.flags.columns))].sum()
    return str(flags.idxmax()) if len(flags) and flags.max() else ""


def _without(rules: tuple[PolicyRule, ...], heuristic: str) -> Iterator[PolicyRule]:
    for rule in rules:
        left = tuple(name for name in rule.any_of if name != heuristic)
        # A rule that needs more heuristics than are left can no longer apply.
        if left == rule.any_of or len(set(left)) >= rule.at_least:
            yield replace(rule, any_of=left)


def _figures(alternatives: list[_Alternative], compared: list[RulesComparison]) -> OtherRules:
    first = compared[0]
    return OtherRules(
        outcomes=(
            _outcome("The campaign's own", "", first.before, first, labels=0),
            *(
                _outcome(
                    each.name,
                    f"{FOLDER}/{each.key}.html",
                    comparison.after,
                    comparison,
                    labels=len(comparison.labels),
                )
                for each, comparison in zip(alternatives, compared, strict=True)
            ),
        ),
        has_labels=bool(first.n_labels),
        truth=next((truth for truth in _TRUTHS if truth in first.before.agreements), ""),
        sentence="The stored answers were judged again, batch by batch, by the campaign's rules "
        "as its file says now and by others. What people decided since does not count. "
        f"Rules of your own: `piecework compare {shell_word(first.campaign.path.name)} "
        "--rules FILE`.",
    )


def _outcome(
    name: str, page: str, side: Side, compared: RulesComparison, *, labels: int
) -> RulesOutcome:
    known = next((side.agreements[truth] for truth in _TRUTHS if truth in side.agreements), None)
    campaign = compared.campaign
    return RulesOutcome(
        name=name,
        page=page,
        kept=side.verdicts["keep"],
        dropped=side.verdicts["drop"],
        absent=side.verdicts["absent"],
        excluded=side.excluded,
        rejected=side.rejected,
        paid=campaign.rewards.shown(side.paid_cents) if campaign.imported is None else "",
        labels=labels,
        bad_out=f"{count(known.caught)} of {count(known.bad)}" if known else "",
        good_out=f"{count(known.harmed)} of {count(known.good)}" if known else "",
    )


_MOST_ROWS = 200
_EVIDENCE_CHARACTERS = 300
_ANSWER_CHARACTERS = 140

_VERDICTS = {"keep": "kept", "drop": "set aside", "absent": "not asked for"}
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
    yield KeyFigure("Changed answers", count(changed), f"of {count(len(compared.answers))}")
    kept = before.verdicts["keep"]
    yield KeyFigure("Kept answers", count(after.verdicts["keep"]), f"{count(kept)} before")
    yield KeyFigure(
        "Excluded workers",
        count(after.excluded),
        f"{count(before.excluded)} before",
    )
    if compared.n_labels:
        yield KeyFigure(
            "Changed labels",
            count(len(compared.labels)),
            f"of {count(compared.n_labels)}",
        )


def _sections(compared: RulesComparison) -> Iterable[Section]:
    yield Section(
        key="changes", title="What changes", tables=(_page_figures(compared), _heuristics(compared))
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


def _page_figures(compared: RulesComparison) -> Table:
    def rows(side: Side) -> list[str]:
        shown = compared.campaign.rewards.shown
        again = shown(round(side.lacking * compared.cost_per_answer_cents))
        return [
            *(count(side.verdicts[name]) for name in _VERDICTS),
            count(side.rejected),
            count(side.excluded),
            *([count(side.waiting)] if waits else []),
            *(
                [
                    shown(side.paid_cents),
                    shown(side.unpaid_cents),
                    f"{count(side.lacking)}, {again}" if side.lacking else "0",
                ]
                if pays
                else []
            ),
        ]

    waits = compared.before.waiting or compared.after.waiting
    pays = compared.campaign.imported is None
    labels = (
        *(f"Answers {word}" for word in _VERDICTS.values()),
        "Assignments rejected",
        "Workers excluded",
        *(["Waiting for a person"] if waits else []),
        *(["Paid, with fees", "Refused, with fees", "Answers to ask again"] if pays else []),
    )
    return table(
        "Figures under both sets of rules",
        zip(labels, rows(compared.before), rows(compared.after), strict=True),
        text("What"),
        number("Own rules"),
        number("New rules"),
        note="Not asked for: the worker would have been excluded before."
        + (" Answers to ask again cost what answers cost so far on average." if pays else ""),
    )


def _heuristics(compared: RulesComparison) -> Table:
    before, after = compared.before.by_heuristic, compared.after.by_heuristic
    return table(
        "Answers set aside, by the heuristics that flag them",
        sorted(
            {*before, *after},
            key=lambda name: (-max(before.get(name, 0), after.get(name, 0)), name),
        ),
        text("Heuristic", lambda name: Code(name, words=TITLES.get(name, ""))),
        number("Own rules", lambda name: before.get(name, 0)),
        number("New rules", lambda name: after.get(name, 0)),
        note="Only heuristics that a rule names. An answer counts for each that flags it.",
        empty="No rule sets any answer aside.",
    )


def _agreement(compared: RulesComparison) -> Table:
    both = [
        (f"{name}, {words} rules", each)
        for name, before in compared.before.agreements.items()
        for words, each in (("own", before), ("new", compared.after.agreements[name]))
    ]
    return table(
        "Agreement with what is known otherwise",
        both,
        text("Known from", lambda row: row[0]),
        number("Bad", lambda row: f"{count(row[1].bad)} of {count(row[1].bad + row[1].good)}"),
        Column("Precision", lambda row: _interval(row[1].shares["precision"]), "r"),
        Column("Recall", lambda row: _interval(row[1].shares["recall"]), "r"),
        Column("Honest harmed", lambda row: _interval(row[1].shares["honest_harmed"]), "r"),
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
    return table(
        "Workers whom either set of rules excludes, and after which batch",
        ordered.head(_MOST_ROWS).reset_index().to_dict("records"),
        text("Worker", lambda row: Code(row["worker"])),
        text("Own rules", lambda row: row["before"] or NOTHING),
        text("New rules", lambda row: row["after"] or NOTHING),
        number("Answers", "answers"),
        note=_left_out(len(ordered)),
    )


def _labels(compared: RulesComparison) -> Table:
    return table(
        "Labels that differ",
        compared.labels.head(_MOST_ROWS).to_dict("records"),
        text("Item", lambda row: Code(excerpt(str(row["item"])))),
        text("Label", "label"),
        text("Own rules", lambda row: Quote(_label(row["before"]))),
        text("New rules", lambda row: Quote(_label(row["after"]))),
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
    return table(
        "Changed answers, the worst first",
        compared.shown,
        text("Answer", _answer),
        text("Own rules", lambda each: _VERDICTS[each.before]),
        text("New rules", _verdict),
        text("Against", lambda each: ", ".join(each.contradicts) or NOTHING),
        text("Why", lambda each: Quote(excerpt(_why(each), limit=_EVIDENCE_CHARACTERS))),
        text("Text", lambda each: Quote(excerpt(each.text, limit=_ANSWER_CHARACTERS))),
        note="First those that contradict what is known, then the most suspicious."
        + (f" {plural(others, 'more answer')} changed." if others else ""),
        is_wide=True,
    )


def _answer(each: ShownAnswer) -> Code:
    return Code(each.worker, words=f"item {excerpt(each.item)}, batch {each.batch}")


def _verdict(each: ShownAnswer) -> Tag:
    return Tag(_VERDICTS[each.after], "watch" if each.contradicts else "fact")


def _why(each: ShownAnswer) -> str:
    return each.because or next(iter(each.evidence), "nothing flags it")


def _left_out(rows: int) -> str:
    return f"{count(rows - _MOST_ROWS)} more are not shown." if rows > _MOST_ROWS else ""
