"""Fill in pages of requesters' own HTML, and send what they would send."""

from collections.abc import Sequence
from dataclasses import replace

from piecework.domain.column_names import MEASURES
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.task import Field, Task
from piecework.hit_templates.jinja_helpers import wire
from piecework.hit_templates.own_html.fields import as_page_sends
from piecework.simulation.crowd.answering import Form
from piecework.simulation.crowd.judging import Judging
from piecework.simulation.crowd.page import Page
from piecework.simulation.crowd.people import Person

_MOST_STEPS = 200
_FIRST = 1


def answerable(task: Task) -> Task:
    """Narrow a task's numbers to those a person would enter, not billions of steps."""
    return replace(task, fields=tuple(map(_narrowed, task.fields)))


def _narrowed(field: Field) -> Field:
    if field.kind != "number":
        return field
    if (field.maximum - field.minimum) / field.step <= _MOST_STEPS:
        return field
    low = max(field.minimum, 0.0) if field.maximum > 0 else field.minimum
    high = min(field.maximum, low + 100)
    return replace(field, minimum=low, maximum=high, step=(high - low) / 100)


class FillingPages:
    """Simulated answers on requesters' own HTML pages."""

    def __init__(self, task: Task, judging: Judging) -> None:
        """Answer as `judging` does, with the page's own names."""
        self._task = task
        self._judging = judging

    def knows(self, item_id: ItemId) -> bool:
        """Return whether a worker can answer anything about this item."""
        return self._judging.knows(item_id)

    def fill_in(
        self,
        page: Page,
        assignment_id: AssignmentId,
        *,
        person: Person,
        shown_ms: Sequence[int],
        seed: int,
    ) -> Form:
        """Return the form that this person submits, as the page would send it."""
        ours = self._judging.fill_in(
            self._named_as_ours(page), assignment_id, person=person, shown_ms=shown_ms, seed=seed
        )
        is_crowd = page.controls is not None and page.controls.has_crowd_form
        carried = {} if page.controls is None else {
            name: [page.fixed[name]]
            for name, control in page.controls.by_name.items()
            if control.kind == "carried" and name in page.fixed and name not in ours
        }  # fmt: skip
        return carried | as_page_sends(self._task.fields, ours, is_crowd=is_crowd)

    def _named_as_ours(self, page: Page) -> Page:
        """Return the page's controls under the names of the task's fields.

        A field created only by a script is taken from the task.
        """
        controls = {} if page.controls is None else page.controls.by_name
        measured = {f"{name}.{_FIRST}" for name in ("item", *MEASURES)}
        made = Page(fixed={name: page.fixed[name] for name in measured if name in page.fixed})
        made.names = dict.fromkeys(sorted(made.fixed))
        for field in self._task.fields:
            name = wire(field, _FIRST)
            made.names[name] = None
            control = controls.get(field.sent_as)
            if field.kind == "text":
                made.texts.append(name)
            elif field.options:
                known = [option.value for option in field.options]
                made.options[name] = list(control.options) if control else known
                made.options[name] = made.options[name] or known
        return made
