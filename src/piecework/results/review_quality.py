"""What people's decisions show about heuristics, their misses, and the reviewers.

Decisions by policy do not count, because they are made from the flags. Only decisions
in force that a person made, on the page or in a CSV, count.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

import pandas as pd
from scipy.stats import binomtest

from piecework.analyses.agreement import cohen_kappa
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.verdicts import (
    RANDOM_SAMPLE,
    Finding,
    Overruled,
    PolicyRule,
    Review,
    ReviewQuality,
    Subject,
    SubjectKind,
    Upheld,
    Verdict,
)
from piecework.qc.reasons import stated, without_evidence
from piecework.results.answers_shown import Work, flags_of
from piecework.store import decisions, findings, reviews
from piecework.store.settlements import ELSEWHERE

_BAD: tuple[Verdict, ...] = ("drop", "reject", "exclude", "block")
_HALF = 0.5
_LEAST_DECISIONS = 50
_CONFIDENCE = 0.95
_TWO = 2

_Opinions = Mapping[Subject, bool]
"""Whether a person judged a subject bad, for the subjects that a person decided."""


def review_quality(opened: OpenedCampaign) -> ReviewQuality:
    """Compute the quality of reviews from all findings and decisions in the store."""
    opinions: dict[Subject, bool] = {
        (decision.subject_kind, decision.subject_id): decision.verdict in _BAD
        for decision in decisions.load_decisions(opened.store)
        if not decision.decided_by.startswith("policy:") and decision.decided_by != ELSEWHERE
    }
    flags = findings.load_findings(opened.store, only_flags=True)
    work = Work(opened)
    sample = _sample(work, flags, opinions)
    bad = sum(sample)
    low, high = interval_of_share(bad, len(sample))
    pairs = _pairs(reviews.reviews_in_force(opened.store))
    differing = tuple(
        (answer_id, tuple(both.items()))
        for answer_id, both in pairs.items()
        if len({*both.values()}) > 1
    )
    return ReviewQuality(
        upheld=_upheld(work, flags, opinions),
        sampled=len(sample),
        sampled_bad=bad,
        low=low,
        high=high,
        unflagged=len(work.table) - len(work.touched(flags)),
        twice=len(pairs),
        agreed=len(pairs) - len(differing),
        differing=differing,
        kappa=_kappa(pairs),
    )


def upheld_around(
    opened: OpenedCampaign, work: Work, subjects: Iterable[Subject]
) -> tuple[Upheld, ...]:
    """Return how often people upheld the heuristics that flag these subjects, so far.

    Args:
        opened: the campaign.
        work: its answers.
        subjects: what a person looks at.
    """
    wanted = {flag.heuristic for flag in flags_of(opened, subjects)}
    opinions: dict[Subject, bool] = {
        (decision.subject_kind, decision.subject_id): decision.verdict in _BAD
        for decision in decisions.all_by_people(opened.store)
        if decision.decided_by != ELSEWHERE
    }
    rows = {number for subject in opinions for number in work.rows(*subject)}
    about = [(kind, name) for kind, names in work.subjects(rows).items() for name in names]
    flags = [flag for flag in flags_of(opened, about) if flag.heuristic in wanted]
    return _upheld(work, flags, opinions)


def overruled_most(opened: OpenedCampaign) -> Overruled | None:
    """Return the rule that people overrule most; `None` before fifty decisions, or if none.

    Only decisions about what the policy proposed count.
    """
    made = [
        review
        for review in reviews.reviews_in_force(opened.store)
        if review.proposed and not review.is_along and not review.is_second
    ]
    if len(made) < _LEAST_DECISIONS:
        return None
    flagged: dict[Subject, set[str]] = defaultdict(set)
    for flag in flags_of(opened, [review.subject for review in made]):
        flagged[flag.subject_kind, flag.subject_id].add(flag.heuristic)
    counts: dict[int, list[bool]] = defaultdict(list)
    for review in made:
        place = _rule_of(review, opened.campaign.policy, flagged[review.subject])
        if place is not None:
            counts[place].append(review.verdict != review.proposed)
    if not counts:
        return None
    place, overruled = max(counts.items(), key=lambda pair: (sum(pair[1]), -pair[0]))
    if not any(overruled):
        return None
    return Overruled(
        rule=opened.campaign.policy[place],
        proposals=len(overruled),
        overruled=sum(overruled),
        decisions=len(made),
    )


def _rule_of(review: Review, policy: tuple[PolicyRule, ...], flagged: set[str]) -> int | None:
    """Return the place of the rule that made a proposal, by its verdict and its words."""
    places = [
        place
        for place, rule in enumerate(policy)
        if (rule.subject_kind, rule.then) == (review.subject_kind, review.proposed)
        and _as_stated(review.proposed_because or "", policy, rule.subject_kind, rule.then)
        == without_evidence(rule)
    ]
    # Rules may have the same words; then one whose heuristics flag the subject.
    likely = [place for place in places if flagged.intersection(policy[place].any_of)]
    return next(iter([*likely, *places]), None)


@lru_cache(maxsize=10_000)
def _as_stated(
    because: str, policy: tuple[PolicyRule, ...], kind: SubjectKind, verdict: Verdict
) -> str:
    # The answers of a worker often have one reason.
    return stated(because, policy, kind, verdict)


def _upheld(work: Work, flags: Iterable[Finding], opinions: _Opinions) -> tuple[Upheld, ...]:
    counts: dict[str, list[bool]] = defaultdict(list)
    for finding in flags:
        if finding.heuristic == RANDOM_SAMPLE:
            continue
        verdict = _thought_bad(work, finding, opinions)
        if verdict is not None:
            counts[finding.heuristic].append(verdict)
    return tuple(
        Upheld(heuristic=name, reviewed=len(verdicts), upheld=sum(verdicts))
        for name, verdicts in sorted(counts.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    )


def _thought_bad(work: Work, finding: Finding, opinions: _Opinions) -> bool | None:
    """Whether people judged a flagged subject bad; `None` if it was not reviewed.

    An assignment or a worker also counts as bad if at least half of the reviewed
    answers were dropped: dropped work is often paid for, and the worker kept.
    """
    own = opinions.get((finding.subject_kind, finding.subject_id))
    if finding.subject_kind == "answer" or own:
        return own
    answers = [
        opinions["answer", str(work.answer_id(number))]
        for number in work.rows(finding.subject_kind, finding.subject_id)
        if ("answer", str(work.answer_id(number))) in opinions
    ]
    if not answers:
        return own
    return sum(answers) >= _HALF * len(answers)


def _sample(work: Work, flags: list[Finding], opinions: _Opinions) -> list[bool]:
    """Whether each unflagged answer of the random sample was judged bad."""
    touched = work.touched(flags)
    drawn = {finding.subject_id for finding in flags if finding.heuristic == RANDOM_SAMPLE}
    return [
        opinions["answer", answer_id]
        for answer_id in sorted(drawn)
        if ("answer", answer_id) in opinions
        and not touched.intersection(work.rows("answer", answer_id))
    ]


def interval_of_share(bad: int, number: int) -> tuple[float, float]:
    """Return the ends of Wilson's 95 % interval of a share; NaN without any."""
    if not number:
        return math.nan, math.nan
    interval = binomtest(bad, number).proportion_ci(_CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def _pairs(in_force: Iterable[Review]) -> dict[str, dict[str, str]]:
    """The verdicts of the first two reviewers of an answer, by reviewer."""
    by_answer: dict[str, dict[str, str]] = defaultdict(dict)
    for review in in_force:
        of_answer = by_answer[review.subject_id]
        is_own = review.subject_kind == "answer" and not review.is_along
        if is_own and len({*of_answer, review.reviewer}) <= _TWO:
            of_answer.setdefault(review.reviewer, review.verdict)
    return {
        answer_id: of_answer for answer_id, of_answer in by_answer.items() if len(of_answer) == _TWO
    }


def _kappa(pairs: Mapping[str, Mapping[str, str]]) -> float:
    if not pairs:
        return math.nan
    firsts, seconds = zip(*(verdicts.values() for verdicts in pairs.values()), strict=True)
    index = list(pairs)
    return cohen_kappa(pd.Series(list(firsts), index=index), pd.Series(list(seconds), index=index))
