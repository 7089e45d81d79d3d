"""The outcome of one rehearsal, and the summary of many."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from piecework.campaign.opened import OpenedCampaign
from piecework.platforms.clocks import START
from piecework.report.facts import SPENT
from piecework.report.forecast import NINE_TENTHS_FROM, Estimate
from piecework.report.model import report_model
from piecework.report.sections.known_answers import score_planted
from piecework.results.report_facts import report_facts

_DAY = 86_400
_LOW, _HIGH = 0.05, 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a finished rehearsal; NaN if there was nothing to count.

    Attributes:
        cost_cents: rewards, bonuses and fees.
        days: virtual days from the first posting to the last payment.
        wage_cents: the median hourly wage.
        bad_kept: share of the kept answers that planted bad workers wrote.
        bad_found: share of the planted bad workers who were excluded or rejected.
        honest_wronged: the same share of the honest workers.
        complete: share of the wanted answers that were kept.
    """

    cost_cents: float
    days: float
    wage_cents: float
    bad_kept: float
    bad_found: float
    honest_wronged: float
    complete: float


def outcome_of(rehearsed: OpenedCampaign) -> Outcome:
    """Return the outcome of a finished rehearsal."""
    facts = report_facts(rehearsed)
    model = report_model(facts)
    planted = score_planted(model)
    kept = model.count("novel", "canned")
    by_bad = facts.workers.index[facts.workers["is_planted_bad"]]
    bad_kept = int(model.rows("novel", "canned")["worker"].isin(by_bad).sum())
    money = facts.money.ledger if facts.money else {}
    spent = sum(money.get(account, 0) for account in SPENT)
    return Outcome(
        cost_cents=spent,
        days=(rehearsed.clock.now() - START).total_seconds() / _DAY,
        wage_cents=float(model.wages.median()),
        bad_kept=_share(bad_kept, kept),
        bad_found=_share(planted.bad_found, planted.bad),
        honest_wronged=_share(planted.honest_wronged, planted.honest),
        complete=_share(kept, model.wanted),
    )


def summarised(outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
    """Summarise each figure over the rehearsals of a choice; NaN if none has it."""
    ends = (_LOW, _HIGH) if len(outcomes) >= NINE_TENTHS_FROM else (0.0, 1.0)
    return {
        name: _range([getattr(outcome, name) for outcome in outcomes], ends)
        for name in Outcome.__dataclass_fields__
    }


def _range(values: Sequence[float], ends: tuple[float, float]) -> Estimate:
    known = np.array([value for value in values if not np.isnan(value)])
    if not len(known):
        return Estimate(float("nan"), float("nan"), float("nan"))
    low, high = np.quantile(known, ends)
    return Estimate(float(known.mean()), float(low), float(high))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
