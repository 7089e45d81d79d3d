"""The reasons of a policy: filled from measurements, and claiming no more than those.

A rule's reason may hold placeholders, which each decision fills: `{evidence}` with the
evidence of the flags that made the rule apply, the most suspicious first; `{flagged}`
and `{answers}` with how many of the subject's answers are flagged and how many there
are, in the batch that is judged; `{share}` with the first divided by the second. The
text outside placeholders is the same for every subject, so it must not say what differs
between them.
"""

import re
from collections.abc import Iterable, Iterator
from string import Formatter

from piecework.domain.text import share
from piecework.domain.verdicts import (
    BELOW,
    PAID_BEFORE,
    REJECTED_WITH,
    PolicyRule,
    SubjectKind,
    Verdict,
)
from piecework.qc.registry import BY_NAME, Heuristic

EVIDENCE = "evidence"
COUNTS = ("flagged", "answers", "share")

GAP = "…"
"""Replaces a placeholder when reasons are counted."""

MOST_QUOTED = 3
"""The most pieces of evidence that a reason quotes; a worker does not read fifty."""

_WHOLE = frozenset({"every", "all", "each", "always"})
_AMOUNTS = re.compile(
    r"\b(?:every\w*|(?<!at )(?<!after )all(?! the same)|each|always|never|none"
    r"|nobody(?: else)?|no one|only|most(?:ly)?|majority|half|thirds?|quarters?"
    r"|(?:one|two|three|four) in \w+|\d+(?:[.,]\d+)?\s*%?)(?!\w)",
    re.IGNORECASE,
)
_NUMBERS = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
}
_ONE_TEXT = re.compile(r"\b(?:same|one) (?:sentence|text|answer)", re.IGNORECASE)
_MINDS = re.compile(
    r"\b(?:cheat\w*|fraud\w*|bots?|spam\w*|lazy|lazily|careless\w*|dishonest\w*"
    r"|lie[ds]?|lying|on purpose|(?:did|do|does|has|have) not (?:look|read|try|care)\w*"
    r"|without (?:looking|reading|regard)\b.*?)(?!\w)",
    re.IGNORECASE,
)
_THE_HIT = re.compile(r"\b(?:hits?|assignments?)\b", re.IGNORECASE)


def filled_reason(
    rule: PolicyRule,
    evidence: Iterable[tuple[float, str]],
    *,
    flagged: int,
    answers: int,
    longest: int,
) -> str:
    """Return the printable reason of one decision, with its evidence cut to fit.

    Args:
        rule: of the policy.
        evidence: suspicion and sentence of each flag that made the rule apply.
        flagged: how many of the subject's judged answers are flagged.
        answers: how many answers of the subject are judged.
        longest: how many characters the platform accepts.
    """
    if "{" not in rule.because:
        return rule.because
    worst = sorted({*evidence}, key=lambda flag: (-flag[0], flag[1]))
    quoted = list(dict.fromkeys(sentence for _, sentence in worst if sentence))
    amounts = {"flagged": str(flagged), "answers": str(answers), "share": share(flagged, answers)}
    bare = rule.because.format(**amounts, evidence="")
    room = longest - len(bare)
    joined = "; ".join(quoted[:MOST_QUOTED])
    joined = "".join(sign if sign.isprintable() else "?" for sign in joined)
    if len(joined) > room:
        joined = joined[: max(room - 1, 0)] + "…"
    return rule.because.format(**amounts, evidence=joined)


def stated(
    because: str, rules: Iterable[PolicyRule], subject_kind: SubjectKind, verdict: Verdict
) -> str:
    """Return a filled reason as its rule states it, with `…` for each placeholder.

    A reason that matches no rule about this kind of subject, with this verdict, is returned
    as is. Of several that match, the one with most text outside placeholders is taken.

    >>> from piecework.domain.verdicts import PolicyRule
    >>> rule = PolicyRule(subject_kind="answer", any_of=("capitals",), then="drop",
    ...     because="Set aside: {evidence}.")
    >>> filled = "Set aside: has 90.0 % of its characters in capitals."
    >>> stated(filled, [rule], "answer", "drop")
    'Set aside: ….'
    """
    for begin in (REJECTED_WITH, PAID_BEFORE):
        if because.startswith(begin):
            rest = because.removeprefix(begin)
            return begin + stated(rest, rules, "assignment", "reject")
    able = [rule for rule in rules if (rule.subject_kind, rule.then) == (subject_kind, verdict)]
    if any(rule.because == because for rule in able):
        return because
    filled = [rule for rule in able if "{" in rule.because]
    for rule in sorted(filled, key=lambda rule: -sum(len(text) for text, _ in _parts(rule))):
        pattern = "".join(
            re.escape(text) + ("" if field is None else ".*") for text, field in _parts(rule)
        )
        if re.fullmatch(pattern, because, re.DOTALL):
            return without_evidence(rule)
    return because


def _parts(rule: PolicyRule) -> list[tuple[str, str | None]]:
    """The texts of a rule's reason, each with the placeholder after it."""
    return [(text, field) for text, field, *_ in Formatter().parse(rule.because)]


def without_evidence(rule: PolicyRule) -> str:
    """Return a rule's reason with `…` for each placeholder."""
    return re.sub(r"\{[^{}]*\}", GAP, rule.because)


def faults_of_reason(rule: PolicyRule) -> Iterator[str]:
    """Yield a sentence for each claim of a reason that its heuristics do not measure.

    Only English words are checked.
    """
    if not rule.because.strip():
        yield "because is empty; state the reason that is logged with each decision."
        return
    try:
        fields = [field for _, field, *_ in Formatter().parse(rule.because) if field is not None]
    except ValueError as error:
        yield f"because has a brace too many or too few ({error})."
        return
    unknown = [field for field in fields if field not in {EVIDENCE, *COUNTS}]
    if unknown:
        yield (
            f"because has the unknown placeholder {{{unknown[0]}}}; allowed are "
            f"{{evidence}}, {{flagged}}, {{answers}} and {{share}}."
        )
    yield from _faults_of_counts(rule, {*fields})
    if rule.then == "reject" and EVIDENCE not in fields:
        yield ("because refuses pay without saying what was measured; add {evidence}.")
    alone = sorted(
        heuristic.NAME for heuristic in _heuristics(rule) if not heuristic.FACTS.may_reject_alone
    )
    if rule.then == "reject" and alone and rule.at_least == 1:
        yield (
            f"{alone[0]} alone must not refuse pay: honest workers do what it flags; "
            'set at_least = 2, or then = "drop".'
        )
    of_writing = sorted({each.NAME for each in _heuristics(rule) if each.FACTS.is_of_writing})
    if rule.then == "reject" and 1 < rule.at_least <= len(of_writing):
        yield (
            f"{' and '.join(of_writing)} together must not refuse pay: they look at "
            "how a text was written, not at what it says; raise at_least above "
            f'{len(of_writing)}, or set then = "drop".'
        )
    yield from _beyond(rule)


def _faults_of_counts(rule: PolicyRule, fields: set[str]) -> Iterator[str]:
    if rule.subject_kind == "answer" and fields & {*COUNTS}:
        yield (
            "because counts answers, but the rule is about a single answer; only "
            "{evidence} is allowed."
        )
    elif fields & {"flagged", "share"} and not _counts_flags(rule):
        yield (
            f"because counts flagged answers, but {_names(rule)} may flag none; write {{evidence}}."
        )


def _beyond(rule: PolicyRule) -> Iterator[str]:
    wording = re.sub(r"\{[^{}]*\}", "", rule.because)
    backed = [heuristic.FACTS.amounts for heuristic in _heuristics(rule)]
    common = frozenset.intersection(*backed) if backed else frozenset()
    allowed = "{evidence}, or {flagged} of {answers}" if _counts_flags(rule) else "{evidence}"
    for amount in _AMOUNTS.finditer(wording):
        word = amount[0].lower()
        if word not in common and not _is_share(word, wording, rule):
            yield (
                f"because says {amount[0]!r}, which {_names(rule)} does not measure "
                f"for every subject; write {allowed}."
            )
            return
    if match := _MINDS.search(wording):
        yield (
            f"because says {match[0]!r}, which no heuristic measures; state what was "
            "seen, {evidence}, not what a worker intended."
        )
    of_hits = all(heuristic.SUBJECT == "assignment" for heuristic in _heuristics(rule))
    if (match := _THE_HIT.search(wording)) and not of_hits and "hit" not in common:
        yield (f"because mentions the {match[0]}, but {_names(rule)} measures answers or workers.")


def _is_share(word: str, wording: str, rule: PolicyRule) -> bool:
    """Whether a rule's least share of flagged answers supports a word of amount.

    Even if each answer was flagged for repeating, they need not all be one text.
    """
    if any(heuristic.SUBJECT != "answer" for heuristic in _heuristics(rule)):
        return False
    part, _, whole = word.partition(" in ")
    if part in _NUMBERS and whole in _NUMBERS:
        return rule.share >= _NUMBERS[part] / _NUMBERS[whole]
    return word in _WHOLE and rule.share == 1 and not _ONE_TEXT.search(wording)


def without_answers(rule: PolicyRule) -> list[str]:
    """Return the rule's heuristics that flag no answers of its subject, sorted by name."""
    below = BELOW.get(rule.subject_kind, ())
    return sorted({each.NAME for each in _heuristics(rule) if each.SUBJECT not in below})


def _counts_flags(rule: PolicyRule) -> bool:
    """Whether each subject to which the rule applies has a flagged answer to count."""
    return bool(rule.any_of) and len(without_answers(rule)) < rule.at_least


def _heuristics(rule: PolicyRule) -> list[Heuristic]:
    """A rule's heuristics that exist; an unknown name is a separate fault."""
    return [BY_NAME[name] for name in rule.any_of if name in BY_NAME]


def _names(rule: PolicyRule) -> str:
    return " or ".join(rule.any_of) or "the joined suspicion"
