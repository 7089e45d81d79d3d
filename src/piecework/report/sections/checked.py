"""The results of checks that the first page has no room for."""

from piecework.report.components import Section
from piecework.report.model import ReportModel
from piecework.report.sections import overview, summary


def build(model: ReportModel) -> Section | None:
    """List the notes that the first page leaves out, the gravest first."""
    shown = overview.cares(model).notes
    notes = tuple(note for note in summary.notes(model) if note not in shown)
    if not notes:
        return None
    return Section(key="checked", title="What else was checked", notes=notes)
