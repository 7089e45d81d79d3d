"""Which qualification types Prolific's filters stand for, and what they ask.

A country's code is MTurk's; Prolific has numbers of its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from piecework.foundation.client.errors import Unusable
from piecework.marketplace.state import qualification_types
from piecework.marketplace.state import qualification_types as system
from piecework.marketplace.state.qualification_types import OutsideType
from piecework.markets.bridging.studies import own_requirements
from piecework.markets.prolific.bridge.bridge import LOG, NAME, Bridge
from piecework.markets.prolific.resources.recruiting import (
    FILTER_SYNONYMS,
    Choice,
    Combined,
    Filter,
    FilterKind,
    Range,
    filters_meant,
)

_LONGEST_ID = 64
_LONGEST_TEXT = 2000
_RANGES = ("integer", "float")


def offer(bridge: Bridge) -> None:
    """Read Prolific's filters and offer them; once in a process."""
    if bridge.filter_kinds:
        return
    kinds = bridge.prolific.recruiting.filter_kinds(bridge.terms.workspace_id)
    by_id = {kind.id: kind for kind in kinds}
    offered = [_filter(kind) for kind in by_id.values() if _is_offered(kind)]
    with bridge.backend.transaction() as transaction:
        qualification_types.keep_outside_types(transaction, NAME, offered)
    bridge.filter_kinds = by_id
    LOG.info(
        "Prolific has %d filters: [prolific] takes %d of them as requirements, and the lists of "
        "people too; [requirements] has approvals and countries",
        len(by_id),
        len(offered),
    )


def _is_offered(kind: FilterKind) -> bool:
    if kind.id in APART or len(type_id_of(kind.id)) > _LONGEST_ID:
        return False
    if kind.type == "range":
        return kind.data_type in _RANGES
    return kind.data_type == "ChoiceID" and all(map(str.isdecimal, kind.choices))


def _filter(kind: FilterKind) -> OutsideType:
    if kind.type == "range":
        ends = [f"{end:g}" for end in (kind.least, kind.most) if end is not None]
        values = f"a number from {' to '.join(ends)}" if ends else "a number"
    else:
        values = ", ".join(f"{number} {name}" for number, name in kind.choices.items())
    text = f"Prolific's filter {kind.id}: {values}"
    if len(text) > _LONGEST_TEXT:
        text = f"{text[: _LONGEST_TEXT - 1]}…"
    return OutsideType(
        type_id=type_id_of(kind.id),
        name=f"Prolific: {kind.title or kind.id}"[:200],
        description=text,
    )


COUNTRY = "current-country-of-residence"


def choices_of(kind: FilterKind) -> Mapping[str, str]:
    """Return Prolific's choice for each country, by two-letter code.

    Countries are matched by name, because Prolific numbers them in its own way.
    """
    import pycountry  # noqa: PLC0415 - an extra; the commands check for it

    by_name = {str(name).casefold(): choice for choice, name in kind.choices.items()}
    choices = {}
    for country in pycountry.countries:
        for words in ("name", "common_name", "official_name"):
            choice = by_name.get(getattr(country, words, "").casefold())
            if choice is not None:
                choices[country.alpha_2] = choice
                break
    return choices


APPROVALS = "approval_numbers"
APPROVAL_RATE = "approval_rate"
LET_IN = "participant_group_allowlist"
KEPT_OUT = "participant_group_blocklist"

PREFIX = "PROLIFIC"
"""How the id of a qualification type begins that stands for a filter of Prolific's."""

_RANGE_FILTERS = {system.NUMBER_APPROVED: APPROVALS, system.PERCENT_APPROVED: APPROVAL_RATE}

APART = frozenset({APPROVALS, APPROVAL_RATE, COUNTRY, LET_IN, KEPT_OUT})
"""Filters that other requirements stand for."""

_MOST = {APPROVAL_RATE: 100}

_Span = tuple[int | None, int | None]

Requirement = Mapping[str, Any]


def type_id_of(filter_id: str) -> str:
    """Return the id of the qualification type that stands for a filter.

    MTurk's ids have only capitals and digits.

    >>> type_id_of("first-language")
    'PROLIFICFIRSTLANGUAGE'
    """
    return PREFIX + "".join(filter(str.isalnum, filter_id.upper()))


def custom(requirements: Sequence[Requirement]) -> list[dict[str, Any]]:
    """Return the requirements on a requester's own types."""
    return own_requirements(requirements, but=PREFIX)


def filters_of(
    requirements: Sequence[Requirement], offered: Mapping[str, FilterKind]
) -> list[Filter]:
    """Return the filters for the requirements that Prolific supports.

    Raises:
        Unusable: a filter is not supported; the message says which.
    """
    filters: list[Filter] = []
    for requirement in requirements:
        type_id = requirement["QualificationTypeId"]
        if type_id.startswith(PREFIX):
            filters += _named_filter(requirement, offered)
        elif type_id in _RANGE_FILTERS:
            filters.append(_range(requirement, _RANGE_FILTERS[type_id]))
        elif type_id == system.LOCALE:
            filters.append(_country(requirement, offered))
        elif type_id in system.MASTERS:
            raise Unusable("Prolific has no Masters qualification; leave out that requirement")
        # Adult content is allowed: all participants at Prolific are at least 18.
    for each in names_of(filters):
        if each not in offered:
            raise Unusable(f"Prolific does not offer the filter {each} in this workspace")
    return _joined(filters)


def _named_filter(requirement: Requirement, offered: Mapping[str, FilterKind]) -> list[Filter]:
    """Return what a requirement on one of Prolific's filters asks for."""
    type_id, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    kinds = {type_id_of(kind.id): kind for kind in offered.values()}
    if type_id not in kinds:
        raise _not_offered(type_id, [*offered.values()])
    kind = kinds[type_id]
    filter_id = kind.id
    if comparator == "Exists":
        return []
    if comparator == "DoesNotExist":
        raise Unusable(f"Prolific cannot find participants without an answer to {filter_id}")
    values = requirement["IntegerValues"]
    if kind.type == "range":
        _check_ends(kind, values)
        return [_range(requirement, filter_id)]
    return [_choice(filter_id, kind, comparator, [str(value) for value in values])]


def _not_offered(type_id: str, kinds: Sequence[FilterKind]) -> Unusable:
    """Return the error for a filter that is not there, by the key that a campaign writes."""
    by_type = {type_id_of(filter_id): filter_id for filter_id in FILTER_SYNONYMS}
    name = by_type.get(type_id, type_id.removeprefix(PREFIX).lower())
    others = FILTER_SYNONYMS.get(name, "").split()
    return Unusable(
        f"Prolific offers no filter {name} ({type_id}) in this workspace"
        f"{filters_meant([name, *others], kinds)}",
        next_step="piecework market prolific filters lists all, each as [prolific] takes it",
    )


def _choice(filter_id: str, kind: FilterKind, comparator: str, values: Sequence[str]) -> Filter:
    unknown = sorted(set(values) - set(kind.choices))
    if unknown:
        raise Unusable(
            f"Prolific's filter {filter_id} has no choice {', '.join(unknown)}; "
            f"`piecework market prolific filters {filter_id}` lists them"
        )
    if comparator in ("EqualTo", "In"):
        chosen = set(values)
    elif comparator in ("NotEqualTo", "NotIn"):
        chosen = set(kind.choices) - set(values)
    else:
        raise Unusable(
            f"Prolific's filter {filter_id} has choices without an order, so "
            f"{comparator} says nothing; use In"
        )
    if not chosen:
        raise Unusable(f"no participant can meet {filter_id} {comparator} {values}")
    return Choice(filter_id=filter_id, values=tuple(sorted(chosen)))


def _check_ends(kind: FilterKind, values: Sequence[int]) -> None:
    least, most = (end if isinstance(end, float) else None for end in (kind.least, kind.most))
    for value in values:
        if (least is not None and value < least) or (most is not None and value > most):
            ends = " ".join(
                f"{word} {end:g}"
                for word, end in (("from", least), ("to", most))
                if end is not None
            )
            raise Unusable(f"Prolific's filter {kind.id} is {ends}, not {value}")


def _joined(filters: Sequence[Filter]) -> list[Filter]:
    """Join plain ranges of the same filter: from 18, and to 40.

    Raises:
        Unusable: no value is in all ranges of a filter.
    """
    ranges: dict[str, list[Range]] = {}
    others: list[Filter] = []
    for each in filters:
        if isinstance(each, Range):
            ranges.setdefault(each.filter_id, []).append(each)
        else:
            others.append(each)
    return [*others, *(_overlap(same) for same in ranges.values())]


def _overlap(ranges: Sequence[Range]) -> Range:
    lowers = [each.lower for each in ranges if isinstance(each.lower, int)]
    uppers = [each.upper for each in ranges if isinstance(each.upper, int)]
    lower, upper = max(lowers, default=None), min(uppers, default=None)
    filter_id = ranges[0].filter_id
    if lower is not None and upper is not None and lower > upper:
        raise Unusable(f"no participant can meet {filter_id} from {lower} to {upper}")
    return Range(filter_id=filter_id, lower=lower, upper=upper)


def _range(requirement: Requirement, filter_id: str) -> Filter:
    comparator = requirement["Comparator"]
    values = sorted(requirement.get("IntegerValues", ()))
    spans: list[_Span]
    if comparator in ("EqualTo", "In"):
        spans = [(value, value) for value in values]
    elif comparator in ("NotEqualTo", "NotIn"):
        spans = _around(values)
    elif comparator == "Exists":
        spans = [(0, None)]  # Every participant has a number of approvals, even if it is 0.
    elif comparator == "DoesNotExist":
        spans = []
    else:
        spans = [_half(comparator, values[0])]
    most = _MOST.get(filter_id)
    ranges = [
        Range(filter_id=filter_id, lower=low, upper=high)
        for low, high in (_within(span, most) for span in spans)
        if (low or 0) <= (low or 0 if high is None else high)
    ]
    if not ranges:
        raise Unusable(f"no participant can meet {filter_id} {comparator} {values}")
    return ranges[0] if len(ranges) == 1 else Combined(by="or", filters=ranges)


def _within(span: _Span, most: int | None) -> _Span:
    """Cut a span at the highest possible value; empty if all of it is above."""
    low, high = span
    if most is None or (low or 0) <= most >= (high or 0):
        return span
    return (low or 0, -1) if (low or 0) > most else (low or 0, most)


def _half(comparator: str, value: int) -> _Span:
    return {
        "LessThan": (None, value - 1),
        "LessThanOrEqualTo": (None, value),
        "GreaterThan": (value + 1, None),
        "GreaterThanOrEqualTo": (value, None),
    }[comparator]


def _around(values: Sequence[int]) -> list[_Span]:
    lows = [None, *(value + 1 for value in values)]
    highs = [*(value - 1 for value in values), None]
    return list(zip(lows, highs, strict=True))


def _country(requirement: Requirement, offered: Mapping[str, FilterKind]) -> Filter:
    locales = requirement.get("LocaleValues", ())
    if any("Subdivision" in locale for locale in locales):
        raise Unusable("Prolific filters by country, not by state; use countries only")
    if COUNTRY not in offered:
        raise Unusable(f"Prolific does not offer the filter {COUNTRY} in this workspace")
    named = [locale["Country"] for locale in locales]
    choices = choices_of(offered[COUNTRY])
    unknown = sorted(set(named) - set(choices))
    if unknown:
        raise Unusable(f"Prolific's list has no country {', '.join(unknown)}")
    among = {choices[country] for country in named}
    if requirement["Comparator"] in ("NotEqualTo", "NotIn", "Exists"):
        among = set(offered[COUNTRY].choices) - among
    if not among:
        raise Unusable(f"no participant can meet {COUNTRY} {requirement['Comparator']}")
    return Choice(filter_id=COUNTRY, values=tuple(sorted(among)))


def names_of(filters: Sequence[Filter]) -> list[str]:
    """Return the names of all filters, also of combined ones."""
    names = []
    for each in filters:
        names += names_of(each.filters) if isinstance(each, Combined) else [each.filter_id]
    return names
