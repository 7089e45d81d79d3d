"""Several items on one page: numbers tell their placeholders and fields apart.

On MTurk, a row had the columns `image1` to `image5`, the page `${image1}` to `${image5}` and
the fields `caption1` to `caption5`. Here a row is one item with the column `image`, and the
answer to each item has the field `caption`. A page whose items have the numbered columns
themselves shows one item, as on MTurk.

A HIT may have fewer items than the page has room for, after an uneven division or when only
some answers are asked for again. Then the parts of the page about the others are left out.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from piecework.domain.column_names import MEASURES, PLAYED
from piecework.domain.errors import ConfigError
from piecework.domain.ids import ItemId
from piecework.hit_templates.own_html.control_kinds import Control
from piecework.hit_templates.own_html.placeholders import MARKS, Template, number_of_mark

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_SLOT = "\0"
"""Stands for the number in a name."""

_RUN = re.compile(r"[0-9]{1,4}")
_APART = re.compile(r"([\s_.-]+)")
ADDED = re.compile(rf"({'|'.join(('item', *MEASURES, PLAYED))})\.([1-9][0-9]?)")
"""Names that piecework's script adds to what a page sends."""

_HAS_HTML = re.compile(r"<(?:html|head|body)\b", re.IGNORECASE)

MOST_ITEMS = 50
"""As many as `items_per_hit` may state."""

_Series = dict[str, dict[int, str]]
"""Names by their number, by the name with a slot in place of its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What the numbers of a page's placeholders say.

    Attributes:
        total: how many items the page shows.
        columns: the items' column and the position, by placeholder.
        shared: columns without a number, so the same for all items of a HIT.
        ends: the placeholders of the first and of the last item, as the page has them.
        is_loop: whether a loop on the page made them.
    """

    total: int
    columns: Mapping[str, tuple[str, int]]
    shared: tuple[str, ...]
    ends: tuple[str, str]
    is_loop: bool = False

    @property
    def shown(self) -> str:
        """What the page shows, for a message."""
        if self.is_loop:
            return f"the page shows {self.total} items in a loop"
        return f"the page shows {self.total} items (${{{self.ends[0]}}} to ${{{self.ends[1]}}})"


def numbers_of(
    template: Template, header: Collection[str] | None, *, is_stated: bool
) -> tuple[Numbers | None, list[str]]:
    """Return how a page shows several items, or `None`; and clauses about what does not fit.

    Args:
        template: the page.
        header: the columns of the items; `None` if they are not known.
        is_stated: whether the campaign file states that a HIT shows several items, which
            decides if the columns are not known.
    """
    known = {_letters(name) for name in header or ()}
    asked = [
        name
        for name in dict.fromkeys((*template.columns, *template.possible_columns))
        if _letters(name) not in known
    ]
    several = {slotted: of for slotted, of in _series(asked).items() if _is_meant(of)}
    if not several or (header is None and not is_stated):
        return None, []
    total = max((len(of) for of in several.values() if _is_whole(of)), default=0)
    placed = _placed(asked, total)
    faults = [
        _gap_fault(of, total)
        for of in several.values()
        if not any(name in placed for name in of.values())
    ]
    if not placed:
        return None, faults
    called = {slotted: _column(slotted, known) for slotted, _ in placed.values()}
    first = next(iter(called))
    ends = sorted(((n, name) for name, (slotted, n) in placed.items() if slotted == first))
    if total > MOST_ITEMS:
        faults.append(f"the page shows {total} items; a HIT may have at most {MOST_ITEMS}")
    shared = tuple(name for name in template.columns if name not in placed)
    if len(shared) > 1 and not faults:
        named = " and ".join(f"${{{name}}}" for name in shared)
        faults.append(
            f"{named} have no number, but only one column can be the same for all items of a "
            f"HIT; write ${{{shared[-1]}1}} to ${{{shared[-1]}{total}}}"
        )
    numbers = Numbers(
        total=total,
        columns={name: (called[slotted], n) for name, (slotted, n) in placed.items()},
        shared=shared,
        ends=(ends[0][1], ends[-1][1]),
    )
    return numbers, faults


def _gap_fault(of: Mapping[int, str], total: int) -> str:
    """Say which placeholder of a series is missing."""
    low = min(1, *of)
    wanted = range(low, low + (total or max(of) + 1 - low))
    some = {**of}
    absent = [_renumbered(some, n) for n in wanted if n not in of]
    have = ", ".join(f"${{{of[n]}}}" for n in sorted(of))
    if not absent:
        return f"has {have}, but {total} of the other placeholders; number both alike"
    lacking = ", ".join(f"${{{name}}}" for name in absent[:_SHOWN])
    return f"has {have}, but no {lacking}; write {'it' if len(absent) == 1 else 'them'} too"


_SHOWN = 5


def _renumbered(of: Mapping[int, str], wanted: int) -> str:
    """Return the name that a series has for another number."""
    number, name = next(iter(of.items()))
    for match in _RUN.finditer(name):
        if int(match[0]) == number and all(
            other[: match.start()] == name[: match.start()] for other in of.values()
        ):
            return f"{name[: match.start()]}{wanted:0{len(match[0])}}{name[match.end() :]}"
    return name


def fields_numbered(
    numbers: Numbers, asked: Sequence[str], once: Collection[str]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return a field's names for item 1, 2, ... by its own name, and what does not fit.

    Args:
        numbers: of the placeholders.
        asked: the names that the page sends, in its order.
        once: names of fields that the campaign file asks once for a HIT.
    """
    names = [name for name in asked if name not in once]
    placed = _placed(names, numbers.total)
    of_items = {column for column, _ in numbers.columns.values()}
    shown = {_RUN.sub("", name) for name in numbers.columns} | of_items
    words = {word.lower() for name in shown for word in (name, *_APART.split(name))}
    series: dict[str, dict[int, str]] = {}
    for name, (slotted, position) in placed.items():
        series.setdefault(slotted, {})[position] = name
    called: dict[str, tuple[str, ...]] = {}
    for slotted, of in series.items():
        parts = [without_number(part, words) for part in slotted.split("|")]
        short = "|".join(parts)
        if short in called:
            short = slotted.replace(_SLOT, "").strip("_.- ")
        called[short] = tuple(of[n] for n in sorted(of))
    faults = [
        f"{numbers.shown}, but its fields are {', '.join(of[n] for n in sorted(of))}; number "
        f"them as the items, or state that they are asked once for the HIT: "
        f'[fields."{next(iter(of.values()))}"] scope = "hit" in a file of fields'
        for of in _series(names).values()
        if _is_meant(of) and not any(name in placed for name in of.values())
    ]
    if names and not placed and not faults:
        faults.append(
            f"{numbers.shown}, but no field has a number; "
            + (
                f'write name="{names[0]}{{{{ forloop.index }}}}"'
                if numbers.is_loop
                else f"name the field of the first item {names[0]}1, that of the second "
                f"{names[0]}2, and so on"
            )
        )
    return called, faults


def merged(controls: Sequence[Control]) -> tuple[Control, list[str]]:
    """Return the control of a field from those for each item, and what differs."""
    first, *others = controls
    faults = [
        f"{other.name} has other answers than {first.name}; give both the same kind of input "
        "and the same options"
        for other in others
        if (other.kind, [*other.options]) != (first.kind, [*first.options])
    ]
    longest = [control.longest for control in controls if control.longest]
    labels = {_RUN.sub("", control.label) for control in controls}
    same = " ".join(labels.pop().split()) if len(labels) == 1 else first.label
    label = re.sub(r"\s+(?=[.,:;?!])", "", same)
    return replace(
        first,
        label=label,
        is_required=all(control.is_required for control in controls),
        longest=max(longest) if len(longest) == len(controls) else None,
    ), faults[:1]


def without_number(slotted: str, words: Collection[str]) -> str:
    r"""Return a name without its number, and without a part that only names the item.

    Args:
        slotted: the name with a slot for its number.
        words: what the page calls an item, in small letters.

    >>> [without_number(name, ()) for name in ("image\0", "image_url_\0", "\0.caption")]
    ['image', 'image_url', 'caption']
    >>> without_number("Q\0_caption", ()), without_number("image\0-caption", {"image"})
    ('caption', 'caption')
    """
    pieces = _APART.split(slotted)
    at = next(n for n, piece in enumerate(pieces) if _SLOT in piece)
    letters = pieces[at].replace(_SLOT, "")
    is_alone = not any(piece for n, piece in enumerate(pieces[::2]) if n * 2 != at)
    if is_alone or (len(letters) > 1 and letters.lower() not in words):
        pieces[at] = letters
    else:
        pieces[at : at + 2] = []
    return "".join(pieces).strip("_.- ") or "answer"


def _column(slotted: str, known: Collection[str]) -> str:
    """Return the column of a placeholder: `image1_url` may be `image_url` or `url`."""
    whole = without_number(slotted, ())
    piece = next(part for part in _APART.split(slotted) if _SLOT in part)
    short = without_number(slotted, {piece.replace(_SLOT, "").lower()})
    return short if _letters(whole) not in known and _letters(short) in known else whole


def is_added(name: str, text: str, item_ids: Sequence[ItemId]) -> bool:
    """Return whether piecework's script sent this in addition to a page's own fields.

    A page may have fields of these names; their values are then joined by `|`.
    """
    match = ADDED.fullmatch(name)
    if match is None or int(match[2]) > len(item_ids):
        return False
    return text == item_ids[int(match[2]) - 1] if match[1] == "item" else text.isdecimal()


def by_position(sent: Mapping[str, object], items: int, room: int) -> dict[int, dict[str, object]]:
    """Divide what a page sent for no field by the items that its numbers name (0: none).

    Args:
        sent: values by the page's names.
        items: how many items the HIT has; the page sends for as many, or for all.
        room: how many items the page has room for.
    """
    if room == 1:
        return {1: dict(sent)} if sent else {}
    placed = {**_placed([*sent], items), **_placed([*sent], room)}
    divided: dict[int, dict[str, object]] = {}
    for name, value in sent.items():
        slotted, position = placed.get(name, (name, 0))
        is_of_item = 1 <= position <= items
        short = without_number(slotted, ()) if is_of_item else name
        part = divided.setdefault(position if is_of_item else 0, {})
        part[name if short in part else short] = value
    return divided


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _readings(name: str) -> list[tuple[str, int]]:
    """Return each number in a name, after the name with a slot in its place.

    A group of radio buttons with several names has its number in all of them.
    """
    readings = []
    names = name.split("|")
    for match in _RUN.finditer(names[0]):
        number = int(match[0])
        slotted = [names[0][: match.start()] + _SLOT + names[0][match.end() :]]
        for other in names[1:]:
            same = (each for each in _RUN.finditer(other) if int(each[0]) == number)
            if (at := next(same, None)) is not None:
                slotted.append(other[: at.start()] + _SLOT + other[at.end() :])
        if len(slotted) == len(names):
            readings.append(("|".join(slotted), number))
    return readings


def _series(names: Iterable[str]) -> _Series:
    series: _Series = {}
    for name in names:
        for slotted, number in _readings(name):
            series.setdefault(slotted, {}).setdefault(number, name)
    return series


def _is_meant(of: Mapping[int, str]) -> bool:
    """Return whether a series may number items; dates and ids do not begin so low."""
    return len(of) > 1 and min(of) < _BEGINS_BELOW


_BEGINS_BELOW = 10


def _is_whole(of: Mapping[int, str]) -> bool:
    """Return whether a series begins with 0 or 1 and has no gap."""
    low = min(of)
    return low in {0, 1} and max(of) - low + 1 == len(of)


def _placed(names: Sequence[str], total: int) -> dict[str, tuple[str, int]]:
    """Return the slotted name and the position of each name that names an item.

    Of several numbers in a name, that of the item is the one that never falls from one name
    of the page to the next: `img1_q1`, `img1_q2`, `img2_q1`.
    """
    whole = {
        slotted: min(of)
        for slotted, of in _series(names).items()
        if len(of) == total > 1 and _is_whole(of)
    }
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_RUN.sub(_SLOT, name), []).append(name)
    placed: dict[str, tuple[str, int]] = {}
    for members in alike.values():
        columns = [*zip(*map(_readings, members), strict=False)]
        ways = [
            [(slotted, number - whole[slotted] + 1) for slotted, number in way]
            for way in columns
            if all(slotted in whole for slotted, _ in way)
        ]
        if ways:
            best = min(ways, key=lambda way: sum(b < a for (_, a), (_, b) in pairwise(way)))
            placed |= dict(zip(members, best, strict=True))
    return placed


# --- fewer items than the page has room for -------------------------------------------
@lru_cache(maxsize=64)
def shortened(template: Template, names: tuple[tuple[str, int], ...], items: int) -> Template:
    """Return the page for fewer items: without the parts about the others.

    An element that holds nothing else goes as a whole. Headings and lines between two
    items go with the second.

    Args:
        template: the page, whose placeholders have positions.
        names: names of controls with their positions.
        items: how many items the HIT has.
    """
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - as in `escaping`

    tree = LexborHTMLParser(template.marked)
    total = max((gap.position for gap in template.gaps), default=0)
    if tree.body is not None:
        try:
            parts = _Parts(template, dict(names), total=total, items=items, body=tree.body)
            parts.prune(tree.body)
        except RecursionError as error:
            raise ConfigError(["the page's markup is nested too deeply"]) from error
    html = tree.html or ""
    if not _HAS_HTML.search(template.texts[0]) and tree.head is not None and tree.body is not None:
        html = f"{tree.head.inner_html or ''}{tree.body.inner_html or ''}"
    left = [number_of_mark(mark) for mark in MARKS.findall(html)]
    return replace(
        template,
        texts=tuple(MARKS.split(html)),
        gaps=tuple(template.gaps[number] for number in left),
    )


_SHARED = frozenset({"script", "style", "link", "template", "form", "crowd-form", "body"})
_ASK = frozenset({"input", "select", "textarea", "button"})
_NAMING = ("name", "id", "for")
_SECOND = 2


class _Parts:
    """The parts of a page about each item."""

    def __init__(
        self,
        template: Template,
        names: Mapping[str, int],
        *,
        total: int,
        items: int,
        body: "LexborNode",
    ) -> None:
        self._gaps = template.gaps
        self._items = items
        self._names = dict(names)
        self._names |= self._labels(body, total)
        self._seen: dict[int, tuple[frozenset[int], bool]] = {}
        self._look(body)

    def _labels(self, body: "LexborNode", total: int) -> dict[str, int]:
        """Return further names and ids with the numbers of items: `<div id="box2">`.

        Those of the second item come after the first begins; examples in the instructions
        may be numbered too.
        """
        order: dict[str, int] = {}
        begins = None
        for at, node in enumerate(body.traverse(include_text=True)):
            texts = (
                [text or "" for text in node.attributes.values()] if node.is_element_node else []
            )
            called = [node.attributes.get(key) or "" for key in _NAMING] if texts else []
            texts += [node.text_content or ""] if node.is_text_node else []
            is_first = any(1 in self._in_text(text) for text in texts)
            if begins is None and (is_first or any(self._names.get(name) == 1 for name in called)):
                begins = at
            for name in filter(None, called):
                order.setdefault(name, at)
        placed = _placed([name for name in order if name not in self._names], total)
        late = {
            slotted
            for name, (slotted, n) in placed.items()
            if n == _SECOND and begins is not None and order[name] > begins
        }
        return {name: n for name, (slotted, n) in placed.items() if slotted in late}

    def _look(self, node: "LexborNode") -> tuple[frozenset[int], bool]:
        """Note which items a node is about, and whether it holds what all of them need."""
        positions, is_shared = set[int](), False
        if not node.is_element_node:
            positions |= self._in_text(node.text_content or "") if node.is_text_node else set()
        elif node.tag in {"script", "style", "template"}:
            is_shared = True
        else:
            for value in node.attributes.values():
                positions |= self._in_text(value or "")
            called = (node.attributes.get(key) or "" for key in _NAMING)
            named = {self._names[name] for name in called if name in self._names}
            asks = node.tag in _ASK or (node.tag or "").startswith("crowd-")
            is_shared = node.tag in _SHARED or (
                asks and not named and _is_sent(node.tag or "", node.attributes)
            )
            positions |= named
            for child in _children(node):
                inside, shares = self._look(child)
                positions |= inside
                is_shared |= shares
        self._seen[node.mem_id] = (frozenset(positions), is_shared)
        return self._seen[node.mem_id]

    def _in_text(self, text: str) -> set[int]:
        marks = MARKS.findall(text)
        return {n for mark in marks if (n := self._gaps[number_of_mark(mark)].position)}

    def prune(self, node: "LexborNode") -> None:
        """Remove what is about items that the HIT does not have."""
        children = _children(node)
        about = [self._seen[child.mem_id] for child in children]
        gone = [bool(of) and min(of) > self._items and not shares for of, shares in about]
        ends = [n for n, is_gone in enumerate(gone) if is_gone]
        kept = [n for n, (of, _) in enumerate(about) if of and min(of) <= self._items]
        if ends and kept and max(kept) < ends[0]:
            between = range(max(kept) + 1, ends[-1])
            if not any(about[n][1] for n in between):
                gone = [is_gone or n in between for n, is_gone in enumerate(gone)]
        for child, is_gone, (of, _) in zip(children, gone, about, strict=True):
            if is_gone:
                child.decompose()
            elif child.is_element_node and of and max(of) > self._items:
                self.prune(child)


def _is_sent(tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Return whether a control is sent, or sends."""
    kind = (attributes.get("type") or "").lower()
    sends = kind in {"submit", "image"} or (tag == "button" and not kind)
    return sends or bool(attributes.get("name"))


def _children(node: "LexborNode") -> "list[LexborNode]":
    children, child = [], node.child
    while child is not None:
        children.append(child)
        child = child.next
    return children
