"""Qualifications: the test before the work, and those that workers earn by good work.

A person takes the test before they may work, and a score passes. The rule of an earned
qualification takes the plain share of agreeing items, not a lower bound of it: workers
are told the share, and can check it. Chance is kept small by the number of items.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.ids import WorkerId
from piecework.domain.task import GOLD, Task

SECTION = "section"
"""The column of a test's items that names the section of a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestDocuments:
    """MTurk's documents of a test.

    Attributes:
        form: the QuestionForm.
        key: the AnswerKey, which decides about the value of the qualification.
        form_path: the form's file, and `key_path` the key's.
    """

    form: str
    key: str
    form_path: str
    key_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QualificationTest:
    """A qualification test, as the campaign file states it.

    Attributes:
        name: name of the platform's qualification type; campaigns with the same name
            share it, so no worker takes it twice.
        task: the task with the form; its only field is one choice.
        items: the questions, each with the right answer in `gold.<field>`.
        correct_at_least: right answers needed, by section; all must be reached.
        duration_seconds: the time limit.
        retry_seconds: time after which it may be taken again; `None`: only once.
        documents: `None` if form and key are made of task and items. With documents,
            `correct_at_least` has the least value that passes.
    """

    name: str
    task: Task
    items: tuple[Item, ...]
    correct_at_least: Mapping[str, int]
    duration_seconds: int
    retry_seconds: int | None = None
    documents: TestDocuments | None = None

    @property
    def field(self) -> Field:
        """The field that every question asks."""
        return self.task.item_fields[0]

    @property
    def sections(self) -> dict[str, tuple[Item, ...]]:
        """The questions by section, in the order of the file."""
        sections: dict[str, tuple[Item, ...]] = {}
        for item in self.items:
            name = item.columns.get(SECTION, "")
            sections[name] = (*sections.get(name, ()), item)
        return sections

    @property
    def least_passing(self) -> int:
        """The least score that passes: right answers of all sections together.

        The score is the number of right answers if every section has enough of them,
        else 0: a surplus in one section cannot make up for a lack in another.
        """
        return sum(self.correct_at_least.values())

    def is_passed(self, score: int) -> bool:
        """Return whether a score passes, or passed before the pass marks were changed.

        Without documents, each way to fail scores 0.
        """
        return score >= (1 if self.documents is None else self.least_passing)

    def right_answer(self, item: Item) -> str:
        """Return the right answer to a question; empty if the items file lacks it.

        Several selections that are right together are joined by a bar.
        """
        return item.columns.get(GOLD + self.field.name, "")


Change = Literal["grant", "revoke"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EarnedRule:
    """When workers earn a qualification, as the campaign file states it.

    Attributes:
        name: name of the qualification type; campaigns with the same name share it.
        kind: the kind of work that counts; campaigns with the same kind count together.
        agreement: the share of the latest items that earns it.
        over: how many of the latest items the share is of.
        revoke_below: a lower share loses it.
        forget_days: older items do not count.
        records: the file with the items and the changes of all campaigns.
    """

    name: str
    kind: str
    agreement: float
    over: int
    revoke_below: float
    forget_days: int
    records: Path

    @property
    def terms(self) -> str:
        """What campaigns that share the qualification must state alike."""
        return (
            f"kind = {self.kind!r}, agreement = {self.agreement:g}, "
            f"over = {self.over}, revoke_below = {self.revoke_below:g}, "
            f"forget_after_days = {self.forget_days}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ItemOutcome:
    """How a worker's work on one item came out.

    Attributes:
        at: when it was submitted.
        campaign: the name of its campaign, with that of the store.
        agrees: whether it was kept and does not contradict what is known of the item.
    """

    at: datetime
    campaign: str
    item_id: str
    agrees: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of a worker's latest items agree.

    Attributes:
        first: when the oldest of them was submitted; `None` without items.
        last: when the newest of them was submitted.
    """

    items: int
    agreed: int
    first: datetime | None
    last: datetime | None

    @property
    def percent(self) -> int:
        """The share in per cent, rounded down; 0 without items.

        >>> Share(items=3, agreed=2, first=None, last=None).percent
        66
        """
        return 100 * self.agreed // self.items if self.items else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedChange:
    """A grant or a revocation, with its evidence.

    Attributes:
        decided_by: `rule`, or the person.
        was_begun: a call may have been made.
        done_at: when the marketplace had it; `None` before.
        notified_at: when the worker was notified; `None` before.
    """

    number: int
    name: str
    worker_id: WorkerId
    change: Change
    decided_by: str
    decided_at: datetime
    share: Share
    because: str
    was_begun: bool
    done_at: datetime | None
    notified_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Whether a worker holds the qualification, and what people decided about it.

    Attributes:
        since: when they got it; `None` if they do not hold it.
        counts_after: a person restored it, so only items submitted later count against
            the worker; `None` otherwise.
    """

    since: datetime | None = None
    counts_after: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueChange:
    """A change that the rule makes, with its evidence.

    Attributes:
        because: a sentence with figures, for the worker.
    """

    change: Change
    share: Share
    because: str


def due_change(
    rule: EarnedRule, outcomes: Iterable[ItemOutcome], holding: Holding, *, now: datetime
) -> DueChange | None:
    """Return what the rule changes for a worker; `None` if they stay as they are.

    Args:
        rule: the rule.
        outcomes: the worker's items of the rule's kind, in any order.
        holding: whether they hold the qualification.
        now: the time.
    """
    recent = _recent(rule, outcomes, now)
    if holding.since is None:
        share = _share(recent[-rule.over :])
        if share.items == rule.over and share.agreed / share.items >= rule.agreement:
            return DueChange(change="grant", share=share, because=_earned(rule, share))
        return None
    if not recent and holding.since <= now - timedelta(days=rule.forget_days):
        share = _share(recent)
        return DueChange(change="revoke", share=share, because=_lapsed(rule))
    after = holding.counts_after
    counted = [each for each in recent if after is None or each.at > after]
    share = _share(counted[-rule.over :])
    if share.items == rule.over and share.agreed / share.items < rule.revoke_below:
        return DueChange(change="revoke", share=share, because=_lost(rule, share))
    return None


def latest_share(rule: EarnedRule, outcomes: Iterable[ItemOutcome], *, now: datetime) -> Share:
    """Return how many of a worker's latest items agree, without forgotten ones."""
    return _share(_recent(rule, outcomes, now)[-rule.over :])


def _recent(rule: EarnedRule, outcomes: Iterable[ItemOutcome], now: datetime) -> list[ItemOutcome]:
    oldest = now - timedelta(days=rule.forget_days)
    return sorted(outcome for outcome in outcomes if outcome.at > oldest)


def _share(latest: list[ItemOutcome]) -> Share:
    return Share(
        items=len(latest),
        agreed=sum(outcome.agrees for outcome in latest),
        first=latest[0].at if latest else None,
        last=latest[-1].at if latest else None,
    )


def _figures(rule: EarnedRule, share: Share) -> str:
    return (
        f"of your latest {share.items} items of the kind “{rule.kind}”, "
        f"{share.agreed} agreed with what was accepted ({share.percent}%)"
    )


def _earned(rule: EarnedRule, share: Share) -> str:
    return (
        f"You have earned the qualification “{rule.name}”: {_figures(rule, share)}, "
        f"and {100 * rule.agreement:g}% were needed."
    )


def _lost(rule: EarnedRule, share: Share) -> str:
    return (
        f"You have lost the qualification “{rule.name}”: {_figures(rule, share)}, "
        f"and at least {100 * rule.revoke_below:g}% are needed to keep it."
    )


def _lapsed(rule: EarnedRule) -> str:
    return (
        f"The qualification “{rule.name}” has lapsed: you have done no item of the "
        f"kind “{rule.kind}” in the last {rule.forget_days} days. You can earn it "
        "again."
    )
