"""The templates of tasks: one sandboxed Jinja for all, and its faults in words.

A template of the gallery is found by the task's name, one that lies beside a campaign
among the files that were read with its task. Both may extend and import the gallery's
frame and macros. Whatever fails in a template is told with the file and line it is in.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from traceback import walk_tb

from jinja2 import (
    ChoiceLoader,
    FileSystemLoader,
    FunctionLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment

from domain.errors import ConfigError
from domain.task import OwnFiles, Task
from hit_templates.blank_page import NeedsValue, printed
from hit_templates.jinja_helpers import (
    filled,
    grouped,
    minified,
    plain_number,
    rich,
    steps_of,
    wire,
)
from hit_templates.messages import FOLDER

QUESTION = "question.html.j2"
"""The template of a task's page."""


@lru_cache
def environment() -> ImmutableSandboxedEnvironment:
    """Templates of tasks: everything escaped, nothing undefined let through.

    The sandbox keeps a template from Python's insides and from changing its values.
    """
    made = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=printed,
    )
    made.globals.update(
        minified=minified, wire=wire, grouped=grouped, steps_of=steps_of
    )
    made.filters.update(rich=rich, filled=filled, plain_number=plain_number)
    return made


def has_template(task: Task, name: str) -> bool:
    """Whether the task's folder has a template of this name."""
    if task.own is not None:
        return name in task.own.templates
    return (FOLDER / task.name / name).is_file()


def rendered(task: Task, name: str, values: Mapping[str, object]) -> str:
    """What a template of the task's folder makes of these values.

    Raises:
        ConfigError: the template has a fault; with file and line.
        NeedsValue: it does more than print a slot (`blank_page`).
    """
    try:
        if task.own is None:
            page = environment().get_template(f"{task.name}/{name}")
        else:
            page = _own_environment(task.own).get_template(name)
        return page.render(values)
    except NeedsValue:
        raise
    # A template can divide by zero, call what is no function, or nest without end.
    except Exception as fault:
        raise ConfigError(
            [_told(task, name, fault)],
            next_step="docs/macros.md says what templates can use, with examples",
        ) from fault


@lru_cache(maxsize=32)
def _own_environment(own: OwnFiles) -> ImmutableSandboxedEnvironment:
    def read(name: str) -> tuple[str, str, None] | None:
        text = own.templates.get(name)
        return None if text is None else (text, str(Path(own.path) / name), None)

    return environment().overlay(
        loader=ChoiceLoader([FunctionLoader(read), FileSystemLoader(FOLDER)])
    )


def _told(task: Task, name: str, fault: Exception) -> str:
    """A fault as a sentence that begins with where it is."""
    if isinstance(fault, TemplateSyntaxError):
        file = fault.filename or fault.name or name
        return f"{file}:{fault.lineno}: {str(fault.message).rstrip('.')}."
    where = next(_lines_in_templates(fault), _path(task, name))
    if isinstance(fault, TemplateNotFound):
        beside = ", ".join(sorted(task.own.templates)) if task.own else ""
        there = f"; beside it lie {beside}" if beside else ""
        return f"{where}: there is no template {fault.name!r}{there}."
    said = str(fault) or type(fault).__name__
    if not isinstance(fault, TemplateError):
        said = f"{said} ({type(fault).__name__})"
    return f"{where}: {said.rstrip('.')}."


def _lines_in_templates(fault: Exception) -> Iterator[str]:
    """Where in templates it came to this, the innermost place first."""
    frames = [
        f"{frame.f_code.co_filename}:{line}"
        for frame, line in walk_tb(fault.__traceback__)
        if frame.f_code.co_filename.endswith(".j2")
    ]
    return reversed(frames)


def _path(task: Task, name: str) -> str:
    folder = task.own.path if task.own else f"hit_templates/{task.name}"
    return f"{folder}/{name}"
