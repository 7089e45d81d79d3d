"""What people said of work, and what that says of heuristics and of people."""

import math
from dataclasses import dataclass
from datetime import datetime

from piecework.domain.verdicts import Subject, SubjectKind, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A verdict of a reviewer, part of one act.

    Attributes:
        act: what was done with one key or one button; it is undone as a whole.
        is_along: the verdict follows from another of the same act.
        is_second: a second person's, asked for to compare the two; it decides nothing.
        decision_id: the decision that it made; `None` of a second one.
        proposed: the verdict that the policy proposed; `None` if it proposed none.
        proposed_because: and its reason.
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
        """What it is about."""
        return self.subject_kind, self.subject_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Upheld:
    """How often people agreed with the flags of a heuristic.

    Attributes:
        reviewed: subjects that it flagged and a person decided about.
        upheld: of these, those that were dropped, rejected or excluded.
    """

    heuristic: str
    reviewed: int
    upheld: int

    def __str__(self) -> str:
        """In words, as beside the policy."""
        return f"of {self.reviewed} flagged by {self.heuristic} {self.upheld} upheld"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQuality:
    """What reviews say of the heuristics, of what they miss, and of the reviewers.

    Attributes:
        upheld: by heuristic, those with most reviewed first.
        sampled: answers drawn by chance that nothing flags and a person reviewed.
        sampled_bad: of these, those that were dropped.
        low: and `high`, the 95 % interval of that share (Wilson); NaN without any.
        unflagged: answers in all that nothing flags.
        twice: answers that two people reviewed.
        agreed: of these, those about which they said the same.
        differing: the others: each answer's id, and both verdicts by reviewer.
        kappa: Cohen's, of these; NaN where it cannot be told.
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
        """Bad answers among the unflagged: estimate, and the interval's ends."""
        if not self.sampled:
            return 0, 0, self.unflagged
        share = self.sampled_bad / self.sampled
        low, middle, high = (
            round(self.unflagged * bad_share)
            for bad_share in (self.low, share, self.high)
        )
        return middle, low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class WordVerdict:
    """What a person said of a word that cleaning would change.

    Attributes:
        word: as workers wrote it, casefolded.
        meant: what is meant; `None`: the word is right here.
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
