"""The example items of a task's folder, as its page shows them."""

from dataclasses import dataclass

from piecework.domain.hit import Item
from piecework.domain.task import PRACTICE, Task
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import example_items


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A HIT of a task with its example items."""

    task: Task
    items: tuple[Item, ...]
    practice: tuple[Item, ...]

    @property
    def page(self) -> str:
        """The HIT's page."""
        return render_hit(self.task, self.items, practice=self.practice)


def example_of(task: Task) -> Example:
    """What `example.jsonl` holds."""
    items = example_items(task)
    return Example(
        task=task,
        items=tuple(item for item in items if not item.columns.get(PRACTICE)),
        practice=tuple(item for item in items if item.columns.get(PRACTICE)),
    )
