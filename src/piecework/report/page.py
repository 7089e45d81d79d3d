"""The report: one self-contained page on how a dataset was made."""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from piecework.report.facts import ReportFacts
from piecework.report.formatting import excerpt
from piecework.report.model import report_model
from piecework.report.sections import aspects, items, overview, parts

_TEMPLATES = Path(__file__).with_name("templates")

_TITLE_CHARACTERS = 120
_PURPOSE_CHARACTERS = 1200


def render(facts: ReportFacts) -> str:
    """Render the report as HTML; equal facts give equal bytes.

    The page loads no other resources and has no scripts. Text typed by workers is
    escaped, shortened and marked as a quotation.
    """
    model = report_model(facts)
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            campaign=excerpt(facts.campaign, limit=_TITLE_CHARACTERS),
            purpose=excerpt(facts.purpose, limit=_PURPOSE_CHARACTERS),
            is_rehearsal=facts.is_rehearsal,
            is_finished=facts.is_finished,
            time_span=facts.time_span,
            questions=overview.questions(model),
            aspects=aspects.aspects(model),
            gallery=items.gallery(model),
            parts=parts(model),
        )
    )


def environment() -> Environment:
    """Return an environment that escapes everything and refuses undefined names."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["with_code"] = with_code
    return made


def with_code(sentence: str) -> Markup:
    """Escape a sentence, and mark as code what is between backticks."""
    escaped = str(escape(sentence))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))  # noqa: S704 - escaped above
