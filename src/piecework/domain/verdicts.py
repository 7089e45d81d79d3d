"""Findings about work, decisions about it, and what people decided.

A finding is a heuristic's suspicion with evidence. A decision is made by a person or by
the campaign's policy; only decisions move money or exclude workers. What people decided
about work says something about heuristics and about the people.
"""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

SubjectKind = Literal["answer", "assignment", "worker"]

Verdict = Literal["keep", "drop", "approve", "reject", "exclude", "block", "include"]
"""`keep`/`drop` an answer, `approve`/`reject` an assignment, `exclude`/`block` a
worker.

A person may also `keep` a worker who was flagged, for that batch. And `include` takes
back an exclusion or a block, until a person excludes the worker again. Dropping keeps
an answer out of the dataset and still pays for it. Excluding keeps a worker out of
later HITs without harm to their account. Blocking is the platform's hard block.
"""

Subject = tuple[SubjectKind, str]
"""What a finding or a decision is about: its kind and its id."""

JOINED = "joined_suspicion"
"""The name of the joined suspicion in findings (`piecework.qc.joined`)."""

NOT_WRITTEN_HERE = "not_written_here"
"""The name of the probability that a text was not written on the page by a person, in
findings (`piecework.qc.written_here`). No rule can name it."""

RANDOM_SAMPLE = "random_sample"
"""The name for answers drawn at random for people to look at. Such a flag is not
evidence against the answer."""

REJECTED_WITH = "its assignment was rejected: "
"""Beginning of the reason for dropping an answer with its assignment."""

PAID_BEFORE = "the marketplace had approved and paid it before it could be rejected: "
"""Beginning of the reason of a rejection that came too late, where it is shown."""

VERDICTS: dict[SubjectKind, tuple[Verdict, ...]] = {
    "answer": ("keep", "drop"),
    "assignment": ("approve", "reject"),
    "worker": ("keep", "exclude", "block"),
}
"""Verdicts of a policy, and of a person about what waits for a decision."""

BELOW: dict[SubjectKind, tuple[SubjectKind, ...]] = {
    "answer": (),
    "assignment": ("answer",),
    "worker": ("answer", "assignment"),
}
"""Findings on these kinds count as findings on a subject's answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One heuristic's view of one subject.

    Attributes:
        suspicion: from 0 (no suspicion) to 1 (certain).
        flag: whether the suspicion passed the heuristic's threshold.
        evidence: a sentence that a reviewer can read and check.
    """

    heuristic: str
    version: int
    subject_kind: SubjectKind
    subject_id: str
    suspicion: float
    flag: bool
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Who decided what about whom, when and why; it is never changed, only superseded.

    A reviewer may take one back until it has effects (`piecework.store.reviews`).

    Attributes:
        decided_by: `policy:<campaign>` or the name of a person.
        because: the reason; for a rejection or a drop, what a worker may be told.
    """

    subject_kind: SubjectKind
    subject_id: str
    verdict: Verdict
    decided_by: str
    decided_at: datetime
    because: str


LEAST_ANSWERS = 4
"""The answers of a worker from which a share of them says something.

One flagged answer of two or three is not enough to exclude a worker.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One rule of a campaign's policy: from findings to a verdict.

    Attributes:
        any_of: names of heuristics; empty if `suspicion_above` is stated.
        suspicion_above: the joined suspicion from which the rule applies, from 0.5.
        at_least: how many of them must flag the subject.
        share: for a worker or an assignment, the least share of its answers that
            findings on answers must flag, in [0, 1]; 0: one flagged answer is enough.
        because: the reason as text, logged with every decision made by this rule.
    """

    subject_kind: SubjectKind
    any_of: tuple[str, ...]
    at_least: int = 1
    share: float = 0.0
    suspicion_above: float | None = None
    then: Verdict
    because: str

    def as_table(self) -> dict[str, object]:
        """Return the rule as a campaign file states it, without what holds by itself."""
        stated = {
            "on": self.subject_kind,
            "any_of": list(self.any_of) or None,
            "suspicion_above": self.suspicion_above,
            "at_least": self.at_least if self.at_least > 1 else None,
            "share": self.share or None,
            "then": self.then,
            "because": self.because,
        }
        return {key: value for key, value in stated.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A verdict of a reviewer, part of one act.

    Attributes:
        act: number of what was done with one key or button; it is undone as a whole.
        is_along: whether the verdict follows from another one of the same act.
        is_second: whether it decides nothing, as a second person's opinion.
        decision_id: the decision that it made; `None` for a second opinion.
        proposed: the verdict that the policy proposed, if any.
        proposed_because: the reason of that proposal.
    """

    act: int
    subject_kind: SubjectKind
    subject_id: str
    verdict: Verdict
    because: str
    reviewer: str
    reviewed_at: datetime
    is_along: bool = False
    is_second: bool = False
    decision_id: int | None = None
    proposed: Verdict | None = None
    proposed_because: str | None = None

    @property
    def subject(self) -> Subject:
        """The subject of the verdict."""
        return self.subject_kind, self.subject_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Upheld:
    """How often people agreed with the flags of a heuristic.

    Attributes:
        reviewed: subjects that it flagged and that a person decided about.
        upheld: those of them that were dropped, rejected or excluded.
    """

    heuristic: str
    reviewed: int
    upheld: int

    def __str__(self) -> str:
        """Return the text shown beside the policy."""
        return f"of {self.reviewed} flagged by {self.heuristic} {self.upheld} upheld"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overruled:
    """The rule whose proposals people overrule most.

    Attributes:
        proposals: of the rule, that people decided about.
        overruled: those of them with another verdict.
        decisions: of people, about proposals of any rule.
    """

    rule: PolicyRule
    proposals: int
    overruled: int
    decisions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQuality:
    """What reviews say about the heuristics, what these miss, and the reviewers.

    Attributes:
        upheld: by heuristic, those with most reviews first.
        sampled: randomly drawn answers without a flag that a person reviewed.
        sampled_bad: those of them that were dropped.
        low: and `high`: the 95 % interval of that share (Wilson); NaN without a sample.
        unflagged: all answers without a flag.
        twice: answers that two people reviewed.
        agreed: those of them with equal verdicts.
        differing: the others: each answer's id, and both verdicts by reviewer.
        kappa: Cohen's kappa of the two verdicts; NaN if undefined.
    """

    upheld: tuple[Upheld, ...] = ()
    sampled: int = 0
    sampled_bad: int = 0
    low: float = math.nan
    high: float = math.nan
    unflagged: int = 0
    twice: int = 0
    agreed: int = 0
    differing: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    kappa: float = math.nan

    @property
    def missed(self) -> tuple[int, int, int]:
        """Bad answers among the unflagged: estimate and ends of its interval."""
        if not self.sampled:
            return 0, 0, self.unflagged
        share = self.sampled_bad / self.sampled
        low, middle, high = (
            round(self.unflagged * bad_share) for bad_share in (self.low, share, self.high)
        )
        return middle, low, high


WORKERS = "workers of "
"""What a decision about a word names as its reviewer, before the name of a campaign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordVerdict:
    """What a person decided about a word that cleaning would change.

    Attributes:
        word: as workers wrote it, casefolded.
        meant: the word that was meant; `None`: the word is right.
    """

    word: str
    meant: str | None
    reviewer: str
    reviewed_at: datetime

    @property
    def is_of_workers(self) -> bool:
        """Whether workers decided it, not a reviewer."""
        return self.reviewer.startswith(WORKERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A label that a person settled where workers differed."""

    item_id: str
    field: str
    value: str
    reviewer: str
    reviewed_at: datetime
    because: str = ""
