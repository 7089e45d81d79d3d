"""Rules and thresholds that agree best with what is known about some work.

Subjects are answers or workers that are known to be bad or good. A candidate is a rule
about one heuristic with its own or other parameters, about two heuristics that both
flag, or about the joined suspicion. Rules are added one after the other, each that
finds most of what the ones before left, as long as all together harm at most a stated
share of the good subjects. The rules that a campaign has are kept if they alone harm no
more than that; otherwise each of them is a candidate like the others. Its exceptions
(`keep`, `approve`) always stay, above what is added. A heuristic that any other rule
uses keeps its parameters, because a heuristic has only one set of them.

How good the choice is, is measured on workers that it was not made from: it is made
five times, each time without a fifth of the workers, and judged on that fifth. All
answers are judged as one batch.

The weight of a harmed subject, the folds and the least numbers are ours.
"""

import dataclasses
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.domain.verdicts import JOINED, RANDOM_SAMPLE, Finding, PolicyRule, SubjectKind
from piecework.qc import joined, parameters
from piecework.qc.features import OF_ANSWERS, OF_WORKERS
from piecework.qc.policy import applies_to
from piecework.qc.registry import (
    HEURISTICS,
    OFF_BY_DEFAULT,
    Heuristic,
    Settings,
    findings_of,
    is_on,
    params_of,
    scores,
)
from piecework.qc.text_fit import with_text_fit

FOLDS = 5
LEAST_BAD, LEAST_GOOD, LEAST_WORKERS = 10, 30, 5
"""With fewer bad or good subjects, or fewer workers with bad ones, nothing is said."""

_FACTORS = (0.5, 0.75, 1.5, 2.0)
"""By which a parameter is multiplied."""

_SHARES = (0.2, 0.4, 0.6)
"""Of a worker's answers that have to be flagged."""

_SUSPICIONS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)

_HARM_WEIGHS = 0.2
"""All of the harm that is allowed counts like this share of the bad subjects."""

_MOST_RULES = 6
_LEAST_SHARE = 0.01
_LEAST_GAIN = 2

_BECAUSE: Mapping[SubjectKind, str] = {
    "answer": "Set aside: {evidence}.",
    "worker": "Not invited again: {evidence}.",
}

_EXCEPTIONS = frozenset({"keep", "approve"})
"""Verdicts of rules that spare what they apply to from the rules below them."""

Flags = npt.NDArray[np.bool_]
Parameters = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of known subjects: bad ones, those caught, good ones, those harmed."""

    bad: int
    caught: int
    good: int
    harmed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Rules for one kind of subject.

    Attributes:
        kept: the campaign's own rules about the kind that are kept, by their place;
            exceptions always are.
        added: new rules, in the order in which they were chosen.
        settings: parameters that they need, by heuristic.
        own: how far the campaign's own rules agree.
        fitted: how far the suggested rules agree with what they were chosen from.
        held_out: how far rules chosen without a fifth of the workers agree with it.
        too_few: why nothing can be said; "" otherwise.
    """

    kind: SubjectKind
    kept: tuple[int, ...] = ()
    added: tuple[PolicyRule, ...] = ()
    settings: Mapping[str, Parameters] = dataclasses.field(default_factory=dict)
    own: Tally | None = None
    fitted: Tally | None = None
    held_out: Tally | None = None
    too_few: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRules:
    """How a campaign judges before anything is suggested.

    Attributes:
        rules: its policy, about all kinds.
        settings: its parameters.
        stated: the part of them that a file states, and a suggestion repeats; `None`: all.
        seed: the campaign's.
        earlier: what was suggested for other kinds, which stays as it is.
    """

    rules: Sequence[PolicyRule]
    settings: Settings
    stated: Settings | None = None
    seed: int
    earlier: Sequence[Suggestion] = ()

    def values(self, heuristic: str) -> tuple[Parameters, Parameters]:
        """Return a heuristic's parameters, and those of them that a suggestion repeats."""
        own = self.settings.get(heuristic) or {}
        return own, own if self.stated is None else self.stated.get(heuristic) or {}

    def fixed(self, kind: SubjectKind) -> dict[str, Parameters | None]:
        """Return the parameters of heuristics that rules about other kinds use, as `_stated`."""
        fixed = dict[str, Parameters | None]()
        for rule in self.rules:
            if rule.subject_kind != kind:
                fixed |= dict.fromkeys(_used(rule))
        for suggestion in self.earlier:
            for rule in suggestion.added:
                fixed |= dict.fromkeys(_used(rule))
            fixed |= suggestion.settings
        return fixed


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A rule with the parameters that it needs, and which known subjects it sets aside."""

    rule: PolicyRule
    flags: Flags
    settings: tuple[tuple[str, Parameters], ...] = ()
    own: int = -1

    @property
    def is_exception(self) -> bool:
        """Whether it sets nothing aside, but spares what it applies to."""
        return self.rule.then in _EXCEPTIONS


def suggest(
    table: pd.DataFrame,
    *,
    kind: SubjectKind,
    is_bad: Mapping[str, bool],
    campaign: OwnRules,
    most_harmed: float,
    only: Collection[str] | None = None,
) -> Suggestion:
    """Return rules about answers or workers that agree best with what is known.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        kind: of the known subjects; answer or worker.
        is_bad: by id, whether the subject is known to be bad.
        campaign: its own rules and parameters.
        most_harmed: the share of good subjects that the rules may harm.
        only: heuristics to choose from; by default, all.
    """
    worker_of = dict(zip(table.index, table["worker_id"], strict=True))
    ids = [name for name in is_bad if kind == "worker" or name in worker_of]
    bad = np.array([is_bad[name] for name in ids], dtype="bool")
    workers = [name if kind == "worker" else str(worker_of[name]) for name in ids]
    if fault := _too_few(bad, workers, kind):
        return Suggestion(kind=kind, too_few=fault)
    own, candidates, refused = _candidates(table, kind, ids, campaign, only)
    fixed = campaign.fixed(kind)
    folds = np.array([zlib.crc32(f"{campaign.seed} {name}".encode()) % FOLDS for name in workers])
    whole = np.ones(len(ids), dtype="bool")
    chosen = _chosen(own, candidates, bad, whole, most_harmed, refused, fixed)
    held_out = refused.copy()
    for fold in range(FOLDS):
        away = folds == fold
        for candidate in _chosen(own, candidates, bad, ~away, most_harmed, refused, fixed):
            held_out[away] |= candidate.flags[away]
    return Suggestion(
        kind=kind,
        kept=tuple(candidate.own for candidate in chosen if candidate.own >= 0),
        added=tuple(candidate.rule for candidate in chosen if candidate.own < 0),
        settings={name: values for each in chosen for name, values in each.settings},
        own=_tally(_union(own, refused), bad),
        fitted=_tally(_union(chosen, refused), bad),
        held_out=_tally(held_out, bad),
    )


def _too_few(bad: Flags, workers: Sequence[str], kind: SubjectKind) -> str:
    n_bad, n_good = int(bad.sum()), int((~bad).sum())
    of_bad = len({name for name, is_bad in zip(workers, bad.tolist(), strict=True) if is_bad})
    if n_bad >= LEAST_BAD and n_good >= LEAST_GOOD and of_bad >= LEAST_WORKERS:
        return ""
    return (
        f"too few decisions to say: {n_bad:,} bad and {n_good:,} good {kind}s are known, of "
        f"{of_bad:,} workers with bad work; at least {LEAST_BAD}, {LEAST_GOOD} and "
        f"{LEAST_WORKERS} are needed"
    )


def _chosen(
    own: Sequence[_Candidate],
    candidates: Sequence[_Candidate],
    bad: Flags,
    known: Flags,
    most_harmed: float,
    refused: Flags,
    fixed: Mapping[str, Parameters | None],
) -> list[_Candidate]:
    """Choose from what is known, one rule after the other."""
    n_bad = int((bad & known).sum())
    allowed = most_harmed * int((~bad & known).sum())
    flagged = _union(own, refused)
    are_kept = int((flagged & ~bad & known).sum()) <= allowed
    chosen = [each for each in own if are_kept or each.is_exception]
    pool = [*(each for each in own if each not in chosen), *candidates]
    flagged = _union(chosen, refused)
    stated = {**fixed, **_stated(chosen)}
    least = max(_LEAST_GAIN, _LEAST_SHARE * n_bad)
    weight = _HARM_WEIGHS * n_bad / max(allowed, 1.0)
    while len(chosen) < len(own) + _MOST_RULES:
        best: tuple[float, int] | None = None
        for place, candidate in enumerate(pool):
            fresh = candidate.flags & ~flagged & known
            gain, harm = int((fresh & bad).sum()), int((fresh & ~bad).sum())
            total = int(((flagged | candidate.flags) & ~bad & known).sum())
            if gain < least or total > allowed or _clashes(candidate, stated):
                continue
            score = gain - weight * harm
            # Of equal candidates the first is taken: own parameters come first.
            if score > 0 and (best is None or score > best[0]):
                best = (score, place)
        if best is None:
            return chosen
        taken = pool[best[1]]
        chosen.append(taken)
        flagged = flagged | taken.flags
        stated |= _stated([taken])
    return chosen


def _stated(chosen: Sequence[_Candidate]) -> dict[str, Parameters | None]:
    """By heuristic, the parameters that the chosen rules need; `None`: the campaign's."""
    stated: dict[str, Parameters | None] = {}
    for candidate in chosen:
        stated |= dict.fromkeys(_used(candidate.rule)) | dict(candidate.settings)
    return stated


def _used(rule: PolicyRule) -> tuple[str, ...]:
    """Return the heuristics on whose parameters it depends to whom a rule applies."""
    return rule.any_of if rule.suspicion_above is None else (*OF_ANSWERS, *OF_WORKERS)


def _clashes(candidate: _Candidate, stated: Mapping[str, Parameters | None]) -> bool:
    """Whether it needs other parameters of a heuristic than a chosen rule does."""
    own = dict(candidate.settings)
    return any(name in stated and stated[name] != own.get(name) for name in _used(candidate.rule))


def _union(chosen: Sequence[_Candidate], refused: Flags) -> Flags:
    flagged = refused.copy()
    for candidate in chosen:
        flagged |= candidate.flags
    return flagged


def _tally(flagged: Flags, bad: Flags) -> Tally:
    return Tally(
        bad=int(bad.sum()),
        caught=int((flagged & bad).sum()),
        good=int((~bad).sum()),
        harmed=int((flagged & ~bad).sum()),
    )


def _candidates(
    table: pd.DataFrame,
    kind: SubjectKind,
    ids: Sequence[str],
    campaign: OwnRules,
    only: Collection[str] | None,
) -> tuple[list[_Candidate], list[_Candidate], Flags]:
    """Return the campaign's own rules about the kind, all others, and what is refused.

    An answer is refused with its assignment, whatever rules about answers say.
    """
    table, settings, rules = with_text_fit(table), campaign.settings, campaign.rules
    able = [
        heuristic
        for heuristic in HEURISTICS
        if settings.get(heuristic.NAME, {}) is not None and (only is None or heuristic.NAME in only)
    ]
    usable = [heuristic for heuristic in able if heuristic.NAME != RANDOM_SAMPLE]
    # A heuristic that is off unless it is named may be named by a suggestion.
    named = {name: settings.get(name) or {} for name in (each.NAME for each in able)}
    off: dict[str, Parameters | None] = dict.fromkeys(each.NAME for each in HEURISTICS)
    scored = scores(table, {**off, **named}, seed=campaign.seed)
    findings = [finding for each in able for finding in findings_of(each, scored[each.NAME])]
    scores_now = {name: rows for name, rows in scored.items() if is_on(name, settings)}
    findings += [
        finding for finding in joined.findings(table, scores_now) if finding.heuristic == JOINED
    ]
    places = [place for place, rule in enumerate(rules) if rule.subject_kind == kind]
    mine = [rules[place] for place in places]
    set_aside, spared = _in_force(table, findings, mine)
    own = [
        _Candidate(rule=rule, flags=_of(ids, subjects), own=place)
        for place, rule, subjects in zip(places, mine, set_aside, strict=True)
    ]
    plain = [*_rules(kind, [each.NAME for each in usable])]
    others = [
        _Candidate(rule=rule, flags=flags, settings=_needed(rule, settings))
        for rule, flags in zip(plain, _flags(table, findings, plain, ids, spared), strict=True)
    ]
    for heuristic in usable:
        others += _varied(table, kind, ids, heuristic, campaign, spared)
    refused = np.zeros(len(ids), dtype="bool")
    if kind == "answer":
        about_work = [rule for rule in rules if rule.subject_kind == "assignment"]
        rejected = frozenset[str]().union(*_in_force(table, findings, about_work)[0])
        out = frozenset(table.index[table["assignment_id"].isin(rejected)])
        refused = _of(ids, out)
    return own, [candidate for candidate in others if candidate.flags.any()], refused


def _needed(rule: PolicyRule, settings: Settings) -> tuple[tuple[str, Parameters], ...]:
    """Return tables that switch on what is off by default."""
    return tuple(
        (name, {}) for name in rule.any_of if name in OFF_BY_DEFAULT and name not in settings
    )


def _rules(kind: SubjectKind, names: Sequence[str]) -> Iterator[PolicyRule]:
    for name in names:
        yield from _rules_about(kind, (name,))
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            yield from _rules_about(kind, (first, second))
    for suspicion in _SUSPICIONS:
        yield PolicyRule(
            subject_kind=kind,
            any_of=(),
            suspicion_above=suspicion,
            then=_then(kind),
            because=_BECAUSE[kind],
        )


def _rules_about(kind: SubjectKind, names: tuple[str, ...]) -> Iterator[PolicyRule]:
    for share in _SHARES if kind == "worker" else (0.0,):
        yield PolicyRule(
            subject_kind=kind,
            any_of=names,
            at_least=len(names),
            share=share,
            then=_then(kind),
            because=_BECAUSE[kind],
        )


def _then(kind: SubjectKind) -> Any:  # noqa: ANN401 - a verdict that fits the kind
    return "exclude" if kind == "worker" else "drop"


def _varied(
    table: pd.DataFrame,
    kind: SubjectKind,
    ids: Sequence[str],
    heuristic: Heuristic,
    campaign: OwnRules,
    spared: frozenset[str],
) -> Iterator[_Candidate]:
    """Yield rules about a heuristic with one other parameter each."""
    rules = [*_rules_about(kind, (heuristic.NAME,))]
    own, repeated = campaign.values(heuristic.NAME)
    usual = params_of(heuristic, {heuristic.NAME: own}, seed=campaign.seed)
    for changed in _other_values(heuristic, usual):
        values = {**own, **changed}
        if parameters.read_parameters(heuristic.Params, values, where="")[1]:
            continue
        params = params_of(heuristic, {heuristic.NAME: values}, seed=campaign.seed)
        findings = [*findings_of(heuristic, heuristic.score(table, params))]
        needed = ((heuristic.NAME, {**repeated, **changed}),)
        for rule, flags in zip(rules, _flags(table, findings, rules, ids, spared), strict=True):
            yield _Candidate(rule=rule, flags=flags, settings=needed)


def _other_values(heuristic: Heuristic, usual: object) -> Iterator[Parameters]:
    for field in dataclasses.fields(heuristic.Params):
        value = getattr(usual, field.name)
        if isinstance(value, bool) or not isinstance(value, int | float) or field.name == "seed":
            continue
        seen = {value}
        for factor in _FACTORS:
            other = type(value)(round(value * factor, 3))
            if other not in seen:
                seen.add(other)
                yield {field.name: other}


def _in_force(
    table: pd.DataFrame, findings: Sequence[Finding], rules: Sequence[PolicyRule]
) -> tuple[list[frozenset[str]], frozenset[str]]:
    """Return the subjects that each rule of one kind sets aside, and those of all exceptions.

    The first rule that applies decides, so an exception spares from the rules below it.
    """
    set_aside, spared = [], frozenset[str]()
    for rule, subjects in zip(rules, applies_to(table, findings, rules), strict=True):
        is_exception = rule.then in _EXCEPTIONS
        set_aside.append(frozenset[str]() if is_exception else subjects - spared)
        spared |= subjects if is_exception else frozenset()
    return set_aside, spared


def _flags(
    table: pd.DataFrame,
    findings: Sequence[Finding],
    rules: Sequence[PolicyRule],
    ids: Sequence[str],
    spared: frozenset[str],
) -> Iterator[Flags]:
    """Yield which subjects each rule sets aside if it stands below all exceptions."""
    for subjects in applies_to(table, findings, rules):
        yield _of(ids, subjects - spared)


def _of(ids: Sequence[str], subjects: frozenset[str]) -> Flags:
    return np.fromiter((name in subjects for name in ids), "bool", len(ids))
