"""One self-contained page that says how a dataset was made and whether to trust it."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from piecework.report.facts import ReportFacts
from piecework.report.formatting import excerpt
from piecework.report.model import report_model
from piecework.report.sections import SECTIONS, overview, summary

_TEMPLATES = Path(__file__).with_name("templates")

_TITLE_CHARACTERS = 120
_PURPOSE_CHARACTERS = 1200


def render(facts: ReportFacts) -> str:
    """The report as HTML; equal facts give equal bytes.

    Nothing in it is loaded from anywhere, nothing is a script, and whatever a worker
    typed is escaped, shortened and set apart.
    """
    model = report_model(facts)
    sections = [section for build in SECTIONS if (section := build(model))]
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            campaign=excerpt(facts.campaign, limit=_TITLE_CHARACTERS),
            purpose=excerpt(facts.purpose, limit=_PURPOSE_CHARACTERS),
            is_rehearsal=facts.is_rehearsal,
            is_imported=facts.imported is not None,
            is_finished=facts.is_finished,
            time_span=facts.time_span,
            in_short=overview.paragraphs(model),
            key_figures=summary.key_figures(model),
            notes=summary.notes(model),
            sections=sections,
        )
    )


def environment() -> Environment:
    """Templates of pages: everything escaped, nothing undefined let through."""
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
