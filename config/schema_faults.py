"""Where a TOML file breaks its schema, each fault with line and key."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from piecework.config.schema import CampaignTables
from piecework.domain.text import did_you_mean
from piecework.domain.toml_text import Location, key_name, line_of


def schema_faults(
    path: Path, text: str, fault: ValidationError, *, schema: type[BaseModel] = CampaignTables
) -> list[str]:
    """Return where a TOML file breaks its schema, each fault with line and key."""
    faults = []
    errors = fault.errors(include_url=False)
    places = [(error["loc"], error["input"]) for error in errors]
    is_campaign = issubclass(schema, CampaignTables)
    moved = [pair for place in places for pair in _moved(*place)] if is_campaign else []
    known_elsewhere = {now.split()[0] for _, now in moved}
    faults += [f"{at(path, text, key)}: is {now}" for key, now in moved]
    for error in errors:
        location = [part for part in error["loc"] if not _is_branch(part)]
        where = at(path, text, location)
        if (is_campaign and _moved(location, error["input"])) or (
            error["type"] == "missing" and location[-1] in known_elsewhere
        ):
            continue
        if error["type"] == "extra_forbidden":
            faults.append(f"{where}: no such key{_meant(location, schema)}")
        elif error["type"] == "missing":
            faults.append(f"{where}: is missing")
        else:
            message = error["msg"].removeprefix("Value error, ")
            # A sentence about a whole table names its keys.
            is_table = isinstance(error["input"], dict | BaseModel)
            value = "" if is_table else f" (found {error['input']!r:.80})"
            faults.append(f"{where}: {message}{value}")
    return faults


_TOP = "now, at the top of the file"
_OF_MACHINE = (
    "of the machine's file now: the one that PIECEWORK_CONFIG names, or piecework.toml beside "
    "the campaign file"
)
_OF_CARD = (
    *("title", "version", "licence", "licence_url", "items_licence", "items_licence_url"),
    *("contact", "citation", "consent", "ethics", "homepage", "tags"),
)
_MOVED: Mapping[str, str] = {
    **{f"rewards.{key}": f"{key} {_TOP}" for key in ("reward", "budget")},
    "rewards.currency": 'the sign of an amount now, such as reward = "£0.40"',
    **{
        f"rewards.{key}_budget": f"budget = {{ {key} = ... }} {_TOP}"
        for key in ("batch", "day", "month", "item")
    },
    "rewards.wage_floor_per_hour": f"hourly_wage {_TOP}",
    "rewards.expected_minutes": f"minutes {_TOP}",
    "rewards.fees": f"[[fees]] {_OF_MACHINE}",
    "fees": f"[[fees]] {_OF_MACHINE}",
    "store": f"[store] {_OF_MACHINE}",
    "output": f"[output] {_OF_MACHINE}; without it, results are in out/, beside the campaign file",
    "posting.assignments": f"answers {_TOP}",
    "posting.batches": f"batches {_TOP}",
    "items.grows": "[grows] now, a table that may be empty",
    **{f"items.{key}": f"{key} in [grows] now" for key in ("on_change", "on_removal")},
    "posting.batch_size": "batch in [grows] now",
    "posting.batch_every_hours": "every_hours in [grows] now",
    "items.archive_after_batches": "archive_after_batches in [grows] now",
    "advanced.archive_after_batches": "archive_after_batches in [grows] now",
    "advanced.exclusion_name": "exclusion_name in [requirements] now",
    "requirements.max_hits_per_worker": f"per_worker {_TOP}",
    "requirements.max_hits_per_worker_per_batch": f"per_worker_in_batch {_TOP}",
    "requirements.qualification": 'qualifications = ["ID COMPARATOR VALUES"] now',
    "requirements.prolific": "[prolific] now",
    "crowds": "[markets] now",
    "markets.cheapest": f"markets = [...] {_TOP}",
    "markets.within_hours": f"cheapest_within_hours {_TOP}",
    "advanced.expected_loss_percent": "expected_loss_percent in [posting] now",
    "rewards.expected_loss_percent": "expected_loss_percent in [posting] now",
    "page.hosts": f"hosts {_TOP}",
    "dataset.split_column": 'splits = "COLUMN" now',
    "items.pictures": f"pictures {_TOP}",
    "items.database": "file now, beside query",
    **{f"dataset.{key}": f"{key} in the file that card names now" for key in _OF_CARD},
    "output.formats": f"formats {_TOP}",
    "output.sinks": f"sink {_TOP}",
    "sinks": f"sink {_TOP}",
}
"""Where each former key is now."""


def _moved(location: Location, value: object) -> list[tuple[Location, str]]:
    """Return former keys at a place, each with what it is now; a table, if none of its own."""
    keys = [[*location, name] for name in value] if isinstance(value, dict) else []
    inner = _moved_of(keys)
    return inner or _moved_of([[*location]])


def _moved_of(keys: Sequence[Location]) -> list[tuple[Location, str]]:
    named = {".".join(map(str, key)): key for key in keys}
    return [(key, _MOVED[name]) for name, key in named.items() if name in _MOVED]


def _meant(location: Location, schema: type[BaseModel]) -> str:
    """Return what an unknown key may be instead: one of its table, or of the file."""
    *table, key = location
    if hint := did_you_mean(str(key), _keys_of(table, schema)):
        return hint
    if table and key in schema.model_fields:
        return f"; {key} stands at the top of the file, before the first [table]"
    return ""


def _keys_of(table: Sequence[str | int], schema: type[BaseModel]) -> list[str]:
    """Return the keys that a table may have; empty if the table is not known."""
    model: Any = schema
    for part in table:
        field = getattr(model, "model_fields", {}).get(part)
        if field is not None:
            model = field.annotation
        elif not isinstance(part, int):
            return []
        # Take the table X from `X | None` and `tuple[X, ...]`.
        kinds = [_bare(kind) for kind in get_args(model)]
        model = next((kind for kind in kinds if _is_table(kind)), model)
    return list(model.model_fields) if _is_table(model) else []


def _bare(kind: object) -> object:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _is_table(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def at(path: Path, text: str, location: Location) -> str:
    """Return where a key is, for an error: `birds.toml:8: reward`."""
    location = as_written(text, location)
    line = line_of(text, location)
    where = f"{path}:{line}" if line else str(path)
    return f"{where}: {key_name(location) or 'the file'}"


def as_written(text: str, location: Location) -> Location:
    """Return a location as the file writes it: a short form has no keys inside."""
    try:
        table: Any = tomllib.loads(text)
    except (ValueError, RecursionError):
        return location
    parts = [str(part) for part in location]
    if parts[:1] == ["pictures"] and "pictures" not in table:
        return ["items"]
    written: list[str | int] = []
    for part in parts:
        if isinstance(table, dict):
            table = table.get(part, {})
            written.append(part)
        elif isinstance(table, list) and part.isdecimal():
            table = table[int(part)] if int(part) < len(table) else {}
            written.append(int(part))
        else:
            break
    return written


def _is_branch(part: str | int) -> bool:
    # pydantic puts the branch of a union in the location; no key has such a name.
    return isinstance(part, str) and part.startswith(("dict[", "literal[", "branch["))
