"""Which keys of a campaign differ between two moments, in what they mean.

`budget = "50.00"` and `budget = { total = "$50.00" }` mean the same, so writing the other is
no change; nor is stating a value that was derived before. The schema says what a key means
(`piecework.config.schema`); a text that another version wrote may have keys that it does not
know, which are compared as they are written.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Annotated, Any, NamedTuple, cast

from pydantic import TypeAdapter, ValidationError

from piecework.config.schema import CampaignTables, in_full
from piecework.domain.inputs import CAMPAIGN_FILE, ONLY_WRITING, Difference, Inputs
from piecework.domain.toml_text import toml_document, toml_value

_NAMES_FILES = ("qualification", "earned", "card", "fields", "imported")
"""Keys that name files of their own: what is in these is compared as files are."""

_FOLLOW = ("reward", "decisions.rule")
"""Keys that are named even if no file states them: what is paid, and who is paid, follow from
others. What else follows from a change says no more than the change."""

_PRESENCE = ("grows", "imported", "prolific")
"""Tables that say something even if they are empty."""


class _Value(NamedTuple):
    """What a key means, as text that can be compared, and how the file states it."""

    means: str
    written: str


def changes(before: Inputs, now: Inputs) -> tuple[str, ...]:
    """Name what differs now, keys of the campaign file first.

    The version of the code counts if both know it.

    >>> before = Inputs(text="reward = '1'", digests={CAMPAIGN_FILE: "1", "x: x.csv": "1"})
    >>> now = Inputs(text="reward = '2'", digests={CAMPAIGN_FILE: "2", "x: x.csv": "2"})
    >>> changes(before, now)
    ('reward', 'x: x.csv')
    """
    changed = before.changed_digests(now)
    if CAMPAIGN_FILE not in changed:
        return changed
    keys = changed_keys(before, now) or [ONLY_WRITING]
    return (*keys, *(name for name in changed if name != CAMPAIGN_FILE))


def differences(before: Inputs, now: Inputs) -> tuple[Difference, ...]:
    """Return the same with old and new values, as the files state them or as they are derived."""
    then, today = _complete(before), _complete(now)
    return tuple(
        Difference(key=key, before=_shown(then.get(key)), now=_shown(today.get(key)))
        for key in changes(before, now)
    )


def changed_keys(before: Inputs, now: Inputs) -> list[str]:
    """Return the keys that do not mean the same; a list of tables is one.

    What a file leaves out has the value that is derived, where that is known; else none.

    >>> short, more = 'budget = "50"', 'budget = { total = "50.00", day = "9.00" }'
    >>> changed_keys(Inputs(text=short), Inputs(text=more))
    ['budget.day']
    """
    stated = _values(before.text).keys() | _values(now.text).keys()
    then, today = _complete(before), _complete(now)
    follow = {key for key in _FOLLOW if key in then and key in today}
    return [
        key
        for key in dict.fromkeys([*then, *today])
        if key in stated | follow and _means(then.get(key)) != _means(today.get(key))
    ]


def unknown_keys(text: str) -> list[str]:
    """Return the keys of a text that this version of the schema does not know.

    >>> unknown_keys("rewards.budget = '5'"), unknown_keys("posting = { batches = 2 }")
    (['rewards'], ['posting.batches'])
    """
    unknown = []
    for name, value in in_full(tomllib.loads(text)).items():
        if name not in CampaignTables.model_fields:
            unknown.append(name)
        elif name in _NAMES_FILES:
            inner = value if isinstance(value, dict) else {}
            unknown += [f"{name}.{key}" for key in inner if key != "columns"]
        else:
            unknown += [".".join((name, *key)) for key in _unknown_in(name, value)]
    return unknown


def _unknown_in(name: str, value: object) -> Iterator[tuple[str, ...]]:
    try:
        _adapter(name).validate_python(value)
    except ValidationError as fault:
        for error in fault.errors(include_url=False):
            if error["type"] == "extra_forbidden":
                yield tuple(str(part) for part in error["loc"] if "[" not in str(part))


def _means(value: _Value | None) -> str:
    return "" if value is None else value.means


def _shown(value: _Value | None) -> str:
    return "" if value is None else value.written


def _complete(inputs: Inputs) -> dict[str, _Value]:
    """Return each key that a file states, and those that are derived, as far as known."""
    derived = {
        key: value._replace(written=f"# derived\n{value.written}")
        if value.written.startswith("[[")
        else value
        for key, value in _values(inputs.complete).items()
    }
    return derived | _values(inputs.text)


@lru_cache(maxsize=8)
def _values(text: str) -> dict[str, _Value]:
    """Return each key of a campaign file."""
    stated = tomllib.loads(text)
    full = {"currency": "USD", **in_full(stated)}
    written = {key: in_file(key, value) for key, value in _flat(stated, "")}
    means = {name: _meaning(name, value) for name, value in full.items()}
    # Values of different types compare equal (1 and true); their texts do not.
    values = {
        key: _Value(repr(value), _as_written(key, written) or toml_value(value))
        for key, value in _flat(means, "")
    }
    return values | {name: _Value("{}", "{}") for name in _PRESENCE if name in full}


def in_file(key: str, value: object) -> str:
    """Return a value as a campaign file has it; a list of tables with their headers.

    >>> print(in_file("decisions.rule", [{"on": "hit"}]))
    [[decisions.rule]]
    on = "hit"
    """
    if not (isinstance(value, list) and value and all(isinstance(each, dict) for each in value)):
        return toml_value(value)
    document: object = value
    for name in reversed(key.split(".")):
        document = {name: document}
    return toml_document(cast("dict[str, object]", document)).strip()


def _as_written(key: str, written: Mapping[str, str]) -> str:
    """Return how a file states a key: by itself, or in the short form of its table."""
    parts = key.split(".")
    places = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    if key == "pictures":
        places.append("items")
    return next((written[place] for place in places if place in written), "")


def _meaning(name: str, value: object) -> object:
    """Return a checked value as plain lists, dictionaries, texts and numbers."""
    if name in _NAMES_FILES or name not in CampaignTables.model_fields:
        return value
    adapter = _adapter(name)
    try:
        checked = adapter.validate_python(value)
    except ValidationError:
        return value
    return adapter.dump_python(checked, mode="json", exclude_unset=True, warnings=False)


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    field = CampaignTables.model_fields[name]
    hint: Any = Annotated[field.annotation, field]
    return TypeAdapter(hint)


def _flat(table: Mapping[str, object], under: str) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{under}{name}.")
        else:
            yield f"{under}{name}", value
