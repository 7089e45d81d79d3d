"""Quality, time and money on the first page: the key figures and one plot each."""

from piecework.domain.counts import plural
from piecework.report.components import Aspect, KeyFigure
from piecework.report.formatting import hours
from piecework.report.model import ReportModel
from piecework.report.sections import funnel, judgements, money, summary, timeline

_MOST_DAYS_IN_HOURS = 3


def aspects(model: ReportModel) -> tuple[Aspect, ...]:
    """Return quality, time if it is known, and money if any was spent."""
    facts = model.facts
    items, accepted, workers, *of_money = summary.key_figures(model)
    quality = Aspect(
        key="quality",
        title="Quality",
        key_figures=(accepted, items),
        figure=judgements.agreement_figure(model) or funnel.figure(model),
    )
    return (
        quality,
        Aspect(
            key="time",
            title="Time",
            key_figures=(_span(model), workers),
            figure=timeline.pace_figure(model),
        ),
        *(
            [
                Aspect(
                    key="cost",
                    title="Money",
                    key_figures=tuple(of_money),
                    figure=money.ledger_figure(facts.money),
                )
            ]
            if facts.money
            else []
        ),
    )


def _span(model: ReportModel) -> KeyFigure:
    facts = model.facts
    if not facts.time_span:
        return KeyFigure(label="From first to last", value="unknown", beside="no times")
    seconds = (facts.finished_at - facts.started_at).total_seconds()
    rounds = len(facts.batches)
    return KeyFigure(
        label="From first to last", value=_long(seconds), beside=f"in {plural(rounds, 'round')}"
    )


def _long(seconds: float) -> str:
    """A time in hours, or in days if it is long."""
    days = seconds / 86400
    return hours(seconds) if days < _MOST_DAYS_IN_HOURS else f"{days:,.1f} days"
