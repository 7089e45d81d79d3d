"""Make the page of a HIT, or say why it cannot be made.

Items come from files that piecework did not write, so values are escaped. Text that
cannot be carried faithfully (control characters, addresses that are not http) is
refused before posting.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from markupsafe import Markup

from piecework.domain.errors import ConfigError
from piecework.domain.experiment import PLAIN, Arm
from piecework.domain.field import Field
from piecework.domain.hit import MTURK, Item
from piecework.domain.ids import ItemId
from piecework.domain.task import Task
from piecework.hit_templates.answers import text_fields
from piecework.hit_templates.item_faults import faults_of_item
from piecework.hit_templates.jinja_helpers import filled, wire
from piecework.hit_templates.messages import frame_texts
from piecework.hit_templates.order import groups_of
from piecework.hit_templates.own_html.page import own_page
from piecework.hit_templates.page_compression import fitted, is_packed
from piecework.hit_templates.rules import CHARACTERS
from piecework.hit_templates.templates import (
    QUESTION,
    BlankPage,
    NeedsValue,
    Slot,
    blank_page,
    rendered,
)

_FIRST = 1
"""The position to check; a template shows all items alike."""


def page_faults(task: Task, page: str) -> list[str]:
    """Why a page cannot be answered, one sentence each.

    Args:
        task: a task from a user's folder.
        page: its page with at least one item, not compressed.
    """
    where = f"{task.own.path if task.own else task.name}/{QUESTION}"
    return [f"{where}: {fault}." for field in task.fields for fault in _faults_of(field, page)]


def _faults_of(field: Field, page: str) -> Iterator[str]:
    n = "hit" if field.scope == "hit" else _FIRST
    position = '"hit"' if field.scope == "hit" else "n"
    name, place = wire(field, n), f"faults-{field.name}-{n}"
    if f'name="{name}"' not in page:
        macro = _MACROS[field.kind]
        yield (
            f"the page does not ask for the field {field.name} (a control named "
            f"{name}); write {{{{ {macro}(fields.{field.name}, {position}) }}}}"
        )
    elif page.count(f'id="{place}"') != 1:
        yield (
            f"the field {field.name} needs one place for its messages; write "
            f"{{{{ faults(fields.{field.name}, {position}) }}}} beside its control"
        )


_MACROS = {"text": "text_area", "choice": "choice", "choices": "choices", "number": "slider"}


ROOM_FOR_PAGE = MTURK.question_bytes - 512
"""A larger page is compressed; the rest of the limit is for the envelope around it."""

MOST_DOTS = 12
"""With more steps than this, the page counts them only as text."""

_FOR_SCRIPTS = (
    *("heading", "next", "submit", "sending", "accept_first", "words_counted"),
    "characters_counted",
    *("is_back", "now_says", "chosen_value", "whole_picture", "zoomed", "turned"),
)


def render_hit(
    task: Task,
    items: Sequence[Item],
    *,
    practice: Sequence[Item] = (),
    title: str = "",
    round_number: int = 0,
    canary: str = "",
    records_typing: bool = True,
    arm: Arm = PLAIN,
) -> str:
    """Return the page that shows these items, as a complete HTML document.

    Args:
        task: the page's task, in its language.
        items: the items to show, in this order; at most as many as the task allows.
        practice: trials that the page shows first.
        title: the title at the top of the page; empty: the task's own title.
        round_number: above 0, the page asks workers who know an item to return the HIT.
        canary: a word that hidden text on the page asks programs to write; not for a
            campaign's own page (`task = "hit.html"`).
        records_typing: whether the page records how texts about its items are entered
            (`piecework.domain.assignment`). A campaign's own page never does, nor
            does a page that would then be too large for browsers from before 2023.
        arm: what an experiment decided about the page; a campaign's own page has none.

    Raises:
        ConfigError: names every fault of the items, or the template's fault.
    """
    if task.html_page is not None and 0 < len(items) <= task.items_per_hit:
        return own_page(task, items, title=title or task.title)
    faults = [*_faults_of_number(task, items), *item_faults(task, [*practice, *items])]
    if faults:
        raise ConfigError(faults)
    shown = [_as_shown(task, item) for item in items]
    trials = [_as_shown(task, item) for item in practice]
    frame = _Frame(task, title, round_number, tuple(map(_frozen, trials)), canary, arm=arm)
    page = _fitted_page(frame._replace(records_typing=records_typing), shown)
    if records_typing and is_packed(page):
        # Browsers from before 2023 cannot unpack it; no record is worth their work.
        page = _fitted_page(frame._replace(records_typing=False), shown)
    return page


class _Frame(NamedTuple):
    """Everything that a page shows except its items.

    Attributes:
        trials: each trial's id, and its columns with their values.
    """

    task: Task
    title: str
    round_number: int
    trials: tuple[tuple[ItemId, tuple[tuple[str, str], ...]], ...]
    canary: str = ""
    records_typing: bool = True
    arm: Arm = PLAIN


def _fitted_page(frame: _Frame, shown: Sequence[Item]) -> str:
    """Return the page, compressed if it would be too large for a question."""
    page_data = _page_data(frame, shown)
    blank = _blank_page(frame, len(shown))
    if blank is None:
        page = _rendered(frame, shown, page_data)
        return fitted(page, more_than=ROOM_FOR_PAGE)
    values = [
        value
        for item in shown
        for value in (item.item_id, *(item.columns[name] for name in item.columns))
    ]
    return blank.filled([*values, page_data], more_than=ROOM_FOR_PAGE)


def item_faults(task: Task, items: Sequence[Item]) -> list[str]:
    """Return why these items cannot be shown, one sentence per reason."""
    return [
        f"item {item.item_id!r}: {fault}." for item in items for fault in faults_of_item(task, item)
    ]


def _frozen(item: Item) -> tuple[ItemId, tuple[tuple[str, str], ...]]:
    return item.item_id, tuple(item.columns.items())


@lru_cache(maxsize=32)
def _blank_page(frame: _Frame, total: int) -> BlankPage | None:
    """Render the page over slots, in the order of `render_hit`'s values.

    `None` if the task's template does more with values than print them.
    """
    numbers = count()
    columns = sorted(frame.task.shown_columns)
    shown = [
        _SlotItem(
            item_id=Slot(next(numbers)), columns={name: Slot(next(numbers)) for name in columns}
        )
        for _ in range(total)
    ]
    try:
        return blank_page(_rendered(frame, shown, Slot(next(numbers))))
    except (NeedsValue, ConfigError):  # values show a real fault again
        return None


@dataclass(frozen=True, slots=True)
class _SlotItem:
    """An item of slots."""

    item_id: Slot
    columns: Mapping[str, Slot]


def _rendered(frame: _Frame, shown: Sequence[Item | _SlotItem], page_data: Markup | Slot) -> str:
    """Render the task's template."""
    task = frame.task
    values = {
        "task": task,
        "title": frame.title or task.title,
        "noun": _noun(task),
        "frame": _frame(task),
        "t": task.texts,
        "shown": _by_place(frame, shown),
        "total": len(shown),
        "trials": len(frame.trials),
        "fields": {field.name: field for field in task.fields},
        "measures": task.measures,
        "ordered": task.shuffled_names,
        "minimum_words": _stated(task, "min_words", "minimum"),
        "maximum_length": _stated(task, "max_length", "maximum"),
        "round_number": frame.round_number,
        "compares_texts": any("column" in rule.parameters for rule in task.rules),
        "canary": frame.canary,
        "records_typing": frame.records_typing and bool(text_fields(task)),
        "arm": frame.arm,
        "page_data": page_data,
    }
    page = rendered(task, QUESTION, values)
    faults = [] if task.own is None or not shown else page_faults(task, page)
    if faults:
        raise ConfigError(faults, next_step="docs/reference/macros.md shows how fields are asked")
    return page


def _by_place(
    frame: _Frame, shown: Sequence[Item | _SlotItem]
) -> list[tuple[int | str, Item | _SlotItem]]:
    """Return trials ("p1", "p2") and items (1, 2) with their places, as the page shows them."""
    return [
        *(
            (f"p{n}", Item(item_id=item_id, columns=dict(columns)))
            for n, (item_id, columns) in enumerate(frame.trials, start=1)
        ),
        *enumerate(shown, start=1),
    ]


def _as_shown(task: Task, item: Item) -> Item:
    """Return the item with only the columns that a page may show.

    Columns with the truth or the expected answer never reach a template.
    """
    columns = {name: item.columns.get(name, "") for name in sorted(task.shown_columns)}
    return Item(item_id=item.item_id, columns=columns)


def _noun(task: Task) -> str:
    frame = frame_texts(task.language)
    if "noun" in task.texts:
        return task.texts["noun"]
    return frame["noun_with_picture" if "url" in task.columns else "noun"]


def _page_data(frame: _Frame, items: Sequence[Item]) -> Markup:
    """Return what the page's scripts need, as JSON."""
    task = frame.task
    compared = _compared(task)
    of_items = {
        "groups": groups_of(task, items),
        "ids": [item.item_id for item in items],
        "columns": {
            place: {name: item.columns[name] for name in compared}
            for place, item in (_by_place(frame, items) if compared else ())
        },
    }
    of_task, of_items_too = _task_data(task), _json(of_items)
    return Markup(f"{of_task[:-1]},{of_items_too[1:]}")  # noqa: S704 - both are JSON


def _json(value: object) -> Markup:
    from jinja2.utils import htmlsafe_json_dumps  # noqa: PLC0415 - most commands render nothing

    return htmlsafe_json_dumps(value, separators=(",", ":"))


def _compared(task: Task) -> list[str]:
    """Return the columns with which the task's rules compare answers."""
    return sorted(
        {
            str(rule.parameters[key])
            for rule in task.rules
            for key in ("column", "where")
            if key in rule.parameters
        }
    )


@lru_cache(maxsize=32)
def _task_data(task: Task) -> Markup:
    """Return what the scripts need about the task, as a JSON object."""
    return _json(
        {
            "task": task.name if task.own is None else f"{task.name}-{task.own.digest[:8]}",
            "version": task.version,
            "measures": task.measures,
            "characters": CHARACTERS,
            "most_dots": MOST_DOTS,
            "texts": _script_texts(task),
            "fields": [
                {"name": f.name, "kind": f.kind, **({"shuffled": True} if f.shuffled else {})}
                for f in task.fields
            ],
            "arrangements": [
                {"name": arrangement.name, "columns": arrangement.columns}
                for arrangement in task.arrangements
            ],
            "shuffles": task.shuffles_items,
            "rules": [
                {
                    "name": rule.name,
                    "kind": rule.kind,
                    "field": rule.field,
                    "parameters": rule.parameters,
                    "message": rule.message,
                    **({"is_question": True} if rule.is_question else {}),
                }
                for rule in task.rules
            ],
        }
    )


def _script_texts(task: Task) -> Mapping[str, str]:
    frame, noun = _frame(task), _noun(task)
    return {
        "noun": noun,
        **{name: frame[name] for name in _FOR_SCRIPTS},
        "next_noun": filled(frame["next_noun"], noun=noun.lower()),
    }


def _frame(task: Task) -> Mapping[str, str]:
    """Return the texts of the frame; a task's own texts of the same names win."""
    frame = frame_texts(task.language)
    own = {name: text for name, text in task.texts.items() if name in frame}
    return {**frame, **own}


def _stated(task: Task, kind: str, parameter: str) -> Mapping[str, object]:
    """Return a parameter of the rules of a kind, by field."""
    return {rule.field: rule.parameters[parameter] for rule in task.rules if rule.kind == kind}


def _faults_of_number(task: Task, items: Sequence[Item]) -> list[str]:
    if 0 < len(items) <= task.items_per_hit:
        return []
    return [f"A HIT of {task.name} shows 1 to {task.items_per_hit} items, not {len(items)}."]
