"""A test that people take before they may work, and the score that passes."""

from collections.abc import Mapping
from dataclasses import dataclass

from piecework.domain.hit import Item
from piecework.domain.task import GOLD, Field, Task

SECTION = "section"
"""The column of a test's items that names the section of a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualificationTest:
    """A qualification test, as the campaign file states it.

    Attributes:
        name: name of the platform's qualification type; campaigns with the same name
            share it, so no worker takes it twice.
        task: the task with the form; its only field is one choice.
        items: the questions, each with the right answer in `gold.<field>`.
        correct_at_least: right answers needed, by section; all must be reached.
        duration_seconds: the time limit.
        retry_seconds: time after which it may be taken again; `None`: only once.
    """

    name: str
    task: Task
    items: tuple[Item, ...]
    correct_at_least: Mapping[str, int]
    duration_seconds: int
    retry_seconds: int | None = None

    @property
    def field(self) -> Field:
        """The field that every question asks."""
        return self.task.item_fields[0]

    @property
    def sections(self) -> dict[str, tuple[Item, ...]]:
        """The questions by section, in the order of the file."""
        sections: dict[str, tuple[Item, ...]] = {}
        for item in self.items:
            name = item.columns.get(SECTION, "")
            sections[name] = (*sections.get(name, ()), item)
        return sections

    @property
    def least_passing(self) -> int:
        """The least score that passes: right answers of all sections together.

        The score is the number of right answers if every section has enough of them,
        else 0: a surplus in one section cannot make up for a lack in another.
        """
        return sum(self.correct_at_least.values())

    def right_answer(self, item: Item) -> str:
        """Return the right answer to a question; empty if the items file lacks it."""
        return item.columns.get(GOLD + self.field.name, "")
