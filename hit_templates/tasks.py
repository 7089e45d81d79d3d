"""Reads tasks from their folders; adding a folder adds a task.

The gallery's folders are here, a user's own beside a campaign file. Users write a
`task.toml`, so all its faults are reported at once. A folder is read once and completely:
pages are rendered from what was read and hashed here, even if the files change later. Its
example items show the page and the right answers.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from pathlib import Path

from piecework.domain.column_names import faults_of_names
from piecework.domain.errors import ConfigError
from piecework.domain.field import AggregateKind, Field
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.received_files import about_link, outward_link
from piecework.domain.task import GENERIC, PRACTICE, OwnFiles, Task, is_page
from piecework.domain.text import did_you_mean, not_utf8, shell_word
from piecework.domain.toml_text import line_of
from piecework.hit_templates.messages import (
    ENGLISH,
    FOLDER,
    joined,
    languages,
    messages,
    shown_path,
    texts,
)
from piecework.hit_templates.page_compression import decompress
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.rules import check
from piecework.hit_templates.task_schema import (
    faults_between,
    faults_of_rules,
    named_key,
    validated,
)
from piecework.hit_templates.templates import QUESTION

__all__ = ["FOLDER", "load_task", "read_task", "task_names"]


def task_names() -> tuple[str, ...]:
    """Return the gallery's task names, sorted: its folders with a `task.toml`."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob(f"*/{TASK_FILE}")))


def load_task(named: str, language: str = ENGLISH, *, beside: Path | None = None) -> Task:
    """Return the task that a campaign file names, in a language.

    Args:
        named: a gallery name, or a folder's path, which begins with a dot or a slash.
        language: the language of its texts.
        beside: the campaign file's folder, to which paths are relative.

    Raises:
        ConfigError: the task does not exist, is not written in the language, or has
            faulty files.
    """
    if not is_own(named):
        return _of_gallery(named, language)
    folder = (beside or Path()) / named
    name = own_name(folder)
    own = read_own_files(folder)
    return replace(_read_folder(folder, name, language), own=own)


@lru_cache
def _of_gallery(name: str, language: str) -> Task:
    names = task_names()
    if name in GENERIC:
        raise ConfigError(
            [f"The task {name!r} has no question of its own; a campaign file states it."]
        )
    if name not in names:
        known = sorted({*names, *GENERIC})
        meant = did_you_mean(name, known) or "."
        raise ConfigError(
            [f"There is no task {name!r}{meant} There are: {', '.join(known)}."],
            next_step='write one of these; or your own: task = "page.html", or a folder, "./mine"',
        )
    return _read_folder(FOLDER / name, name, language)


def _read_folder(folder: Path, name: str, language: str) -> Task:
    return read_task(
        name,
        (folder / TASK_FILE).read_text("utf-8-sig"),
        wording=messages(folder, language),
        language=language,
        folder=folder,
    )


def read_task(
    name: str,
    text: str,
    *,
    wording: Mapping[str, object] | None = None,
    language: str = ENGLISH,
    folder: Path | None = None,
) -> Task:
    """Return the task that the text of a `task.toml` describes.

    Args:
        name: the task's name.
        text: the text of the file.
        wording: the contents of the language's messages file.
        language: the language's code.
        folder: the file's folder, for its faults; by default in the gallery.

    Raises:
        ConfigError: names every fault of the text and of the messages.
    """
    files = folder or FOLDER / name
    where = shown_path(files / TASK_FILE)
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ConfigError([f"{where}: {fault}."]) from fault
    words = dict(wording or {})
    spoken_in = shown_path(files / f"messages.{language}.toml")
    raw, strange = joined(raw, words, where=spoken_in)
    task = built(raw, name=name, language=language, texts=texts(words))
    if isinstance(task, list):
        raise ConfigError([*(_placed(where, text, raw, fault) for fault in task), *strange])
    if not strange:
        at = spoken_in if "canned_text" in words else ""
        strange = [
            f"{at}: {fault}" if at else _placed(where, text, raw, fault)
            for fault in _faults_of_canned_text(task)
        ]
    if strange:
        raise ConfigError(strange)
    return task


def built(
    raw: dict[str, object], *, name: str, language: str, texts: Mapping[str, str]
) -> Task | list[str]:
    """Return the task that a document describes, or its faults, each a sentence.

    Args:
        raw: the tables of a `task.toml`, with the messages filled in.
        name: the task's name.
        language: the language of its texts.
        texts: the texts of its page, by name.
    """
    task = validated(raw, name=name, language=language, texts=texts)
    faults = [*faults_of_rules(raw), *faults_between(raw)]
    if isinstance(task, list):
        return [*task, *faults]
    return faults or _faults_of_columns(task) or task


def _placed(where: str, text: str, raw: dict[str, object], fault: str) -> str:
    """Return a fault behind the file and the line of its key; entries have their names."""
    key, _, sentence = fault.partition(":")
    location = key.split(".")
    entries = raw.get(location[0])
    if len(location) == 1 and isinstance(entries, list) and entries:
        # The fault does not say which table of a list it means.
        line = None if isinstance(entries[0], dict) else line_of(text, location)
    else:
        line = line_of(text, location)
    at = f"{where}:{line}" if line else where
    return f"{at}: {named_key(raw, location)}:{sentence}"


def _faults_of_columns(task: Task) -> list[str]:
    """Return which names cannot all be columns of the task's dataset, as sentences."""
    if task.dataset == "captions":  # Its files have no column for each field.
        return []
    kinds: dict[str, list[AggregateKind]] = {}
    for aggregate in task.aggregates:
        kinds.setdefault(aggregate.field, []).append(aggregate.kind)
    compared = [
        name
        for condition in task.conditions
        for name in (condition.column, condition.subcondition)
        if name
    ]
    clauses = faults_of_names(
        task.fields, kinds, main_text=task.main_text, columns=dict.fromkeys(compared)
    )
    return [f"fields: {clause}; choose another name." for clause in clauses]


def _faults_of_canned_text(task: Task) -> list[str]:
    """Check that the canned text does not break the rules that apply to it."""
    if not task.canned_text:
        return []
    broken = check(task, {task.main_text: task.canned_text})
    return [
        f"canned_text: this breaks the rule {rule.name}."
        for rule in broken
        if rule.field == task.main_text
    ]


TASK_FILE = "task.toml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_TEMPLATES = {".j2", ".html", ".css", ".js", ".svg"}
_LARGEST_BYTES = 1_000_000
_SHORT = 8


def is_own(named: str) -> bool:
    """Return whether a campaign file names a folder or page, not a gallery task.

    >>> is_own("./dog"), is_own("hit.html"), is_own("caption")
    (True, True, False)
    """
    return named.startswith((".", "/")) or is_page(named)


def own_name(folder: Path) -> str:
    """Return the name of the task in a folder, which is the folder's name.

    Raises:
        ConfigError: the folder does not exist, holds no task, or has an unsuitable
            name.
    """
    name = folder.resolve().name
    if not folder.is_dir():
        fault = f"{folder}: this folder does not exist"
    elif not (folder / TASK_FILE).is_file():
        fault = f"{folder}: holds no {TASK_FILE}, so it is not a task"
    elif not (folder / QUESTION).is_file():
        fault = f"{folder}: holds no {QUESTION}, the page of the task"
    elif not _NAME.fullmatch(name):
        fault = f"{folder}: the task takes the folder's name, and {name!r} has more "
        fault += "than 40 letters, digits, - and _"
    else:
        return name
    raise ConfigError(
        [f"{fault}."],
        next_step=f"`piecework init --new-task {shell_word(folder)}` writes one that runs",
    )


def read_own_files(folder: Path) -> OwnFiles:
    """Read every file in a folder that decides what workers see and answer.

    These are the task file, messages and templates, but not notes, examples and items.

    Raises:
        ConfigError: a file cannot be read as text, is too large for any page, or is a
            link that leads out of the folder.
    """
    paths = [path for path in sorted(folder.iterdir()) if _decides(path)]
    links = [outward_link(path.name, beside=folder) for path in paths]
    if faults := [about_link(link, beside=folder) for link in links if link]:
        raise ConfigError(
            [f"{fault}." for fault in faults],
            next_step=("templates may only read files in their own folder; copy the file there"),
        )
    texts = {path.name: _text(path) for path in paths if path.is_file()}
    digest, digests = hashlib.sha256(), {}
    for name, text in texts.items():
        digests[name] = hashlib.sha256(text.encode()).hexdigest()[:_SHORT]
        for part in (name, text):
            digest.update(hashlib.sha256(part.encode()).digest())
    templates = {name: text for name, text in texts.items() if Path(name).suffix in _TEMPLATES}
    return OwnFiles(
        path=str(folder), digest=digest.hexdigest(), templates=templates, digests=digests
    )


def _decides(path: Path) -> bool:
    is_words = path.name.startswith("messages.") and path.suffix == ".toml"
    return path.name == TASK_FILE or is_words or path.suffix in _TEMPLATES


def _text(path: Path) -> str:
    if path.stat().st_size > _LARGEST_BYTES:
        raise ConfigError([f"{path}: this file is larger than any page can be."])
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise ConfigError([f"{path}: {not_utf8(fault)}."]) from fault


EXAMPLE = "example.jsonl"


def example_items(task: Task) -> tuple[Item, ...]:
    """Return the items of the folder's `example.jsonl`, trials included, if it exists.

    Raises:
        ConfigError: the file is not JSON Lines of flat objects with an id.
    """
    path = (Path(task.own.path) if task.own else FOLDER / task.name) / EXAMPLE
    if not path.is_file():
        return ()
    try:
        lines = path.read_text("utf-8-sig").split("\n")
        rows = [json.loads(line) for line in lines if line.strip()]
        return tuple(
            Item(
                item_id=ItemId(row[task.columns[0]]),
                columns={name: str(cell) for name, cell in row.items()},
            )
            for row in rows
        )
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        needs = f"each line is one object with {task.columns[0]!r}"
        raise ConfigError([f"{path}: {needs} ({fault})."]) from fault


_PICTURE = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='640' "
    "height='420'%3E%3Crect width='640' height='420' fill='%23bcd7ee'/%3E"
    "%3Crect y='290' width='640' height='130' fill='%237a9a5b'/%3E"
    "%3Ccircle cx='540' cy='80' r='42' fill='%23f3c64b'/%3E%3C/svg%3E"
)
"""A placeholder for pictures that only a marketplace serves."""

_SERVED = re.compile(r'src="/[^"/][^"]*"')

_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Tasks</title><style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem;
  padding: 0 1rem; color: #1b1b1b; background: #fff; }
iframe { width: 100%; height: 46rem; border: 1px solid #767b83; border-radius: .4rem; }
dt { font-weight: 600; }
</style><script>
// Each page reports its height, so that only this page scrolls.
addEventListener("message", ({ source, data }) => {
  for (const frame of document.querySelectorAll("iframe"))
    if (frame.contentWindow === source && data && data.pieceworkHeight > 0)
      frame.style.height = `${Math.min(data.pieceworkHeight, 4000) + 2}px`;
});
</script></head><body><h1>Tasks</h1>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTask:
    """A task and its name in a campaign file."""

    named: str
    task: Task
    languages: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return plain values, for `--json`."""
        task = self.task
        return {
            "task": self.named,
            "title": task.title,
            "columns": list(task.columns),
            "optional_columns": list(task.optional_columns),
            "items_per_hit": task.items_per_hit,
            "languages": list(self.languages),
            "fields": [
                {
                    "name": field.name,
                    "kind": field.kind,
                    "scope": field.scope,
                    "label": field.label,
                    "options": [option.value for option in field.options],
                }
                for field in task.fields
            ],
        }


def list_tasks(folders: Sequence[Path]) -> list[ListedTask]:
    """Return the gallery's tasks, then those of the folders or the current folder.

    A folder either is a task or holds tasks.

    Raises:
        ConfigError: a named folder holds no task, or one with faults.
    """
    folders = [task for folder in folders or [Path()] for task in _tasks_of(folder)]
    named = [(name, FOLDER / name) for name in task_names()]
    named += [(_as_named(folder), folder) for folder in folders]
    tasks = []
    for name, folder in named:
        spoken = languages(folder)
        language = ENGLISH if ENGLISH in spoken or not spoken else spoken[0]
        task = load_task(name, language)
        tasks.append(ListedTask(named=name, task=task, languages=spoken))
    return tasks


def _tasks_of(folder: Path) -> list[Path]:
    """Return the folder itself, or the folders in it that hold a task."""
    inside = sorted(path.parent for path in folder.glob(f"*/{TASK_FILE}"))
    if (folder / TASK_FILE).is_file() or (folder != Path() and not inside):
        return [folder]
    # The gallery's tasks are already listed by name.
    return [path for path in inside if path.resolve().parent != FOLDER]


def _as_named(folder: Path) -> str:
    """Return the name that a campaign file in the current folder uses for a folder."""
    named = str(folder)
    return named if is_own(named) else f"./{named}"


def render_tasks(tasks: Sequence[ListedTask]) -> str:
    """Render an HTML page that shows every task and lets you step through it.

    Raises:
        ConfigError: a task's example or template has a fault.
    """
    parts = [_HEAD]
    for listed in tasks:
        task = listed.task
        asked = "".join(f"<li>{escape(describe_field(field))}</li>" for field in task.fields)
        parts.append(
            f"<h2>{escape(listed.named)}</h2><p>{escape(task.description)}</p><dl>"
            f"<dt>Asked</dt><dd><ul>{asked}</ul></dd><dt>Item columns</dt>"
            f"<dd>{escape(', '.join((*task.columns, *task.optional_columns)))}</dd>"
            f"</dl>{_preview(task)}\n"
        )
    return "".join([*parts, "</body></html>\n"])


def _preview(task: Task) -> str:
    """Render the task's page with its example items in a sandboxed frame."""
    items = example_items(task)
    shown = [item for item in items if not item.columns.get(PRACTICE)]
    trials = [item for item in items if item.columns.get(PRACTICE)]
    if not shown:
        return "<p>Its folder has no example.jsonl, so there is nothing to show.</p>"
    page = decompress(render_hit(task, shown[: task.items_per_hit], practice=trials))
    page = _SERVED.sub(f'src="{_PICTURE}"', page)
    title = escape(f"The page of {task.name}")
    return (
        f'<iframe sandbox="allow-scripts" title="{title}" loading="lazy" '
        f'srcdoc="{escape(page)}"></iframe>'
    )


def describe_field(field: Field) -> str:
    """Describe a field in one line: its name, its kind and the possible answers."""
    once = ", once per HIT" if field.scope == "hit" else ""
    if field.kind == "number":
        return f"{field.name}: {field.minimum:g} to {field.maximum:g}{once}"
    if field.kind == "text":
        return f"{field.name}: text{once}"
    options = [option.value for option in field.options]
    several = "one of" if field.kind == "choice" else "any of"
    return f"{field.name}: {several} {', '.join(options)}{once}"
