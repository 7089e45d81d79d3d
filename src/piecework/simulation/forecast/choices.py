"""What a forecast varies, and the outcomes: keys of the campaign file, and the crowd.

`reward=0.50,1.00` varies one key with two values; several keys are combined. A rehearsal has one
outcome, and many have a summary. A pilot shows what real people are like: their times, dropped
answers, and agreement.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from piecework.campaign.opened import OpenedCampaign
from piecework.config.campaign_file import CampaignFile
from piecework.config.posting_tables import currency_of_signs, is_money
from piecework.config.schema import CampaignTables
from piecework.config.schema_faults import schema_faults
from piecework.config.shared_files import with_shared
from piecework.domain.errors import ConfigError
from piecework.domain.money import NAMES
from piecework.domain.tables import ITEM_VALUE
from piecework.domain.task import Task
from piecework.domain.text import did_you_mean
from piecework.report.facts import SPENT
from piecework.report.forecast import NINE_TENTHS_FROM, Estimate
from piecework.report.model import report_model
from piecework.report.sections.known_answers import score_planted
from piecework.results.report_facts import report_facts
from piecework.results.table import answers_table
from piecework.simulation.rehearsals.campaign import virtual_seconds

SHORT: Mapping[str, str] = {
    **{key: key for key in ("reward", "hourly_wage", "minutes", "answers", "batches")},
    "per_worker": "per_worker",
    "items_per_hit": "posting.items_per_hit",
    "max_rounds": "posting.max_rounds",
    "least": "answers.least",
    "most": "answers.most",
    "until": "answers.until",
}
"""Names of the keys that are varied most."""

CROWD = ("crowd", "workers", "bad")
"""`crowd=diligent:20+paster:5`, `workers=30` with the same mix, `bad=20%` of them."""

_COMMA = re.compile(r",(?![^{]*\})")
"""A comma outside a table: `answers=5,{ least = 3, most = 7 }`."""

_MOST = 64
_NO_CAP = "9999999.00"


@dataclass(frozen=True, slots=True)
class Choice:
    """One combination of values by key; empty: the campaign as it is."""

    values: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The name for people."""
        return ", ".join(f"{key} {value}" for key, value in self.values) or "as it is"

    def crowd(self, crowd: Mapping[str, int], bad: Sequence[str]) -> dict[str, int]:
        """The crowd of the choice, made from the campaign's.

        Args:
            crowd: how many workers have each trait.
            bad: names of the traits of bad workers.

        Raises:
            ConfigError: a value does not define a crowd.
        """
        changed = dict(crowd)
        for key, value in self.values:
            if key in CROWD:
                changed = _crowd(changed, key, value, bad)
        return changed

    @property
    def says_who_is_bad(self) -> bool:
        """Whether the choice sets the share of bad workers."""
        return any(key in {"crowd", "bad"} for key, _ in self.values)


def choices(vary: Iterable[str]) -> list[Choice]:
    """Return all combinations of the varied values.

    Args:
        vary: each `KEY=VALUE,VALUE`.

    Raises:
        ConfigError: one has another form, or there are too many combinations.
    """
    axes: dict[str, list[str]] = {}
    for text in vary:
        key, equals, values = (part.strip() for part in text.partition("="))
        listed = [value.strip() for value in _COMMA.split(values) if value.strip()]
        known = [*SHORT, *CROWD]
        if not equals or not listed or ("." not in key and key not in known):
            fault = f"--vary {text!r}: write KEY=VALUE,VALUE{did_you_mean(key, known)}"
            raise ConfigError([f"{fault}; keys are {', '.join(known)}, or table.key of the file"])
        if key in axes:
            raise ConfigError([f"--vary {key} is given twice"])
        axes[key] = list(dict.fromkeys(listed))
    crossed = [Choice(tuple(zip(axes, values, strict=True))) for values in product(*axes.values())]
    if len(crossed) > _MOST:
        raise ConfigError([f"--vary: {len(crossed)} combinations; at most {_MOST}"])
    return crossed


def chosen(file: CampaignFile, choice: Choice, *, seed: int, out: str) -> CampaignFile:
    """Apply a choice, a seed and an output folder to the campaign file; remove caps.

    The forecast asks what a choice costs, so no cap may end it early.

    Args:
        file: as it was read.
        choice: the values to change.
        seed: of the rehearsal.
        out: the absolute path of the output folder.

    Raises:
        ConfigError: a value does not fit its key.
    """
    stated, _ = with_shared(tomllib.loads(file.text), folder=file.folder, at=file.at)
    document: dict[str, Any] = {"name": file.tables.name, **stated}
    for key, value in choice.values:
        if key not in CROWD:
            _put(document, SHORT.get(key, key), value)
    document.setdefault("rehearsal", {})["seed"] = seed
    # The cap of an item ends nothing: it says what is asked again.
    budget = document.get("budget")
    kept = {"item": budget["item"]} if isinstance(budget, dict) and "item" in budget else {}
    document["budget"] = {"total": _NO_CAP, **kept}
    # The amount whose sign says the currency may be one that has changed.
    currency = document["currency"] = file.tables.currency
    if (other := currency_of_signs(document) or currency) != currency:
        fault = f"an amount is in {NAMES[other]}, but the campaign is in {NAMES[currency]}"
        raise ConfigError([f"--vary {choice.name}: {fault}"])
    try:
        tables = CampaignTables.model_validate(document)
    except ValidationError as error:
        faults = schema_faults(file.path, "", error)
        raise ConfigError([f"--vary {choice.name}: {fault}" for fault in faults]) from error
    # Forecasts leave nothing behind.
    return replace(file, tables=tables, rehearsal=None).kept_in(Path(out))


def _put(document: dict[str, object], key: str, value: str) -> None:
    *tables, last = key.split(".")
    table = document
    for name in tables:
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ConfigError([f"--vary {key}: {name} is not a table"])
        table = inner
    if is_money(key):
        table[last] = value
        return
    try:
        table[last] = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        table[last] = value


def _crowd(crowd: Mapping[str, int], key: str, value: str, bad: Sequence[str]) -> dict[str, int]:
    try:
        if key == "crowd":
            pairs = [part.split(":") for part in value.split("+")]
            return {name.strip(): int(number) for name, number in pairs}
        if key == "workers":
            return shared_out(crowd, int(value))
        share = float(value.removesuffix("%")) / (100 if "%" in value else 1)
        return with_bad(crowd, share, bad)
    except ValueError as fault:
        raise ConfigError([f"--vary {key}={value}: {fault}"]) from fault


def with_bad(
    crowd: Mapping[str, int],
    share: float,
    bad: Sequence[str],
    usual: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, int]:
    """The same number of workers with this share of bad ones; each kind keeps its mix.

    Args:
        crowd: how many workers have each trait.
        share: of the bad workers, from 0 to 1.
        bad: names of the traits of bad workers.
        usual: the crowd whose mix a kind has that the other crowd lacks.

    Raises:
        ValueError: the share is not from 0 to 1, or no crowd has workers of a kind.
    """
    if not 0 <= share <= 1:
        raise ValueError("a share is from 0 to 1, or from 0% to 100%")
    workers = sum(crowd.values())
    honest, of_bad = (_of_kind(bad, crowd, usual, is_bad=is_bad) for is_bad in (False, True))
    number = round(workers * share)
    return shared_out(honest, workers - number) | shared_out(of_bad, number)


def _of_kind(bad: Sequence[str], *crowds: Mapping[str, int], is_bad: bool) -> dict[str, int]:
    """Return the mix of a kind of workers in the first of the crowds that has them."""
    mixes = (
        {name: number for name, number in crowd.items() if (name in bad) == is_bad}
        for crowd in crowds
    )
    return next((mix for mix in mixes if any(mix.values())), {})


def shared_out(mix: Mapping[str, int], workers: int) -> dict[str, int]:
    """Share out workers in the proportions of a mix, by the largest remainders.

    Raises:
        ValueError: the mix is empty.

    >>> shared_out({"diligent": 3, "paster": 1}, 10)
    {'diligent': 8, 'paster': 2}
    """
    whole = sum(mix.values())
    if workers and not whole:
        raise ValueError("[rehearsal.crowd] has no such workers to scale up")
    exact = {name: workers * number / max(whole, 1) for name, number in mix.items()}
    shares = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (shares[name] - exact[name], name))
    for name in by_remainder[: workers - sum(shares.values())]:
        shares[name] += 1
    return shares


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
        days=virtual_seconds(rehearsed) / _DAY,
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


_MOST_LOST = 0.5
"""A worker with a larger share of dropped answers than this counts as bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """Measurements on real work.

    Attributes:
        answers: how many answers were measured.
        workers: how many workers gave them.
        seconds_per_item: the median over kept answers; NaN if none has a time.
        bad: share of the workers with more than half of their answers dropped.
        agreement: share of kept choices that agree with their item's majority; NaN
            without choices.
    """

    answers: int
    workers: int
    seconds_per_item: float
    bad: float
    agreement: float

    def paced(self, task: Task) -> Task:
        """The task with the pace of the pilot, or its own if the pilot has no times."""
        is_timed = not np.isnan(self.seconds_per_item)
        return replace(task, seconds_per_item=self.seconds_per_item) if is_timed else task

    def crowd(
        self, crowd: Mapping[str, int], bad: Sequence[str], usual: Mapping[str, int]
    ) -> dict[str, int]:
        """The crowd with the pilot's share of bad workers.

        If it has none of them, or they alone, the others are those of the usual crowd.
        """
        return with_bad(crowd, self.bad, bad, usual)


def pilot_of(store: OpenedCampaign) -> Pilot:
    """Measure the workers in a campaign's store.

    Raises:
        ConfigError: no answer in it is decided.
    """
    table = answers_table(store)
    decided = table[~table["is_provisional"]]
    if decided.empty:
        raise ConfigError(
            [f"{store.campaign.path}: the pilot has no decided answers"],
            next_step="decide about its answers, then forecast again",
        )
    kept = decided[~decided["is_rejected"]]
    seconds = kept["page_seconds"].fillna(kept["market_seconds"])
    lost = decided.groupby("worker")["is_rejected"].mean()
    return Pilot(
        answers=len(decided),
        workers=len(lost),
        seconds_per_item=float(np.maximum(seconds[seconds > 0].median(), 0.1)),
        bad=float((lost > _MOST_LOST).mean()),
        agreement=_agreement(kept, store.campaign.task),
    )


def _agreement(kept: pd.DataFrame, task: Task) -> float:
    """Agreement on the task's first required choice, for items with two answers."""
    names = [f.name for f in task.item_fields if f.kind == "choice" and not f.optional]
    if not names:
        return float("nan")
    column = ITEM_VALUE + names[0]
    several = kept.groupby("item_id").filter(lambda rows: len(rows) > 1)
    if several.empty:
        return float("nan")
    shares = several.groupby("item_id")[column].agg(
        lambda values: values.value_counts().iloc[0] / len(values)
    )
    return float(np.mean(shares))
