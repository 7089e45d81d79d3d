"""Finds what a user's own page lacks but its scripts and answers need."""

from collections.abc import Iterator

from piecework.domain.task import Field, Task
from piecework.hit_templates.jinja_helpers import wire
from piecework.hit_templates.templates import QUESTION

_FIRST = 1
"""The position to check; a template shows all items alike."""


def page_faults(task: Task, page: str) -> list[str]:
    """Why a page cannot be answered, one sentence each.

    Args:
        task: a task from a user's folder.
        page: its page with at least one item, not compressed.
    """
    where = f"{task.own.path if task.own else task.name}/{QUESTION}"
    return [f"{where}: {fault}." for field in task.fields for fault in _faults_of(field, page)]


def _faults_of(field: Field, page: str) -> Iterator[str]:
    n = "hit" if field.scope == "hit" else _FIRST
    position = '"hit"' if field.scope == "hit" else "n"
    name, place = wire(field, n), f"faults-{field.name}-{n}"
    if f'name="{name}"' not in page:
        macro = _MACROS[field.kind]
        yield (
            f"the page does not ask for the field {field.name} (a control named "
            f"{name}); write {{{{ {macro}(fields.{field.name}, {position}) }}}}"
        )
    elif page.count(f'id="{place}"') != 1:
        yield (
            f"the field {field.name} needs one place for its messages; write "
            f"{{{{ faults(fields.{field.name}, {position}) }}}} beside its control"
        )


_MACROS = {"text": "text_area", "choice": "choice", "choices": "choices", "number": "slider"}
