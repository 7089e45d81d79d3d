"""Turns a user's own HTML into an item's page that submits here and is sandboxed.

MTurk's own site wrapped a layout without a form in one with a button, and so does this.
A policy in the page's head lists the hosts it may load from, so that a browser
restricts even scripts. The marketplace's frame restricts the rest.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape

from piecework.domain.column_names import MEASURES
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.task import GOLD, TRUTH, Task
from piecework.hit_templates.jinja_helpers import minified
from piecework.hit_templates.messages import frame_texts
from piecework.hit_templates.own_html.controls import Controls, controls_of
from piecework.hit_templates.own_html.placeholders import (
    Template,
    cut,
    has_column,
    is_address,
    value_of,
)

KNOWN = ("assets.crowd.aws/", "s3.amazonaws.com/mturk-public/")
"""Addresses of MTurk's and the crowd forms' scripts; the marketplace has its own."""

_HEAD = re.compile(r"<head\b[^>]*>|<html\b[^>]*>", re.IGNORECASE)
_END = re.compile(r"</body\s*>|</html\s*>", re.IGNORECASE)


def own_page(task: Task, item: Item, *, title: str) -> str:
    """Return the page that shows an item, as a complete document.

    Raises:
        ConfigError: the page cannot show the item where it needs it.
    """
    if task.html_page is None or task.own is None:
        raise ValueError(f"{task.name} is not an HTML page")
    html = _by_https(task.html_page.html, task.html_page.hosts)
    template = cut(html)
    faults = [
        f"item {item.item_id!r}: {fault}." for fault in faults_of_item(template, item)
    ]
    if faults:
        raise ConfigError(faults)
    filled = template.filled(_shown(item), html_columns=task.html_page.html_columns)
    before, after = _around(html, task.html_page.hosts, title)
    ours = _ours(task, item)
    if _is_document(html):
        return _inserted(filled, before, f"{ours}{after}")
    return f"{before}{filled}{after.replace(_OURS, ours)}"


def faults_of_item(template: Template, item: Item) -> Iterator[str]:
    """Yield what an item lacks, or what the page may not contain: clauses."""
    columns = _shown(item)
    for column in template.columns:
        if not has_column(columns, column):
            known = ", ".join(columns)
            yield f"the page asks for {column!r}; the columns are {known}"
    for column in template.addresses:
        value = value_of(columns, column)
        if has_column(columns, column) and not is_address(value):
            yield (
                f"{column} is {value!r}, where the page needs an address that begins "
                "with https:// or /"
            )


def is_shown(column: str) -> bool:
    """Return whether a page may show a column; it may not show the right answers."""
    return not column.startswith((TRUTH, GOLD))


def _shown(item: Item) -> dict[str, str]:
    return {name: text for name, text in item.columns.items() if is_shown(name)}


@lru_cache(maxsize=32)
def controls_in(html: str) -> Controls:
    """The controls of a page."""
    return controls_of(cut(html).marked)


@lru_cache(maxsize=32)
def _by_https(html: str, hosts: tuple[str, ...]) -> str:
    """Return the page with http and protocol-relative loads from these hosts on https.

    Pages of 2014 link their libraries that way. The policy allows these hosts only by
    https, and a marketplace on https could not load them otherwise.
    """
    named = "|".join(map(re.escape, (KNOWN[1], *(f"{host}/" for host in hosts))))
    return re.sub(rf"""(?<=["'(])(?:http:)?//(?={named})""", "https://", html)


_OURS = "\0ours\0"

_PROPORTIONS = "<style>:where(img) { object-fit: contain }</style>"
"""Keeps a picture's proportions, unless the page itself sets `object-fit`."""


@lru_cache(maxsize=32)
def _around(html: str, hosts: tuple[str, ...], title: str) -> tuple[str, str]:
    """Return what goes before and after the page's own HTML."""
    controls = controls_in(html)
    content = policy_of(hosts)
    policy = (
        f'<meta http-equiv="Content-Security-Policy" content="{content}">\n'
        f"<script>{minified('_own_page_losses.js')}</script>\n{_PROPORTIONS}\n"
    )
    scripts = (
        f"<script>\n{minified('_measures.js')}\n{minified('_own_page.js')}\n</script>\n"
    )
    if _is_document(html):
        return policy, scripts
    before = (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{policy}<title>{escape(title)}</title>\n</head>\n<body>\n"
    )
    after = f"\n{_OURS}{scripts}</body>\n</html>\n"
    if controls.has_form or controls.has_crowd_form:
        return before, after
    form = (
        '<form name="mturk_form" method="post" id="mturk_form">\n'
        '<input type="hidden" value="" name="assignmentId" id="assignmentId">\n'
    )
    button = (
        ""
        if controls.submits
        else '<p><input type="submit" id="submitButton" value="Submit"></p>\n'
    )
    return f"{before}{form}", f"\n{button}</form>{after}"


def policy_of(hosts: tuple[str, ...]) -> str:
    """Return the policy: the page may load from itself and from these hosts."""
    named = " ".join(f"https://{host}" for host in (*KNOWN, *hosts))
    inline = f"'self' 'unsafe-inline' 'unsafe-eval' data: blob: {named}"
    return escape(
        f"default-src {inline}; img-src * data: blob:; media-src * data: blob:; "
        f"connect-src 'self' {named}; object-src 'none'; worker-src blob:"
    )


def _is_document(html: str) -> bool:
    return re.search(r"<html\b|<body\b|<!doctype\b", html, re.IGNORECASE) is not None


def _inserted(page: str, policy: str, ours: str) -> str:
    """Insert piecework's parts at the start of a document's head and at its end."""
    head = _HEAD.search(page)
    start = head.end() if head else 0
    ends = list(_END.finditer(page))
    end = ends[0].start() if ends else len(page)
    return f"{page[:start]}\n{policy}{page[start:end]}\n{ours}{page[end:]}"


def _ours(task: Task, item: Item) -> str:
    """Build the hidden form whose values are sent with the page's own fields.

    It names the required answers, because a page may not require them itself, and a
    worker must not be blamed for an answer that the page did not require.
    """
    asked = {rule.field for rule in task.rules if rule.kind == "required"}
    required = {
        field.sent_as: field.label for field in task.fields if field.name in asked
    }
    counts = "".join(
        f'<input type="hidden" name="{name}.1" value="0">' for name in MEASURES
    )
    frame = frame_texts(task.language)
    texts = {name: frame[f"own_page_{name}"] for name in ("accept", "lost", "missing")}
    return (
        f'<form id="piecework-item" data-required="{escape(json.dumps(required))}" '
        f'data-texts="{escape(json.dumps(texts, ensure_ascii=False))}" '
        'hidden><input type="hidden" name="item.1" '
        f'value="{escape(item.item_id)}">{counts}</form>\n'
    )
