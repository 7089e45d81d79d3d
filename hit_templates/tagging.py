"""Builds the task `tag`, whose workers mark things in a picture or words in a text.

What the campaign file states becomes a page with a crowd element, as a requester of MTurk
would have written it, so answers, aggregates and exports are those of such a page.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.task import Part, Task
from piecework.hit_templates.generic import (
    ANSWER,
    Asked,
    Row,
    faults_of_keys,
    faults_of_stated,
    own_files,
    shown_parts,
    title_of,
)
from piecework.hit_templates.messages import frame_texts
from piecework.hit_templates.own_html.placeholders import cut
from piecework.hit_templates.own_html.task import Around, html_task

TAG = "tag"
"""What a campaign file calls the task."""

_SECONDS = 45.0
"""A careful worker's time for an item (ours)."""


def tag_task(asked: Asked, rows: Sequence[Row], *, grows: bool = False) -> Task:
    """Return the task that the file states, for items with these columns.

    Workers mark the picture, or else the last column of text; they read the other texts.

    Args:
        asked: what the file states.
        rows: the items' rows, or the first of them; without any, the page shows no item.
        grows: more rows may arrive, so a cell may be empty in any column.

    Raises:
        ConfigError: each fault begins with its key.
    """
    parts = shown_parts(asked, rows, grows=grows)
    faults = [*faults_of_keys(asked.kind, asked.stated), *faults_of_stated(asked)]
    faults += [*_faults(asked, parts, grows=grows)] if rows else []
    if faults:
        raise ConfigError(faults)
    page = _page(asked, parts)
    around = Around(
        title=title_of(asked.question or ""),
        description=asked.description,
        fields={},
        reward_cents=asked.reward_cents,
        seconds=asked.seconds,
        language=asked.language,
        header=tuple(dict.fromkeys(name for row in rows for name in row)),
    )
    task = html_task(Path(asked.path), around, page)
    # A row that arrives later and has nothing to mark is set aside.
    marked = _marked(parts)
    needed = () if marked is None else (marked.column,)
    own = own_files(asked)
    digest = hashlib.sha256(f"{own.digest}{page}".encode()).hexdigest()
    return replace(
        task,
        name=TAG,
        columns=(*task.columns, *needed),
        optional_columns=tuple(name for name in task.optional_columns if name not in needed),
        seconds_per_item=task.seconds_per_item if asked.seconds else _SECONDS,
        own=replace(own, digest=digest, templates={}),
    )


def _marked(parts: Sequence[Part]) -> Part | None:
    """Return what workers mark: the picture, or else the last text."""
    pictures = [part for part in parts if part.kind == "picture"]
    texts = [part for part in parts if part.kind == "text"]
    return next(iter([*pictures, *reversed(texts)]), None)


def _faults(asked: Asked, parts: Sequence[Part], *, grows: bool) -> Iterator[str]:
    marked = _marked(parts)
    if marked is None:
        yield "items: workers mark a picture or a text, and no column holds any"
    elif marked.may_lack and not grows:
        yield f"items: a row has no {marked.column}, so there is nothing to mark; remove the row"
    others = [part.column for part in parts if part is not marked and part.kind != "text"]
    if others:
        yield (
            f"items: workers mark one picture or text, but {others[0]} is another; write a page "
            "of your own, or leave that column out"
        )
    for column in (part.column for part in parts):
        if cut(f"${{{column}}}").columns != (column,):
            yield (
                f"items: the column {column!r} cannot be in a gap of a page; name it "
                f"otherwise: columns = {{ text = {json.dumps(column)} }}"
            )
    for value, label in asked.options:
        if label != value:
            yield f"options: a tag is shown as it is sent, so {value!r} takes no label"


def _page(asked: Asked, parts: Sequence[Part]) -> str:
    # Before the first row of items that grow, the column is not known.
    marked = _marked(parts)
    labels = [value for value, _ in asked.options]
    column = "" if marked is None else f"${{{marked.column}}}"
    if marked is not None and marked.kind == "picture":
        name, source = "crowd-bounding-box", f'src="{column}"'
        offered: list[object] = [*labels]
    else:
        name, source = "crowd-entity-annotation", f'text="{column}"'
        offered = [{"label": label} for label in labels]
    read = "".join(f"<p>${{{part.column}}}</p>" for part in parts if part is not marked)
    lines = "".join(f"<p>{_plain(line)}</p>" for line in asked.instructions)
    instructions = lines and f"<short-instructions>{lines}</short-instructions>"
    frame = frame_texts(asked.language)
    question = asked.question or ""
    return (
        f'<!DOCTYPE html><html lang="{frame["html_lang"]}" dir="{frame["html_dir"]}">'
        f"{_HEAD}<title>{_plain(title_of(question))}</title>"
        f'<main><crowd-form><h1>{_plain(question)}</h1>{read}<{name} name="{ANSWER}" {source} '
        f'labels="{_plain(json.dumps(offered))}">{instructions}</{name}></crowd-form></main>'
    )


_HEAD = (
    '<meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>'
    "<style>h1 { font-size: 1rem; margin: 0 0 1rem }</style>"
)
"""The marketplace serves its own elements in place of that script."""


def _plain(text: str) -> str:
    """Escape a text for a page in which `${` and `{{` begin a placeholder."""
    return escape(text).replace("$", "&#36;").replace("{", "&#123;")
