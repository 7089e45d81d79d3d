"""Lists tasks with their fields, columns and pages: the gallery's and a folder's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from piecework.domain.task import PRACTICE, Field, Task
from piecework.hit_templates.example_items import example_items
from piecework.hit_templates.messages import ENGLISH, FOLDER, languages
from piecework.hit_templates.own_files import TASK_FILE, is_own
from piecework.hit_templates.page_compression import decompress
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task, task_names

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
