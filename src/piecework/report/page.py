"""The report: one self-contained page on how a dataset was made, and its first page in Markdown.

Programs that do not show HTML read Markdown. A page of sections about one source is used
when there is no campaign to report on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from piecework.report.components import KeyFigure, Note, Section
from piecework.report.facts import ReportFacts
from piecework.report.formatting import excerpt, in_markdown
from piecework.report.model import report_model
from piecework.report.sections import items, overview, parts, summary

_TEMPLATES = Path(__file__).with_name("templates")

_TITLE_CHARACTERS = 120
_PURPOSE_CHARACTERS = 1200


def render_report(facts: ReportFacts) -> str:
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
            results=overview.results(model),
            aspects=overview.aspects(model),
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


def render_markdown(facts: ReportFacts) -> str:
    """Render key figures and notes on trust, without any text typed by workers."""
    model = report_model(facts)
    kind = "a rehearsal on simulated workers" if facts.is_rehearsal else "a campaign"
    state = "finished" if facts.is_finished else "NOT FINISHED"
    span = f"{facts.time_span} UTC" if facts.time_span else "times unknown"
    decided_by = facts.sources[-1]
    lines = [
        f"# {in_markdown(facts.campaign)}",
        "",
        in_markdown(excerpt(facts.purpose, limit=1200)),
        "",
        f"Report on {kind}, {state}: {span}.",
        "",
        "| figure | value | details |",
        "|---|---:|---|",
        *(
            f"| {' | '.join(map(in_markdown, (each.label, each.value, each.beside)))} |"
            for each in summary.key_figures(model)
        ),
        "",
        *(f"- **{note.word}**: {in_markdown(note.text)}" for note in summary.summary_notes(model)),
        "",
        f"Made by the campaign file with the sha256 {in_markdown(decided_by.sha256)}.",
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsPage:
    """The content about one source, the same in a terminal and on a page.

    Attributes:
        source: the file or campaign that it is about.
        kicker: the kind of page, in a few words.
        title: the same words after the source in the window's title; "" for the kicker.
        purpose: how to read it, in a sentence or two.
    """

    source: str
    kicker: str
    purpose: str
    key_figures: Sequence[KeyFigure]
    notes: Sequence[Note]
    sections: Sequence[Section]
    title: str = ""


def render_sections(page: SectionsPage) -> str:
    """Render the page as self-contained HTML; equal pages give equal bytes.

    As in the report, the page loads nothing and has no scripts; untrusted text is escaped
    and shortened.
    """
    return (
        environment()
        .get_template("sections.html.j2")
        .render(
            source=excerpt(page.source, limit=_TITLE_CHARACTERS),
            kicker=page.kicker,
            title=page.title or page.kicker,
            purpose=page.purpose,
            key_figures=page.key_figures,
            notes=page.notes,
            sections=page.sections,
        )
    )
