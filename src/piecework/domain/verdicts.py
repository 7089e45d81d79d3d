"""What is thought of work, and what is done about it.

A finding is a machine's suspicion with evidence; a decision is a person's, or the
campaign's stated policy's, and is the only thing that moves money or shuts a door.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

SubjectKind = Literal["answer", "assignment", "worker"]

Verdict = Literal["keep", "drop", "approve", "reject", "exclude", "block", "include"]
"""`keep`/`drop` an answer, `approve`/`reject` an assignment, `exclude`/`block` a
worker.

A person may also say `keep` of a worker who was flagged; it holds for that batch. And
`include` takes an exclusion or a block back; it holds until a person excludes again.
Dropping keeps an answer out of the dataset and still pays for it; excluding keeps a
worker out of later HITs and harms no account; blocking is the platform's hard block.
"""

Subject = tuple[SubjectKind, str]
"""What a finding or a decision is about: its kind and its id."""

JOINED = "joined_suspicion"
"""The name under which findings of the joined suspicion are kept
(`piecework.qc.joined`)."""

RANDOM_SAMPLE = "random_sample"
"""The name under which answers are kept that were drawn for people to look at. A draw
is a flag of its own kind: it says nothing against the answer."""

REJECTED_WITH = "its assignment was rejected: "
"""How the reason begins why an answer is dropped with its assignment."""

VERDICTS: dict[SubjectKind, tuple[Verdict, ...]] = {
    "answer": ("keep", "drop"),
    "assignment": ("approve", "reject"),
    "worker": ("keep", "exclude", "block"),
}
"""What a policy may say, and a person about what waits for a decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One heuristic's view of one subject.

    Attributes:
        suspicion: from 0 (none) to 1 (certain).
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
    """Who decided what about whom, when and why; never changed, only followed.

    A reviewer may take one back as long as nothing has followed
    (`piecework.store.reviews`).

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One sentence of a campaign's policy: when findings say so, then a verdict.

    Attributes:
        any_of: names of heuristics; none where `suspicion_above` is stated.
        suspicion_above: the joined suspicion from which on the rule applies, from 0.5.
        at_least: how many of them must flag the subject.
        share: for a worker or an assignment, the least share of its answers that
            findings on answers must flag, in [0, 1]; 0: one flagged answer is enough.
        because: the reason in words, logged with every decision made by this rule.
    """

    subject_kind: SubjectKind
    any_of: tuple[str, ...]
    at_least: int = 1
    share: float = 0.0
    suspicion_above: float | None = None
    then: Verdict
    because: str
