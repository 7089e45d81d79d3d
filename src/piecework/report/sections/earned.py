"""Which qualifications workers earned by their work, and which they lost."""

from piecework.domain.counts import count, plural, share
from piecework.report.components import Cell, Code, Section, Table, number, text
from piecework.report.facts import Earned, EarnedChange
from piecework.report.formatting import excerpt, moment
from piecework.report.model import ReportModel

_MOST_ROWS = 50
_LABEL_CHARACTERS = 60
_HASH_CHARACTERS = 12


def build(model: ReportModel) -> Section | None:
    """Show each grant and revocation with its evidence; None without any rule."""
    earned = model.facts.earned
    if not earned:
        return None
    return Section(
        key="earned",
        title="Earned qualifications",
        lead=tuple(_lead(each) for each in earned),
        tables=tuple(_table(each) for each in earned),
    )


def _lead(earned: Earned) -> str:
    granted = sum(change.is_grant for change in earned.changes)
    return (
        f"“{excerpt(earned.name, limit=_LABEL_CHARACTERS)}” was granted "
        f"{plural(granted, 'time')} and revoked "
        f"{plural(len(earned.changes) - granted, 'time')}, by all campaigns that share "
        f"it; {plural(earned.holders, 'worker')} now hold it. The rule: "
        f"{earned.agreement:.0%} of the latest {earned.over} items agree; below "
        f"{earned.revoke_below:.0%} it is lost, and items count for "
        f"{plural(earned.forget_days, 'day')}."
    )


def _table(earned: Earned) -> Table:
    shown = earned.changes[-_MOST_ROWS:]
    rest = len(earned.changes) - len(shown)
    return Table(
        caption=f"Changes: {excerpt(earned.name, limit=_LABEL_CHARACTERS)}",
        columns=(
            text("When"),
            text("Worker"),
            text("Change"),
            number("Items"),
            number("Agreed"),
            text("Submitted"),
            text("By"),
        ),
        rows=tuple(_row(change) for change in reversed(shown)),
        empty="No work has earned it yet.",
        note="An item agrees if it was kept and contradicts neither a known answer nor "
        "most others." + (f" {plural(rest, 'older change')} not shown." if rest else ""),
        is_folded=True,
    )


def _row(change: EarnedChange) -> tuple[Cell, ...]:
    dates = ""
    if change.first is not None and change.last is not None:
        dates = f"{change.first:%Y-%m-%d} to {change.last:%Y-%m-%d}"
    return (
        moment(change.at),
        Code(change.worker[:_HASH_CHARACTERS]),
        "granted" if change.is_grant else "revoked",
        count(change.items),
        share(change.agreed, change.items) if change.items else "",
        dates,
        change.by,
    )
