"""What a forecast varies: keys of the campaign file, and the crowd.

`reward=0.50,1.00` varies one key with two values; several keys are combined.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from pydantic import ValidationError

from piecework.config.campaign_file import CampaignFile
from piecework.config.schema import MONEY_KEYS, CampaignTables
from piecework.config.schema_faults import schema_faults
from piecework.domain.errors import ConfigError
from piecework.domain.text import did_you_mean

SHORT: Mapping[str, str] = {
    "reward": "rewards.reward",
    "wage_floor": "rewards.wage_floor_per_hour",
    "assignments": "posting.assignments",
    "batches": "posting.batches",
    "items_per_hit": "posting.items_per_hit",
    "max_rounds": "posting.max_rounds",
    "least": "posting.assignments.least",
    "most": "posting.assignments.most",
    "until": "posting.assignments.until",
}
"""Short names of the keys that are varied most."""

CROWD = ("crowd", "workers", "bad")
"""`crowd=diligent:20+paster:5`, `workers=30` with the same mix, `bad=20%` of them."""

_COMMA = re.compile(r",(?![^{]*\})")
"""A comma outside a table: `assignments=5,{ least = 3, most = 7 }`."""

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
    document = tomllib.loads(file.text)
    for key, value in choice.values:
        if key not in CROWD:
            _put(document, SHORT.get(key, key), value)
    document.setdefault("rehearsal", {})["seed"] = seed
    document.setdefault("output", {})["folder"] = out
    # Forecasts leave nothing behind, so their stores are files.
    document["store"] = {"url": ""}
    rewards = document["rewards"]
    for key in ("budget", "batch_budget", "day_budget"):
        rewards.pop(key, None)
    rewards["budget"] = _NO_CAP
    try:
        tables = CampaignTables.model_validate(document)
    except ValidationError as error:
        faults = schema_faults(file.path, "", error)
        raise ConfigError([f"--vary {choice.name}: {fault}" for fault in faults]) from error
    return replace(file, tables=tables)


def _put(document: dict[str, object], key: str, value: str) -> None:
    *tables, last = key.split(".")
    table = document
    for name in tables:
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ConfigError([f"--vary {key}: {name} is not a table"])
        table = inner
    if last in MONEY_KEYS:
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


def with_bad(crowd: Mapping[str, int], share: float, bad: Sequence[str]) -> dict[str, int]:
    """The same number of workers with this share of bad ones; each kind keeps its mix.

    Raises:
        ValueError: the share is not from 0 to 1, or the crowd has no workers of a kind.
    """
    if not 0 <= share <= 1:
        raise ValueError("a share is from 0 to 1, or from 0% to 100%")
    workers = sum(crowd.values())
    of_bad = {name: number for name, number in crowd.items() if name in bad}
    honest = {name: number for name, number in crowd.items() if name not in bad}
    number = round(workers * share)
    return shared_out(honest, workers - number) | shared_out(of_bad, number)


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
