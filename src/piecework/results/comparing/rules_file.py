"""The rules to try: a whole campaign file, or only its tables about judging.

Only heuristics, decisions and aggregates count. What else a whole campaign file says
must be as in the campaign, because the answers were given under it.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piecework.campaign.assembling import with_rules_of
from piecework.campaign.deriving import complete_inputs
from piecework.campaign.rehearsal_folders import INPUTS
from piecework.config.campaign_file import CampaignFile
from piecework.config.changed_keys import changed_keys
from piecework.config.schema import CampaignTables
from piecework.config.schema_faults import at, schema_faults
from piecework.config.shared_files import with_shared
from piecework.config.user_files import read_text
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.field import Aggregate, AggregateKind
from piecework.domain.inputs import Inputs
from piecework.domain.text import did_you_mean
from piecework.domain.toml_text import toml_document
from piecework.domain.verdicts import PolicyRule
from piecework.hit_templates.task_schema import faults_of_aggregates

_LARGEST_BYTES = 10_000_000

JUDGED = ("heuristics", "decisions", "aggregates")
"""The tables that count."""

_FREE = frozenset({"name", "description", "card", "dataset"})
"""Keys of a campaign file that may differ, because no answer depends on them."""

_ASKED = ("task", "imported")
"""Keys that say what was asked; a whole campaign file has one of them."""


class _AggregateTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    field: str
    kind: AggregateKind
    column: str = ""


class _RulesTables(CampaignTables):
    """A campaign file with the table that its task states otherwise."""

    aggregates: Annotated[tuple[_AggregateTable, ...], Field(max_length=100)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedRules:
    """A campaign with other rules.

    Attributes:
        campaign: the campaign as the rules would have it.
        path: the file that states them.
        changed: the keys that differ from the campaign's own.
    """

    campaign: Campaign
    path: Path
    changed: tuple[str, ...]


def read_rules(path: Path, campaign: Campaign) -> TriedRules:
    """Read the rules to try on the answers of a campaign.

    Args:
        path: a whole campaign file, or `[heuristics]`, `[decisions]` and
            `[[aggregates]]` alone; a heuristic or key that it leaves out stays as it is.
        campaign: the campaign, as its file says now.

    Raises:
        ConfigError: the file cannot be read, is of another task, states what is not
            tried, or has errors; it has every fault.
    """
    text = read_text(path, name="file of rules", most=_LARGEST_BYTES, next_step=_what_it_holds())
    own_text = campaign.inputs.text
    own: dict[str, Any] = tomllib.loads(own_text)
    try:
        stated: dict[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault
    is_whole = not stated.keys().isdisjoint(_ASKED)
    differs = changed_keys(complete_inputs(campaign), Inputs(text=text))
    differing = {key.partition(".")[0] for key in differs}
    if "pictures" in differing:
        differing.add("items")  # which may name a folder of pictures
    same = {key for key in stated if key not in differing} if is_whole else set()
    if faults := list(_untried(path, text, stated, own, same)):
        raise ConfigError(faults, next_step=_what_it_holds())
    document = _merged(own, stated, is_whole=is_whole)
    folder = campaign.path.parent if campaign.number is None else campaign.out / INPUTS
    full, faults = with_shared(document, folder=folder, at=lambda *key: at(path, text, key))
    if faults:
        raise ConfigError(faults)
    try:
        tables = _RulesTables.model_validate(full)
    except ValidationError as fault:
        raise ConfigError(schema_faults(path, text, fault)) from fault
    file = CampaignFile(path=path, text=text, source_hash="", tables=tables)
    tried = with_rules_of(campaign, file)
    if tables.aggregates is not None:
        tried = replace(tried, task=replace(campaign.task, aggregates=_aggregates(file, campaign)))
    return TriedRules(campaign=tried, path=path, changed=tuple(_changed(own, document)))


def rules_as_toml(rules: Sequence[PolicyRule]) -> str:
    """Return rules as a file states them that replaces all rules of a campaign.

    >>> print(rules_as_toml([]), end="")
    [decisions]
    rule = []
    """
    return toml_document({"decisions": {"rule": [rule.as_table() for rule in rules]}})


def _what_it_holds() -> str:
    return (
        "the file may hold [heuristics], [decisions] with [[decisions.rule]], and "
        "[[aggregates]], or be a copy of the campaign file with these changed"
    )


def _untried(
    path: Path,
    text: str,
    stated: Mapping[str, Any],
    own: Mapping[str, Any],
    same: Collection[str],
) -> Iterator[str]:
    """Yield a sentence for each key that is not about judging, and not the same."""
    is_whole = not stated.keys().isdisjoint(_ASKED)
    for key, value in stated.items():
        if key in JUDGED or key in _FREE or key in same:
            continue
        where = at(path, text, (key,))
        if key not in CampaignTables.model_fields:
            yield f"{where}: no such table{did_you_mean(key, JUDGED) or '; it is not tried'}"
        elif key in _ASKED:
            was = f"is {_short(own[key])}" if key in own else "file names none"
            yield f"{where}: these rules are of another task: {_short(value)}; the campaign's {was}"
        elif not is_whole:
            yield f"{where}: is not about judging, so it cannot be tried on stored answers"
        else:
            yield f"{where}: differs from the campaign's, and the answers were given under that"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a part of a line


def _merged(own: Mapping[str, Any], stated: Mapping[str, Any], *, is_whole: bool) -> dict[str, Any]:
    """Return the campaign's document with the tables to try."""
    others = {key: value for key, value in own.items() if key not in JUDGED}
    if is_whole:
        return others | {key: stated[key] for key in JUDGED if key in stated}
    tables = {key: value for key, value in own.items() if key in JUDGED}
    tables |= {key: stated[key] for key in JUDGED if key in stated}
    for key in ("heuristics", "decisions"):
        before, now = own.get(key, {}), stated.get(key)
        if isinstance(before, dict) and isinstance(now, dict):
            tables[key] = {**before, **now}
    return others | tables


def _aggregates(file: CampaignFile, campaign: Campaign) -> tuple[Aggregate, ...]:
    tables = file.tables
    assert isinstance(tables, _RulesTables)  # noqa: S101 - as it was validated
    kinds: dict[str, object] = {field.name: field.kind for field in campaign.task.item_fields}
    listed = [table.model_dump() for table in tables.aggregates or ()]
    if faults := list(faults_of_aggregates({"aggregates": listed}, kinds)):
        known = ", ".join(kinds)
        raise ConfigError(
            [f"{file.path}: {fault}" for fault in faults],
            next_step=f"the fields of {campaign.task.name} are {known}",
        )
    return tuple(Aggregate(**table) for table in listed)


def _changed(own: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys that differ: a heuristic each, the rules, the decider, aggregates."""
    before, now = own.get("heuristics", {}), document.get("heuristics", {})
    for name in dict.fromkeys([*before, *now]):
        if before.get(name) != now.get(name):
            yield f"heuristics.{name}"
    then, new = own.get("decisions", {}), document.get("decisions", {})
    if then.get("rule", []) != new.get("rule", []):
        yield "decisions.rule"
    if then.get("by", "person") != new.get("by", "person"):
        yield "decisions.by"
    if "aggregates" in document:
        yield "aggregates"
