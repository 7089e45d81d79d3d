"""Where a TOML file breaks its schema, each fault with line and key."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from piecework.config.schema import CampaignTables
from piecework.domain.text import did_you_mean
from piecework.domain.toml_text import Location, line_of


def schema_faults(
    path: Path, text: str, fault: ValidationError, *, schema: type[BaseModel] = CampaignTables
) -> list[str]:
    """Return where a TOML file breaks its schema, each fault with line and key."""
    faults = []
    for error in fault.errors(include_url=False):
        location = [part for part in error["loc"] if not _is_branch(part)]
        where = at(path, text, location)
        if error["type"] == "extra_forbidden":
            known = _keys_of(location[:-1], schema)
            faults.append(f"{where}: no such key{did_you_mean(str(location[-1]), known)}")
        elif error["type"] == "missing":
            faults.append(f"{where}: is missing")
        else:
            message = error["msg"].removeprefix("Value error, ")
            # A sentence about a whole table names its keys.
            is_table = isinstance(error["input"], dict | BaseModel)
            value = "" if is_table else f" (found {error['input']!r:.80})"
            faults.append(f"{where}: {message}{value}")
    return faults


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
    """Return where a key is, for an error: `birds.toml:8: rewards.reward`."""
    line = line_of(text, location)
    where = f"{path}:{line}" if line else str(path)
    return f"{where}: {'.'.join(map(str, location)) or 'the file'}"


def _is_branch(part: str | int) -> bool:
    # pydantic puts the branch of a union in the location; no key has such a name.
    return isinstance(part, str) and part.startswith(("dict[", "literal[", "branch["))
