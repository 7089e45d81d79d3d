"""Offer Prolific's filters to requesters, as qualification types of the marketplace.

The type of the filter `first-language` is `PROLIFICFIRSTLANGUAGE`. Its values are the
numbers of Prolific's choices, or the ends of a range.
"""

from piecework.marketplace.state import qualification_types
from piecework.marketplace.state.qualification_types import OutsideType
from piecework.markets.prolific.bridge.bridge import LOG, Bridge
from piecework.markets.prolific.bridge.requirements import APART, type_id_of
from piecework.markets.prolific.bridge.terms import NAME
from piecework.markets.prolific.resources.recruiting import FilterKind

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
    LOG.info("%d of Prolific's filters can be required", len(offered))


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
