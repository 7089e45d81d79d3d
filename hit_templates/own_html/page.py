"""Turns a user's own HTML into an item's page that submits here and is sandboxed.

It finds what a page loads: from which other hosts, and which files beside it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from piecework.domain.column_names import PLAYED
from piecework.domain.errors import ConfigError
from piecework.domain.field import Field
from piecework.domain.hit import Item, fill_in
from piecework.domain.task import GOLD, NO_PAGE, TRUTH, HtmlPage, Task
from piecework.domain.text import with_newlines
from piecework.hit_templates.jinja_helpers import minified
from piecework.hit_templates.messages import ENGLISH, frame_texts
from piecework.hit_templates.own_html.control_kinds import Control
from piecework.hit_templates.own_html.controls import Controls, controls_of
from piecework.hit_templates.own_html.fields_of_controls import REST
from piecework.hit_templates.own_html.judged_marks import as_read, faults_of_marks
from piecework.hit_templates.own_html.markup import Step, is_address, lines_of, may_be_linked, steps
from piecework.hit_templates.own_html.numbered import shortened
from piecework.hit_templates.own_html.placeholders import (
    Template,
    cut,
    has_column,
    is_mark,
    joined,
    template_of,
    value_of,
)
from piecework.hit_templates.rules import CHARACTERS

KNOWN = ("assets.crowd.aws/", "s3.amazonaws.com/mturk-public/")
"""Addresses of MTurk's and the crowd forms' scripts; the marketplace has its own."""

_TURKS = re.compile(r"\bturk(?:GetParam|SetAssignmentID|GetSubmitToHost)\(")
_TURKS_SCRIPT = f"{KNOWN[1]}externalHIT_v1.js"

_SPACE = r"(?:\s|<!--.*?-->)*+"
_BEFORE = re.compile(
    rf"{_SPACE}(?P<doctype><!doctype\b[^>]*>)?(?P<html>{_SPACE}<(?:html|head|body)\b)?",
    re.IGNORECASE | re.DOTALL,
)
"""What a whole document begins with; it decides how browsers lay it out."""

_OURS = '<script type="application/json" id="piecework-item">'
_OURS_AGAIN = re.compile(rf"{re.escape(_OURS)}(.*?)</script>")


def own_page(task: Task, items: Sequence[Item], *, title: str) -> str:
    """Return the page that shows items, as a complete document.

    Raises:
        ConfigError: the page cannot show an item where it needs it.
    """
    return joined(*parts_of_page(task, items, title=title))


def parts_of_page(task: Task, items: Sequence[Item], *, title: str) -> tuple[list[str], list[str]]:
    """Return the page's texts, the same for as many items, and the values between them.

    Args:
        task: of the page.
        items: at least one, and at most as many as the page shows.
        title: of the HIT.

    Raises:
        ConfigError: the page cannot show an item where it needs it.
    """
    if task.html_page is None or task.own is None:
        raise ValueError(f"{task.name} is not an HTML page")
    html = _by_https(task.html_page.html, task.html_page.hosts)
    template = template_of(replace(task.html_page, html=html))
    faults = [
        f"item {item.item_id!r}: {fault}."
        for item in items
        for fault in faults_of_item(template, item)
    ]
    if faults:
        raise ConfigError(faults)
    if len(items) < task.items_per_hit:
        template = shortened(template, tuple(positions_of(task).items()), len(items))
    played = ("_played.js",) if PLAYED in task.measures else ()
    head, before, after = _around(html, task.html_page.hosts, title, played, task.language)
    first, *rest = template.texts
    begins = _BEFORE.match(first)
    at = begins.end("doctype") if begins and begins["doctype"] else 0
    doctype = first[:at] or ("" if begins and begins["html"] else "<!DOCTYPE html>")
    # Browsers put the first tags into the head, and join a later <html> or <body>.
    texts = [
        f"{doctype}\n{_language_tag(html, task.language)}",
        f"{head}{before}{first[at:]}",
        *rest,
    ]
    texts[-1] += after
    return texts, [_ours(task, items), *template.values(*map(_shown, items))]


def positions_of(task: Task) -> dict[str, int]:
    """Return the position of the item that each name sent is about, if there are several."""
    return {
        name: position
        for field in task.item_fields
        for position, sent_as in enumerate(field.sent_at, start=1)
        for name in sent_as.split("|")
    }


def items_shown(page: str) -> list[str]:
    """Return the ids of the items that a page of `own_page` shows; else none."""
    match = _OURS_AGAIN.search(page)
    return [str(item_id) for item_id in json.loads(match[1])["items"]] if match else []


def measures_asked(page: str) -> list[str]:
    """Return what a page of `own_page` measures of each item."""
    match = _OURS_AGAIN.search(page)
    return list(json.loads(match[1])["measures"]) if match else []


def faults_of_item(template: Template, item: Item) -> Iterator[str]:
    """Yield what an item lacks, or what the page may not contain: clauses."""
    columns = _shown(item)
    for column in template.columns:
        if not has_column(columns, column):
            known = ", ".join(columns)
            yield f"the page asks for {column!r}; the columns are {known}"
    if template.columns and not any(value_of(columns, name).strip() for name in template.columns):
        # A page may leave a gap empty; without any cell, workers are paid for nothing.
        shown, is_text = (
            ", ".join(template.columns),
            bool({*template.columns} - {*template.addresses}),
        )
        yield f"every cell that the page shows of it is empty: {shown}; {fill_in(is_text=is_text)}"
    for column in template.addresses:
        value = value_of(columns, column)
        if value.strip() and not is_address(value):
            yield (
                f"{column} is {value!r}, where the page needs an address that begins "
                "with https:// or /"
            )

    yield from faults_of_marks(template, columns)
    for column in template.links:
        value = value_of(columns, column)
        if not may_be_linked(value):
            yield f"{column} is {value!r}, and a link may not run a script"


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


_PROPORTIONS = "<style>:where(img) { object-fit: contain }</style>"
"""Keeps a picture's proportions, unless the page itself sets `object-fit`."""


_RIGHT_TO_LEFT = re.compile(
    r"(?:[a-z]+-(?:arab|hebr|thaa|syrc|nkoo|adlm)|"
    r"(?:ar|ckb|dv|fa|he|iw|ps|sd|ug|ur|yi)(?!-[a-z]{4}\b))\b",
    re.IGNORECASE,
)
"""Tags whose script, or else whose language, is written from right to left.

A script has four letters and the second place; what follows are extensions, such as digits.
"""


def _language_tag(html: str, language: str) -> str:
    """Return the tag that states the page's language before all that is ours, or "".

    The site around the page reads its language at the beginning of the page. The campaign's
    counts if the page states none, but not English, which stands for a language not stated.
    With it comes its direction, which the page's buttons and alerts need, too; what the page
    states, also in a style, is stronger.
    """
    controls = controls_in(html)
    stated = controls.language or (language if language != ENGLISH else "")
    if not stated or is_mark(stated):
        return ""
    is_led = not controls.has_direction and _RIGHT_TO_LEFT.match(stated)
    leads = ' dir="rtl"' if is_led else ""
    return f'<html lang="{escape(stated)}"{leads}>\n'


@lru_cache(maxsize=32)
def _around(
    html: str, hosts: tuple[str, ...], title: str, more: tuple[str, ...], language: str
) -> tuple[str, str, str]:
    """Return what the head gets, and what goes before and after the page's own HTML."""
    controls = controls_in(html)
    scripts = "\n".join(
        minified(name) for name in ("_measures.js", *more, "_own_page_losses.js", "_own_page.js")
    )
    head = (
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy_of(hosts)}">\n'
        f"<script>\n{scripts}\n</script>\n{_PROPORTIONS}\n"
    )
    if _TURKS.search(html) and _TURKS_SCRIPT not in html:
        # MTurk's site loaded it with every layout.
        head += f'<script src="https://{_TURKS_SCRIPT}"></script>\n'
    begins = _BEFORE.match(html)
    if begins is None or not begins["html"]:
        head += '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    # Without scripts nothing tells the page its assignment, so no answer could be sent.
    no_script = escape(frame_texts(language)["no_script"])
    head += f"<noscript>{no_script}</noscript>\n"
    if not controls.title:
        head += f"<title>{escape(title)}</title>\n"
    if controls.has_form or controls.has_crowd_form:
        return head, "", ""
    form = (
        '<form name="mturk_form" method="post" id="mturk_form">\n'
        '<input type="hidden" value="" name="assignmentId" id="assignmentId">\n'
    )
    submit = escape(frame_texts(language)["submit"])
    button = (
        ""
        if controls.submits
        else f'<p><input type="submit" id="submitButton" value="{submit}"></p>\n'
    )
    return head, form, f"\n{button}</form>\n"


def policy_of(hosts: tuple[str, ...]) -> str:
    """Return the policy: the page may load from itself and from these hosts."""
    named = " ".join(f"https://{host}" for host in (*KNOWN, *hosts))
    inline = f"'self' 'unsafe-inline' 'unsafe-eval' data: blob: {named}"
    return escape(
        f"default-src {inline}; img-src * data: blob:; media-src * data: blob:; "
        f"connect-src 'self' {named}; object-src 'none'; worker-src blob:"
    )


def _lacks_button(controls: Controls) -> bool:
    """Return whether nothing submits the page's own form but the return key."""
    return controls.has_form and not (controls.submits or controls.has_script)


def _ours(task: Task, items: Sequence[Item]) -> str:
    """Build what the page's scripts need to know, and programs that read the page.

    It names the required answers, because a page may not require them itself, and a
    worker must not be blamed for an answer that the page did not require.
    """
    asked = {rule.field for rule in task.rules if rule.kind == "required"}
    controls = controls_in(task.html_page.html) if task.html_page else Controls()
    frame = frame_texts(task.language)
    required = {
        name: field.label + (f" ({n})" if field.sent_at else "")
        for field in task.fields
        if field.name in asked and field.sent_as != REST
        for n, name in enumerate(field.names_sent[: len(items)], start=1)
    }
    document = {
        "items": [item.item_id for item in items],
        "positions": positions_of(task),
        "measures": task.measures,
        "adds_button": _lacks_button(controls),
        "required": required,
        "blank": _BLANK if required else "",
        "page_requires": [
            name for name, control in controls.by_name.items() if control.is_required
        ],
        "texts": {name: frame[f"own_page_{name}"] for name in ("accept", "lost", "missing")},
    }
    text = json.dumps(document, ensure_ascii=False).replace("<", "\\u003c")
    return f"{_OURS}{text}</script>\n"


_BLANK = json.dumps(CHARACTERS["spaces"] + CHARACTERS["invisible"])[1:-1]
"""What `rules.plain` strips, as the inside of a pattern's `[...]`, in ASCII."""

_LOADS = {"script": "src", "link": "href", "iframe": "src", "embed": "src"}
FILES = {
    **dict.fromkeys(("img", "source", "input"), ("src", "srcset")),
    **dict.fromkeys(("script", "iframe", "embed", "audio", "track"), ("src",)),
    "video": ("src", "poster"),
    "link": ("href",),
    "object": ("data",),
    "image": ("href", "xlink:href"),
    "body": ("background",),
}
"""Attributes that make a browser load a file."""

_URL = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")
IN_SCRIPT = re.compile(
    r"""["'`]([\w./-]*\w\.(?:css|js|json|png|jpe?g|gif|svg|webp|mp3|wav|ogg|mp4|webm))["'`]"""
)
NOT_BESIDE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|[/#?\\]|$")
"""What begins an address that leads to no file beside the page."""

CANDIDATE = re.compile(r"([^\s,]\S*)(?:(?<!,)\s[^,]*)?")
"""A file in a `srcset`; its address may end with commas that do not belong to it."""

_IS_ELSEWHERE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_IN_STYLE = re.compile(r"""(?:@import\s+|url\()(?:url\()?\s*["']?((?:https?:)?//[^"')\s]+)""")


def hosts_refused(
    path: Path, html: str, allowed: Sequence[str], styles: Mapping[Path, str]
) -> dict[str, str]:
    """Return hosts that a page uses without permission, each with its message.

    Args:
        path: of the page.
        html: of the page.
        allowed: the hosts that it may load from.
        styles: the text of each style sheet beside the page, by path.
    """
    lines = {host: (path, line) for host, line in _hosts_of(cut(html).marked).items()}
    for file, text in styles.items():
        for match in _IN_STYLE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            lines.setdefault(_host_of(match[1].partition("//")[2]), (file, line))
    return {
        host: f"{at}: line {line}: the page loads from {host}, which is not allowed."
        for host, (at, line) in lines.items()
        if host and host not in allowed
    }


def files_beside(html: str) -> dict[str, int]:
    """Return addresses relative to the page, each with the first line that has it.

    An item's value inside of an address is a placeholder's mark; an address that begins
    with one is the item's own.
    """
    first: dict[str, int] = {}
    number, based = 0, False
    for step in steps(cut(html).marked):
        if step.kind == "start":
            number = step.number
            based |= step.name == "base" and "href" in step.attributes
        for address in _files_of(step):
            if not NOT_BESIDE.match(address) and not is_mark(address[:1]):
                first.setdefault(address, number)
    lines = lines_of(cut(html).marked) if first and not based else []
    return {address: lines[number] for address, number in first.items() if lines}


def _files_of(step: Step) -> Iterator[str]:
    if step.kind == "start":
        for name in FILES.get(step.name, ()):
            text = step.attributes.get(name, "")
            if name == "srcset":
                yield from (each[1].rstrip(",") for each in CANDIDATE.finditer(text))
            elif text.strip():
                yield text.split()[0]
        styled = step.attributes.get("style", "")
    else:
        styled = step.text if step.name == "style" else ""
    yield from (match[1] or match[2] for match in _URL.finditer(styled))
    if step.kind == "text" and step.name == "script":
        yield from (match[1] for match in IN_SCRIPT.finditer(step.text))


def _hosts_of(html: str) -> dict[str, int]:
    """Return the hosts that must be allowed, each with the first line that names it."""
    first: dict[str, int] = {}
    for address, number in _addresses(html):
        _, _, rest = address.partition("//")
        host = _host_of(rest)
        if host and not rest.startswith(KNOWN):
            first.setdefault(host, number)
    lines = lines_of(html) if first else []
    return {host: lines[number] for host, number in first.items()}


def _host_of(rest: str) -> str:
    try:
        return urlsplit(f"//{rest}").netloc
    except ValueError:  # no address that a browser would ask
        return ""


def _addresses(html: str) -> Iterator[tuple[str, int]]:
    """Yield addresses of other hosts, each with the number of its element."""
    number = 0
    for step in steps(html):
        if step.kind == "start":
            number = step.number
            address = step.attributes.get(_LOADS.get(step.name, ""), "").strip()
            is_picture = step.name == "link" and "icon" in step.attributes.get("rel", "")
            if _IS_ELSEWHERE.match(address) and not is_picture:
                yield address, number
        elif step.kind == "text" and step.name == "style":
            for match in _IN_STYLE.finditer(step.text):
                yield match[1], number


def marked_text(task: Task, field: Field, item: Item) -> str | None:
    """Return the text that an item's workers mark, as their browsers read it.

    `None` if the field has no element with a text, or a script fills it in. Of answers
    without a page, from another tool, it is the item's column `text`.
    """
    if field.regions != "entities":
        return None
    if task.html_page is None:
        return item.columns.get("text") if task.own and task.own.path == NO_PAGE else None
    control = _controls(task.html_page).get(field.names_sent[0])
    if control is None or not control.text:
        return None
    filled = as_read(control.text, template_of(task.html_page), _shown(item))
    # A browser reads these in the place of what a page has.
    return with_newlines(filled).replace("\0", "\N{REPLACEMENT CHARACTER}")


def labels_offered(task: Task, field: Field) -> tuple[str, ...]:
    """Return the labels of a field's marks in the page's order; () if the page states none."""
    control = None
    if task.html_page is not None and field.regions:
        control = _controls(task.html_page).get(field.names_sent[0])
    return () if control is None else tuple(control.options)


@lru_cache(maxsize=8)
def _controls(page: HtmlPage) -> dict[str, Control]:
    return dict(controls_of(template_of(page).marked).by_name)
