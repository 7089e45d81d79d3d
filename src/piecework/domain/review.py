"""What people decided about work, and what that says about heuristics and people."""

import math
from dataclasses import dataclass
from datetime import datetime

from piecework.domain.verdicts import Subject, SubjectKind, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A verdict of a reviewer, part of one act.

    Attributes:
        act: number of what was done with one key or button; it is undone as a whole.
        is_along: whether the verdict follows from another one of the same act.
        is_second: whether it is a second person's opinion, only for comparison.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A label that a person settled where workers differed."""

    item_id: str
    field: str
    value: str
    reviewer: str
    reviewed_at: datetime
    because: str = ""
