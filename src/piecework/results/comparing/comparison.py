"""What changes if other rules judge the stored answers.

Both sets of rules judge the same answers again (`judging_again`): the campaign's own, as
its file says now, and the rules to try. So a difference comes from the rules alone, and
not from what people decided since.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import Campaign
from piecework.domain.text import plural
from piecework.domain.verdicts import JOINED
from piecework.engine.opening import open_to_look
from piecework.results.answers_shown import Work
from piecework.results.comparing.changed_answers import (
    ShownAnswer,
    flags_about,
    label_flips,
    reason_of,
    shown_answers,
    when,
)
from piecework.results.comparing.judging_again import JudgedAgain, Truth, judge_again, truths_of
from piecework.results.comparing.rules_to_try import TriedRules, read_rules
from piecework.results.review_quality import interval_of_share
from piecework.store import assignments, decisions, item_totals
from piecework.store.tables import read_rewards

VERDICTS = ("keep", "drop", "absent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far verdicts agree with what is known otherwise; counts of subjects.

    Attributes:
        caught: bad ones that the rules set aside.
        harmed: good ones that they set aside.
    """

    bad: int
    caught: int
    good: int
    harmed: int

    @property
    def shares(self) -> dict[str, tuple[float, float, float]]:
        """Precision, recall and honest harmed: share and 95 % interval (Wilson)."""
        pairs = {
            "precision": (self.caught, self.caught + self.harmed),
            "recall": (self.caught, self.bad),
            "honest_harmed": (self.harmed, self.good),
        }
        return {
            name: (part / whole if whole else float("nan"), *interval_of_share(part, whole))
            for name, (part, whole) in pairs.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one set of rules does.

    Attributes:
        verdicts: answers by verdict; `absent`: not asked for, because the worker was
            excluded before.
        by_heuristic: answers set aside, by the heuristics of the rules that flag them.
        rejected: rejected assignments.
        excluded: excluded workers.
        waiting: assignments and workers that a person has to look at.
        paid_cents: rewards and fees of approved assignments.
        unpaid_cents: the same of rejected ones.
        lacking: answers that items lack of those wanted.
        agreements: by truth; without those that have no subjects.
    """

    verdicts: Mapping[str, int]
    by_heuristic: Mapping[str, int]
    rejected: int
    excluded: int
    waiting: int
    paid_cents: int
    unpaid_cents: int
    lacking: int
    agreements: Mapping[str, Agreement]


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesComparison:
    """What other rules would have done.

    Attributes:
        campaign: the campaign, as its file says now.
        rules: the file that was tried.
        changed_keys: its keys that differ.
        answers: a row per answer, index `answer`: `assignment`, `worker` (pseudonym),
            `item`, `batch`, `round`, `before`, `after` (`keep`, `drop`, `absent`),
            `before_because`, `after_because`, `is_changed`.
        workers: a row per worker whom either excludes, index `worker`: `before`,
            `after` (the batch and round, "" if not), `answers`.
        labels: a row per label that differs: `item`, `label`, `before`, `after`.
        n_labels: labels that were compared.
        shown: changed answers, the worst first.
        before: and `after`: what each set of rules does.
        notes: what cannot be known, and what to know when reading.
        cost_per_answer_cents: mean of rewards and fees.
    """

    campaign: Campaign
    rules: Path
    changed_keys: tuple[str, ...]
    answers: pd.DataFrame
    workers: pd.DataFrame
    labels: pd.DataFrame
    n_labels: int
    shown: tuple[ShownAnswer, ...]
    before: Side
    after: Side
    notes: tuple[str, ...]
    cost_per_answer_cents: float

    @property
    def changed(self) -> pd.DataFrame:
        """The answers with another verdict."""
        return self.answers[self.answers["is_changed"]]

    @property
    def differs(self) -> bool:
        """Whether any answer, worker, label, payment or card differs."""
        return self.before != self.after or bool(
            self.answers["is_changed"].any()
            or (self.workers["before"] != self.workers["after"]).any()
            or len(self.labels)
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything as a JSON document has it."""
        return {
            "campaign": self.campaign.name,
            "rules": str(self.rules),
            "changed_keys": list(self.changed_keys),
            "differs": self.differs,
            "currency": self.campaign.rewards.currency,
            "before": _side_as_dict(self.before),
            "after": _side_as_dict(self.after),
            "changed_answers": self.changed.reset_index().to_dict("records"),
            "workers": self.workers.reset_index().to_dict("records"),
            "labels": _plain(self.labels).to_dict("records"),
            "labels_compared": self.n_labels,
            "shown": [
                {name: getattr(each, name) for name in ShownAnswer.__slots__} for each in self.shown
            ],
            "notes": list(self.notes),
        }


def compare_rules(campaign: Campaign, rules: Path) -> RulesComparison:
    """Compare a campaign's own rules with others, on the answers in its store.

    Nothing is written, and a pass may work at the same time.

    Args:
        campaign: the campaign where its results are.
        rules: a file with the rules to try (`rules_to_try`).

    Raises:
        ConfigError: a file has errors, or the rules are of another task.
        StoreError: the campaign has no store, or the store is of another campaign.
    """
    with open_to_look(campaign) as opened:
        return compare_opened(opened, read_rules(rules, opened.campaign))


def compare_opened(opened: OpenedCampaign, rules: TriedRules) -> RulesComparison:
    """Do the same with a campaign that is open, and rules that were read."""
    return compare_with_each(opened, [rules])[0]


def compare_with_each(opened: OpenedCampaign, tried: Sequence[TriedRules]) -> list[RulesComparison]:
    """Compare the campaign's own rules with several others; own rules judge only once."""
    campaigns = [each.campaign for each in tried]
    if opened.is_rehearsal:
        campaigns = [replace(campaign, decided_by="policy") for campaign in campaigns]
    own, *others = judge_again(opened, [opened.campaign, *campaigns])
    work = Work(opened)
    truths, costs = truths_of(opened, work.table), _costs(opened)
    notes = tuple(_notes_of_own(opened, work, own, truths)) if len(work.table) else ()
    return [
        _compared(opened, rules, own, other, work, truths, costs, notes)
        for rules, other in zip(tried, others, strict=True)
    ]


def _compared(
    opened: OpenedCampaign,
    rules: TriedRules,
    own: JudgedAgain,
    other: JudgedAgain,
    work: Work,
    truths: Sequence[Truth],
    costs: pd.DataFrame,
    notes: tuple[str, ...],
) -> RulesComparison:
    table = work.table
    names = table.index.tolist()
    cells = pd.DataFrame(
        {
            "before": [own.verdict_of(name) for name in names],
            "after": [other.verdict_of(name) for name in names],
        },
        index=table.index,
    )
    labels, n_labels = label_flips(opened, table, cells, own.campaign, other.campaign)
    lacking = {side: _lacking(opened, table, cells[side] == "keep") for side in cells}
    return RulesComparison(
        campaign=opened.campaign,
        rules=rules.path,
        changed_keys=rules.changed,
        answers=_answers(work, cells, own, other),
        workers=_workers(work, own, other),
        labels=labels,
        n_labels=n_labels,
        shown=tuple(shown_answers(work, cells, own, other, truths)),
        before=_side(work, own, cells["before"], truths, costs, lacking["before"]),
        after=_side(work, other, cells["after"], truths, costs, lacking["after"]),
        notes=(*_notes(work, own, other), *notes),
        cost_per_answer_cents=float(costs["cents"].sum() / max(len(table), 1)),
    )


def _side(
    work: Work,
    judged: JudgedAgain,
    verdicts: "pd.Series[str]",
    truths: Sequence[Truth],
    costs: pd.DataFrame,
    lacking: int,
) -> Side:
    kinds = Counter((kind, decision.verdict) for (kind, _), decision in judged.decisions.items())
    paid = {"approve": 0, "reject": 0}
    for assignment_id, cents in zip(costs.index, costs["cents"].tolist(), strict=True):
        decision = judged.decisions.get(("assignment", assignment_id))
        if decision is not None:
            paid[decision.verdict] += cents
    counts = verdicts.value_counts()
    out = verdicts.index[(verdicts == "drop").to_numpy()]
    return Side(
        verdicts={name: int(counts.get(name, 0)) for name in VERDICTS},
        by_heuristic=_by_heuristic(work, judged, out),
        rejected=kinds["assignment", "reject"],
        excluded=len(judged.excluded),
        waiting=len(judged.waiting),
        paid_cents=paid["approve"],
        unpaid_cents=paid["reject"],
        lacking=lacking,
        agreements={truth.name: _agreement(work, judged, verdicts, truth) for truth in truths},
    )


def _agreement(
    work: Work, judged: JudgedAgain, verdicts: "pd.Series[str]", truth: Truth
) -> Agreement:
    if truth.kind == "answer":
        known = verdicts.reindex(list(truth.is_bad)).tolist()
        # For an answer that would not be there, another worker would have been asked.
        out = {
            name: verdict == "drop"
            for name, verdict in zip(truth.is_bad, known, strict=True)
            if verdict != "absent"
        }
    else:
        rejected = {
            str(work.worker_id(work.rows("assignment", name)[0]))
            for (kind, name), decision in judged.decisions.items()
            if kind == "assignment" and decision.verdict == "reject"
        }
        wronged = rejected if truth.counts_rejections else set()
        out = {name: name in judged.excluded or name in wronged for name in truth.is_bad}
    pairs = Counter((truth.is_bad[name], is_out) for name, is_out in out.items())
    return Agreement(
        bad=pairs[True, True] + pairs[True, False],
        caught=pairs[True, True],
        good=pairs[False, True] + pairs[False, False],
        harmed=pairs[False, True],
    )


def _by_heuristic(work: Work, judged: JudgedAgain, out: Iterable[str]) -> dict[str, int]:
    """Count answers that are set aside, by each heuristic that a rule names."""
    named = {name for rule in judged.campaign.policy for name in rule.any_of}
    if any(rule.suspicion_above is not None for rule in judged.campaign.policy):
        named.add(JOINED)
    counts: Counter[str] = Counter()
    for answer_id in out:
        flags = flags_about(work, judged, work.rows("answer", answer_id)[0])
        counts.update({flag.heuristic for flag in flags} & named)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _answers(work: Work, cells: pd.DataFrame, own: JudgedAgain, other: JudgedAgain) -> pd.DataFrame:
    table = work.table
    reasons = {}
    for side, judged in (("before", own), ("after", other)):
        reasons[side] = [""] * len(table)
        for number in np.flatnonzero((cells[side] != "keep").to_numpy()).tolist():
            reasons[side][number] = reason_of(work, judged, number)
    return pd.DataFrame(
        {
            "assignment": work.published["assignment"],
            "worker": work.published["worker"],
            "item": table["item_id"].to_numpy(),
            "batch": table["batch"].to_numpy(),
            "round": table["round"].to_numpy(),
            "before": cells["before"].to_numpy(),
            "after": cells["after"].to_numpy(),
            **{f"{side}_because": because for side, because in reasons.items()},
            "is_changed": (cells["before"] != cells["after"]).to_numpy(),
        },
        index=pd.Index(work.published["answer"], dtype="str", name="answer"),
    )


def _workers(work: Work, own: JudgedAgain, other: JudgedAgain) -> pd.DataFrame:
    either = sorted({*own.excluded, *other.excluded})
    rows = {worker: work.rows("worker", worker) for worker in either}
    return pd.DataFrame(
        {
            "before": [when(own.excluded[w]) if w in own.excluded else "" for w in either],
            "after": [when(other.excluded[w]) if w in other.excluded else "" for w in either],
            "answers": [len(rows[worker]) for worker in either],
        },
        index=pd.Index(
            [work.pseudonym_of(rows[worker][0]) for worker in either], dtype="str", name="worker"
        ),
    )


def _costs(opened: OpenedCampaign) -> pd.DataFrame:
    """Return rewards and fees by assignment, in cents."""
    rows = read_rewards(opened.store)
    cents = np.array(rows["reward_cents"], dtype="int64") + np.array(
        rows["fee_cents"], dtype="int64"
    )
    return pd.DataFrame({"cents": cents}, index=pd.Index(rows["assignment_id"], dtype="str"))


def _lacking(opened: OpenedCampaign, table: pd.DataFrame, is_kept: "pd.Series[bool]") -> int:
    """Return how many answers the items lack of those that they want."""
    if opened.is_imported:
        return 0
    posting = opened.campaign.posting
    pairs = table.loc[is_kept, ["item_id", "worker_id"]].drop_duplicates()
    kept = pairs.groupby("item_id").size().reindex(table["item_id"].unique(), fill_value=0)
    more = kept.index.to_series().map(item_totals.wanted(opened.store, posting))
    wanted = more.astype("float64").fillna(posting.assignments)
    return int((wanted - kept).clip(lower=0).sum())


def _notes(work: Work, own: JudgedAgain, other: JudgedAgain) -> Iterator[str]:
    if not len(work.table):
        yield "The store has no answers yet."
        return
    newly = other.absent - own.absent
    if newly:
        yield (
            f"{plural(len(newly), 'answer')} would not be there, because the worker would "
            "have been excluded before. Who would have answered instead, and what, is not known."
        )
    stays = set(own.excluded) - set(other.excluded)
    if stays:
        yield (
            f"{plural(len(stays), 'worker')} would have stayed; what they would have "
            "answered afterwards is not known."
        )


def _notes_of_own(
    opened: OpenedCampaign, work: Work, own: JudgedAgain, truths: Sequence[Truth]
) -> Iterator[str]:
    """Yield what to know whatever the other rules are."""
    yield from _of_answers(opened, work)
    if own.campaign.decided_by == "person":
        yield (
            "People decide in this campaign: the figures show what the policy alone would do. "
            "A worker whom a person kept is not excluded."
        )
    yield from _of_store(opened, own)
    for truth in truths:
        yield from truth.remarks


def _of_answers(opened: OpenedCampaign, work: Work) -> Iterator[str]:
    """Say what the answers themselves leave open."""
    if len({*work.table["batch"]}) == 1:
        yield "All answers are in one batch, so no exclusion acts before the last answer."
    if undecided := assignments.undecided(opened.store):
        yield (
            f"{plural(len(undecided), 'assignment')} in the store still "
            f"{'waits' if len(undecided) == 1 else 'wait'} for a decision; here both sets of "
            "rules decide."
        )
    if work.table["submitted_at"].isna().all():
        yield "The answers have no times, so heuristics on times judge nothing."


def _of_store(opened: OpenedCampaign, own: JudgedAgain) -> Iterator[str]:
    """Say where the store has other decisions than the campaign's rules make now."""
    made = [
        decision
        for decision in decisions.load_decisions(opened.store, "answer", "assignment")
        if decision.decided_by.startswith("policy:")
    ]
    differing = sum(
        decision.verdict != again.verdict
        for decision in made
        if (again := own.decisions.get((decision.subject_kind, decision.subject_id))) is not None
    )
    if differing:
        yield (
            f"{differing:,} of {plural(len(made), 'decision')} in the store differ from what "
            "the campaign's own rules decide now: the file, piecework or the time of judging "
            "was another. They are compared as the rules decide now."
        )


def _side_as_dict(side: Side) -> dict[str, Any]:
    document = {name: getattr(side, name) for name in Side.__slots__ if name != "agreements"}
    document["verdicts"], document["by_heuristic"] = dict(side.verdicts), dict(side.by_heuristic)
    document["agreements"] = {
        name: {
            **{part: getattr(each, part) for part in Agreement.__slots__},
            **{
                part: [None if np.isnan(value) else value for value in share]
                for part, share in each.shares.items()
            },
        }
        for name, each in side.agreements.items()
    }
    return document


def _plain(labels: pd.DataFrame) -> pd.DataFrame:
    """Return labels as JSON has them: no NaN, and lists for tuples."""
    return labels.map(
        lambda cell: (
            list(cell)
            if isinstance(cell, tuple)
            else None
            if isinstance(cell, float) and np.isnan(cell)
            else cell
        )
    )
