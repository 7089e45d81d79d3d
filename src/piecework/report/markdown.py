"""The first page of the report in Markdown, for programs that do not show its HTML."""

import re

from piecework.report.facts import ReportFacts
from piecework.report.formatting import excerpt
from piecework.report.model import report_model
from piecework.report.sections import summary

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def render_markdown(facts: ReportFacts) -> str:
    """Render key figures and notes on trust, without any text typed by workers."""
    model = report_model(facts)
    kind = "a rehearsal on simulated workers" if facts.is_rehearsal else "a campaign"
    state = "finished" if facts.is_finished else "NOT FINISHED"
    span = f"{facts.time_span} UTC" if facts.time_span else "times unknown"
    decided_by = facts.sources[-1]
    lines = [
        f"# {_plain(facts.campaign)}",
        "",
        _plain(excerpt(facts.purpose, limit=1200)),
        "",
        f"Report on {kind}, {state}: {span}.",
        "",
        "| figure | value | details |",
        "|---|---:|---|",
        *(
            f"| {_plain(figure.label)} | {_plain(figure.value)} | {_plain(figure.beside)} |"
            for figure in summary.key_figures(model)
        ),
        "",
        *(f"- **{note.word}**: {_plain(note.text)}" for note in summary.notes(model)),
        "",
        f"Made by the campaign file with the sha256 {_plain(decided_by.sha256)}.",
    ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Escape text for Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
