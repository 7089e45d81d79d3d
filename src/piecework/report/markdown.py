"""The first page of the report in Markdown, for programs that show no HTML of ours."""

import re

from piecework.report.facts import ReportFacts
from piecework.report.formatting import excerpt
from piecework.report.model import report_model
from piecework.report.sections import summary

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def render_markdown(facts: ReportFacts) -> str:
    """Key figures and what bears on trust; nothing that a worker typed is in it."""
    model = report_model(facts)
    kind = "a rehearsal on simulated workers" if facts.is_rehearsal else "a campaign"
    state = "finished" if facts.is_finished else "NOT FINISHED"
    span = f"{facts.time_span} UTC" if facts.time_span else "times not known"
    lines = [
        f"# {_plain(facts.campaign)}",
        "",
        _plain(excerpt(facts.purpose, limit=1200)),
        "",
        f"The report of {kind}, {state}: {span}.",
        "",
        "| what | how much | beside it |",
        "|---|---:|---|",
        *(
            f"| {_plain(figure.label)} | {_plain(figure.value)} "
            f"| {_plain(figure.beside)} |"
            for figure in summary.key_figures(model)
        ),
        "",
        *(f"- **{note.word}**: {_plain(note.text)}" for note in summary.notes(model)),
    ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Words that stand in Markdown as they are, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
