"""Makes the page of a HIT, and wraps it as MTurk's HTMLQuestion.

Items come from strangers' files: whatever is put into a page is escaped, and what could
not be carried faithfully (control characters, addresses of another kind than http) is
refused before anything is posted.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from domain.errors import ConfigError
from domain.hit import Item
from domain.task import Task
from hit_templates.answers import MEASURES
from hit_templates.tasks import FOLDER
from hit_templates.words import CHARACTERS

NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
    "2011-11-11/HTMLQuestion.xsd"
)
MOST_QUESTION_BYTES = 65_535
"""MTurk refuses a longer `Question` (its API reference, 2017-01-17)."""

# What XML 1.0 cannot carry, and the carriage return, which it would change.
_NOT_FOR_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


def render_hit(
    task: Task, items: Sequence[Item], *, title: str = "", round_number: int = 0
) -> str:
    """The page that shows these items, as a complete HTML document.

    Args:
        task: whose page it is.
        items: what the HIT shows, in this order; as many as the task allows at most.
        title: what the worker reads on top; empty: the task's own title.
        round_number: above 0 the page asks workers who know some of the items to
            return the HIT.

    Raises:
        ConfigError: with every fault of the items.
    """
    faults = [*_faults_of_number(task, items), *item_faults(task, items)]
    if faults:
        raise ConfigError(faults)
    template = _environment().get_template(f"{task.name}/question.html.j2")
    return template.render(
        task=task,
        title=title or task.title,
        noun="Image" if "url" in task.columns else "Item",
        items=list(enumerate(items, start=1)),
        fields={field.name: field for field in task.fields},
        measures=MEASURES,
        minimum_words=_minimum_words(task),
        round_number=round_number,
        page_data=_page_data(task),
    )


def item_faults(task: Task, items: Sequence[Item]) -> list[str]:
    """Why these items cannot be shown, one sentence each."""
    return [
        f"item {item.item_id!r}: {fault}."
        for item in items
        for fault in _faults_of_item(task, item)
    ]


def html_question(html: str, frame_height: int = 0) -> str:
    """The page as MTurk's HTMLQuestion.

    Args:
        html: a complete HTML document.
        frame_height: of the iframe, in pixels; 0 fits the window.

    Raises:
        ConfigError: it holds what XML cannot carry, or is longer than MTurk allows.
    """
    found = _NOT_FOR_XML.search(html)
    if found:
        line = html.count("\n", 0, found.start()) + 1
        raise ConfigError(
            [f"The page holds the character {found[0]!r} in line {line}: not for XML."]
        )
    cdata = html.replace("]]>", "]]]]><![CDATA[>")
    question = (
        f'<HTMLQuestion xmlns="{escape(NAMESPACE)}">\n'
        f"<HTMLContent><![CDATA[{cdata}]]></HTMLContent>\n"
        f"<FrameHeight>{frame_height:d}</FrameHeight>\n"
        "</HTMLQuestion>"
    )
    size = question_bytes(question)
    if size > MOST_QUESTION_BYTES:
        raise ConfigError(
            [f"The question has {size:,} bytes; at most {MOST_QUESTION_BYTES:,} fit."],
            next_step="Show fewer items in a HIT, or shorten their columns.",
        )
    return question


def question_bytes(question: str) -> int:
    """How long a question is for MTurk: bytes of UTF-8."""
    return len(question.encode())


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["packed"] = _packed
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment


def _packed(name: str) -> Markup:
    """One of our own scripts or styles, without indents and lines of comment.

    A question has room for 65,535 bytes; what is only for us need not travel.
    """
    lines = (line.strip() for line in (FOLDER / name).read_text("utf-8").splitlines())
    kept = [line for line in lines if line and not line.startswith("//")]
    return Markup("\n".join(kept))  # noqa: S704 - files of this folder, no stranger's


def _page_data(task: Task) -> Mapping[str, object]:
    """What the page's scripts need to know."""
    return {
        "task": task.name,
        "version": task.version,
        "measures": MEASURES,
        "characters": CHARACTERS,
        "fields": [{"name": f.name, "kind": f.kind} for f in task.fields],
        "rules": [
            {
                "name": rule.name,
                "kind": rule.kind,
                "field": rule.field,
                "parameters": rule.parameters,
                "message": rule.message,
            }
            for rule in task.rules
        ],
    }


def _minimum_words(task: Task) -> Mapping[str, object]:
    """The least number of words by field, for fields that have one."""
    return {
        rule.field: rule.parameters["minimum"]
        for rule in task.rules
        if rule.kind == "min_words"
    }


def _faults_of_number(task: Task, items: Sequence[Item]) -> list[str]:
    if 0 < len(items) <= task.items_per_hit:
        return []
    return [
        f"A HIT of {task.name} shows 1 to {task.items_per_hit} items, not {len(items)}."
    ]


def _faults_of_item(task: Task, item: Item) -> list[str]:
    faults = [
        f"the column {name} is missing or empty"
        for name in task.columns
        if not item.columns.get(name, "").strip()
    ]
    if any(character < " " for character in item.item_id):
        faults.append("the id holds a control character, a tab or a line break")
    faults += [
        f"the column {name} holds the control character {found[0]!r}"
        for name, text in item.columns.items()
        if (found := _NOT_FOR_XML.search(text))
    ]
    faults += [
        f"{name} is {url!r}, neither http(s)://... nor a path that starts with /"
        for name, url in item.columns.items()
        if (name == "url" or name.endswith("_url")) and url and not _is_address(url)
    ]
    return faults


def _is_address(url: str) -> bool:
    if re.search(r"[\s\\]", url):  # browsers take a backslash for a slash
        return False
    if url.startswith("/"):
        return not url.startswith("//")
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)
