"""Makes a task from an HTML page, with the fields and the number of items found in it."""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from piecework.domain.errors import ConfigError
from piecework.domain.field import Field, StatedField
from piecework.domain.hit import Item
from piecework.domain.task import NO_PAGE, HtmlPage, OwnFiles, Rule, Task
from piecework.domain.text import NOT_FOR_XML, not_utf8, with_newlines
from piecework.hit_templates.own_html.controls import Controls
from piecework.hit_templates.own_html.embedding import LARGEST_BYTES, embedded
from piecework.hit_templates.own_html.fields_of_controls import (
    REST,
    aggregates,
    fields_and_rules,
    main_text,
)
from piecework.hit_templates.own_html.numbered import (
    Numbers,
    fields_numbered,
    merged,
    numbers_of,
)
from piecework.hit_templates.own_html.page import controls_in, hosts_refused, is_shown
from piecework.hit_templates.own_html.placeholders import cut, loop_in, unrolled

ITEM_ID = "item_id"
"""The column with an item's id; without it, the rows of an items file are numbered."""

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_HOUR = 3600
_SECONDS_TO_BEGIN = 9.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What a campaign file states about the page and its work.

    Attributes:
        fields: by name.
        seconds: the expected time for the page, if stated.
        canned: the text that means "this cannot be done", by the name of its field.
        folder: of the campaign, if it is not the page's; files beside the page must be
            in it.
        header: the columns of the items, if they are known.
        items_per_hit: as stated.
    """

    title: str
    description: str
    fields: Mapping[str, StatedField]
    hosts: tuple[str, ...] = ()
    reward_cents: int = 1
    seconds: float | None = None
    language: str = "en"
    canned: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    header: tuple[str, ...] | None = None
    items_per_hit: int | None = None


def html_task(path: Path, around: Around, text: str | None = None) -> Task:
    """Return the task with this file as its page.

    Args:
        path: the file.
        around: what the campaign file states.
        text: the page, if a campaign file (`path`) states it.

    Raises:
        ConfigError: the file cannot be a page; names every fault with its line.
    """
    page = embedded(_text(path) if text is None else text, path, around.folder or path.parent)
    columns, most = around.header or (), around.items_per_hit
    loop = loop_in(page.html, columns)
    html = unrolled(page.html, most or 2, columns=columns)
    if len(html) > LARGEST_BYTES:
        raise ConfigError(
            [f"{path}: has {len(html):,} characters with {most} items; shorten its loop"]
        )
    template, controls = cut(html), controls_in(html)
    numbers, unfit = numbers_of(template, around.header, is_stated=(most or 1) > 1)
    if numbers is not None:
        numbers = replace(numbers, is_loop=loop is not None)
        template = template.numbered(numbers.columns)
    if loop is not None and most is None:
        unfit.append(
            f"line {loop[0]}: {loop[1]} shows each item of a HIT, but nothing says how many a HIT "
            "has; write items_per_hit = 5 in [posting]"
        )
    stated_fields = around.fields
    is_open = controls.has_script or controls.has_varying_names or template.shows_cells
    if is_open and not stated_fields and not _asks(controls):
        # A script or an item has the inputs, and the campaign file does not name them.
        stated_fields = {REST: StatedField(kind="text", label="All that the page sends")}
    fields, rules, mismatched = _fields(controls, stated_fields, numbers)
    of_items = [field for field in fields if field.scope == "item"]
    faults = [f"{path}: {fault}." for fault in (*template.faults, *controls.faults, *unfit)]
    canned, misplaced = canned_text(around.canned, of_items)
    faults += [f"{path}: {fault}." for fault in (*mismatched, *misplaced)]
    refused = hosts_refused(path, html, around.hosts, page.styles)
    faults += refused.values()
    if not fields and not faults:
        faults.append(
            f"{path}: the page has nothing to fill in; give its inputs names, or "
            "state kind of [fields.NAME] in a file of fields for inputs that a script makes."
        )
    if faults:
        raise ConfigError(faults, next_step=_next_step(refused, around))
    # A stated time covers the whole HIT. In a very short one, half is for the start.
    total = numbers.total if numbers else 1
    begins = min(_SECONDS_TO_BEGIN, (around.seconds or _HOUR) / 2)
    hidden = {control.name for control in controls.by_name.values() if control.is_hidden}
    shown = [name for name in template.columns if "." not in name]
    parts = [name.partition(".")[0] for name in template.columns if "." in name]
    return Task(
        name=_NO_NAME.sub("_", path.stem).strip("_") or "page",
        version=1,
        title=around.title or controls.title or path.stem,
        description=around.description,
        keywords=(),
        columns=(ITEM_ID,),
        optional_columns=tuple(dict.fromkeys(name for name in (*shown, *parts) if name != ITEM_ID)),
        items_per_hit=total,
        reward_cents=around.reward_cents,
        assignment_duration_seconds=_HOUR,
        seconds_to_begin=begins,
        seconds_per_item=(
            (around.seconds - begins) / min(total, around.items_per_hit or total)
            if around.seconds
            else seconds_per_item(of_items, hidden=hidden)
        ),
        fields=tuple(fields),
        rules=tuple(rules),
        main_text=main_text(of_items),
        canned_text=canned,
        aggregates=aggregates(of_items),
        one_value_per_hit="".join(numbers.shared) if numbers else "",
        heuristics={"too_fast": {"min_seconds": 2.0}},
        language=around.language,
        own=OwnFiles(
            path=str(path),
            digest=hashlib.sha256(
                repr((html, around.fields, *around.canned.items())).encode()
            ).hexdigest(),
            templates={},
        ),
        html_page=HtmlPage(
            html=html,
            hosts=around.hosts,
            addresses=tuple(name for name in template.addresses if name != ITEM_ID),
            possible_addresses=tuple(
                name for name in template.possible_addresses if name != ITEM_ID
            ),
            possible_columns=template.possible_columns,
            left_out=page.left_out,
            lost=page.lost,
            numbered=tuple(
                (name, *place) for name, place in (numbers.columns if numbers else {}).items()
            ),
        ),
    )


def _fields(
    controls: Controls, stated: Mapping[str, StatedField], numbers: Numbers | None
) -> tuple[list[Field], list[Rule], list[str]]:
    """Return fields and rules, and clauses about what does not fit together."""
    if numbers is None:
        return fields_and_rules(controls.by_name, stated)
    asked = [name for name, control in controls.by_name.items() if control.kind != "carried"]
    made = [name for name in stated if name not in asked and name != REST]
    once = {name for name, each in stated.items() if each.scope == "hit"}
    called, faults = fields_numbered(numbers, [*asked, *made], once)
    of_items = {names[0]: names for names in called.values()}
    others = {name for names in called.values() for name in names[1:]}
    faults += [
        f"fields.{name}: is the field of one item; state it for all as [fields.{short}]"
        for short, names in called.items()
        for name in names[1:]
        if name in stated and name in controls.by_name
    ]
    reduced = {name: each for name, each in controls.by_name.items() if name not in others}
    for short, names in called.items():
        some = [controls.by_name[name] for name in names if name in controls.by_name]
        if some:
            short_names = short.split("|")
            reduced[names[0]], differing = merged([each.called(short_names) for each in some])
            faults += differing
    fields, rules, mismatched = fields_and_rules(
        reduced,
        {name: each for name, each in stated.items() if name not in others},
        called={names[0]: short for short, names in called.items()},
    )
    if REST in stated:
        of_items[REST] = (REST,) * numbers.total
    fields = [
        replace(field, sent_at=of_items[field.sent_as])
        if field.sent_as in of_items
        else replace(field, scope="hit", expects_variation=False)
        for field in fields
    ]
    return fields, rules, [*mismatched, *faults]


def canned_text(canned: Mapping[str, str], fields: Sequence[Field]) -> tuple[str, list[str]]:
    """Return the main field's canned text, and clauses about what does not fit.

    Args:
        canned: canned texts, by the name that the page sends or the field's name.
        fields: the fields of an item.
    """
    names = {fields[0].sent_as, fields[0].name} if main_text(fields) else set()
    faults = [
        f"fields.{name}.canned: only the first of all-text fields may have one"
        for name in canned
        if name not in names
    ]
    return next((canned[name] for name in canned if name in names), ""), faults


def seconds_per_item(fields: Sequence[Field], *, hidden: Collection[str] = ()) -> float:
    """Estimate how long a careful worker needs: reading, then each field.

    Text that a script puts into a hidden input takes no time, because the worker's part
    is among the other fields. Without other fields, it is all that the worker does, and
    counts as one text.

    Rehearsals and the minutes that `init` states use this estimate;
    `minutes` is more exact.

    Args:
        fields: the fields of an item.
        hidden: names, as the page sends them, of inputs that a script fills in.
    """
    asked = [field for field in fields if field.kind != "text" or field.sent_as not in hidden]
    return 10.0 + sum(25.0 if field.kind == "text" else 6.0 for field in asked or fields[:1])


def with_shown_columns(task: Task, items: Sequence[Item]) -> Task:
    """Return the task with the columns that its page's template literals show.

    The items tell whether `${name}` there is a column or JavaScript's own.
    """
    if task.html_page is None:
        return task
    names = {name for item in items for name in item.columns}
    more = (name for name in task.html_page.possible_columns if name in names)
    known = {*task.columns, *task.optional_columns}
    shown = (name for name in more if name not in known and is_shown(name))
    return replace(task, optional_columns=(*task.optional_columns, *shown))


def several_to_state(task: Task) -> str:
    """Return what to state if the numbers of a page may be those of items; else ""."""
    page = task.html_page
    if page is None or page.numbered:
        return ""
    numbers, _ = numbers_of(cut(page.html), (), is_stated=True)
    if numbers is None:
        return ""
    first, last = numbers.ends
    return (
        f"if ${{{first}}} to ${{{last}}} are of several items, write items_per_hit = "
        f"{numbers.total} in [posting]"
    )


def _next_step(refused: Collection[str], around: Around) -> str:
    if not refused:
        return "docs/how-to/own-pages.md describes what a page can contain"
    named = ", ".join(f'"{host}"' for host in (*around.hosts, *refused))
    return f"if you trust them with what workers type, set hosts = [{named}]"


_CHARSET = re.compile(rb"<meta\b[^>]{0,200}\bcharset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_LATIN = {"iso-8859-1", "latin1", "us-ascii", "ascii"}
"""Names that browsers read as Windows-1252."""


def _as_declared(content: bytes) -> str | None:
    """Return a page in the encoding that it names, as browsers read it; else `None`."""
    named = _CHARSET.search(content[:4096])
    name = named[1].decode().lower() if named else ""
    try:
        return content.decode("cp1252" if name in _LATIN else name) if name else None
    except (LookupError, UnicodeDecodeError):
        return None


def _asks(controls: Controls) -> bool:
    return any(control.kind != "carried" for control in controls.by_name.values())


def _text(path: Path) -> str:
    if not path.is_file():
        raise ConfigError([f"{path}: the campaign names this file, but it does not exist."])
    content = path.read_bytes()
    if len(content) > LARGEST_BYTES:
        raise ConfigError(
            [(f"{path}: has {len(content):,} bytes; a page may have at most {LARGEST_BYTES:,}")],
            next_step="move pictures, sounds and libraries out of the page into the "
            'folder of pictures, and write src="/pictures/NAME"',
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        declared = _as_declared(content)
        if declared is None:
            raise ConfigError([f"{path}: {not_utf8(error)}."]) from error
        text = declared
    # XML cannot carry a bare carriage return.
    text = with_newlines(text)
    if forbidden := NOT_FOR_XML.search(text):
        line = text.count("\n", 0, forbidden.start()) + 1
        fault = f"{path}: line {line}: holds the character {forbidden[0]!r}"
        raise ConfigError([f"{fault}, which a question cannot contain."])
    return text


_MOST_ITEMS = 50


def answers_task(
    name: str,
    stated_fields: Mapping[str, StatedField],
    *,
    title: str,
    columns: Sequence[str],
    language: str = "en",
    canned: Mapping[str, str] = MappingProxyType({}),
) -> Task:
    """Build the task of these fields.

    Args:
        name: the name of the task.
        stated_fields: what the campaign file states, by the field's name in the files.
        title: the title of the work.
        columns: the items' columns: the id first, then the others.
        language: the language of the texts.
        canned: the text that means "this cannot be done", by the name of its field.

    Raises:
        ConfigError: there is no field, or the statements about one contradict each
            other.
    """
    fields, rules, faults = fields_and_rules({}, stated_fields)
    if not fields:
        faults.append("fields: none are stated; state what the workers answered")
    if faults:
        raise ConfigError(faults)
    required = {rule.field for rule in rules}
    once = {name for name, stated in stated_fields.items() if stated.scope == "hit"}
    asked = tuple(
        replace(
            field,
            scope="hit" if field.sent_as in once else "item",
            expects_variation=field.expects_variation and field.sent_as not in once,
            optional=field.name not in required,
        )
        for field in fields
    )
    of_items = [field for field in asked if field.scope == "item"]
    canned_one, faults = canned_text(canned, of_items)
    if faults:
        raise ConfigError(faults)
    of_it = repr((stated_fields, *canned.items()))
    return Task(
        name=name,
        version=1,
        title=title,
        description=title,
        keywords=("imported",),
        columns=(columns[0],),
        optional_columns=tuple(columns[1:]),
        items_per_hit=_MOST_ITEMS,
        reward_cents=1,
        assignment_duration_seconds=_HOUR,
        seconds_per_item=seconds_per_item(of_items or list(asked)),
        fields=asked,
        rules=tuple(rules),
        main_text=main_text(of_items),
        canned_text=canned_one,
        aggregates=aggregates(of_items),
        heuristics={"too_fast": {"min_seconds": 2.0}},
        language=language,
        own=OwnFiles(path=NO_PAGE, digest=hashlib.sha256(of_it.encode()).hexdigest(), templates={}),
    )
