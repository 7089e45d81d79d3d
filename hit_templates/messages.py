"""The texts of a page in the requested language, joined with the task itself.

A task's own texts are in `<task>/messages.<language>.toml`. Those of the frame around
every task are in `_messages.<language>.toml`. The file of a task mirrors its
`task.toml`:

    title = "..."                  description, keywords, canned_text likewise
    [fields.<name>]                label, low_label, high_label
    [fields.<name>.options]        <value> = "..."
    [groups]                       <group of options> = "..."
    [rules]                        <rule> = "..."
    [texts]                        <name> = "...", for the template: {{ t.<name> }}

Texts in `task.toml` itself are English and apply unless a file replaces them.
"""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from piecework.domain.errors import ConfigError

FOLDER = Path(__file__).parent
ENGLISH = "en"

_TOP = ("title", "description", "keywords", "canned_text")
_OF_FIELD = ("label", "low_label", "high_label")
_TABLES = ("fields", "groups", "rules", "texts")

Raw = dict[str, object]


def languages(folder: Path) -> tuple[str, ...]:
    """Return the languages in which both a task and its frame are written, sorted."""
    framed = _codes(FOLDER, "_messages")
    own = _codes(folder, "messages") or {ENGLISH}
    return tuple(sorted(own & framed))


def messages(folder: Path, language: str) -> Raw:
    """Return the messages file in a task's folder; empty if the folder has none.

    Raises:
        ConfigError: the task is not written in the language, or its file is not TOML.
    """
    spoken = languages(folder)
    path = folder / f"messages.{language}.toml"
    if language not in spoken:
        speaks = f"it has {', '.join(spoken)}" if spoken else _unframed(folder)
        raise ConfigError(
            [f"{shown_path(folder)} has no messages in {language!r}; {speaks}."],
            next_step=f"add {shown_path(path)}",
        )
    return _read(path) if path.exists() else {}


def _unframed(folder: Path) -> str:
    """Explain that a task is only in languages that the frame lacks."""
    own = ", ".join(sorted(_codes(folder, "messages")))
    framed = ", ".join(sorted(_codes(FOLDER, "_messages")))
    return f"it has messages in {own}, and the frame around every task in {framed}"


@lru_cache
def frame_texts(language: str) -> Mapping[str, str]:
    """Return the texts of the frame around every task, by name."""
    path = FOLDER / f"_messages.{language}.toml"
    return {key: str(value) for key, value in _read(path).items()}


def joined(raw: Raw, wording: Raw, *, where: str) -> tuple[Raw, list[str]]:
    """Merge a messages file into a task's raw file, and return what does not fit."""
    faults = [f"{where}: {key}: no such key." for key in wording if key not in {*_TOP, *_TABLES}]
    whole = {**raw, **{key: wording[key] for key in _TOP if key in wording}}
    groups = table_in(wording, "groups")
    of_fields = table_in(wording, "fields")
    of_rules = table_in(wording, "rules")
    if isinstance(raw.get("fields"), list):
        entries = _entries(raw, "fields")
        whole["fields"] = [
            _field(entry, table_in(of_fields, str(entry.get("name"))), groups) for entry in entries
        ]
        faults += _strange(of_fields, entries, where=f"{where}: fields")
        faults += _strange_options(of_fields, entries, where=where)
    if isinstance(raw.get("rules"), list):
        rules = _entries(raw, "rules")
        whole["rules"] = [
            {**entry, "message": of_rules[str(entry.get("name"))]}
            if str(entry.get("name")) in of_rules
            else entry
            for entry in rules
        ]
        faults += _strange(of_rules, rules, where=f"{where}: rules")
    return whole, faults


def texts(wording: Raw) -> dict[str, str]:
    """Return the texts for the template."""
    return {key: str(value) for key, value in table_in(wording, "texts").items()}


def _field(entry: Raw, wording: Raw, groups: Raw) -> Raw:
    options = entry.get("options")
    words = table_in(wording, "options")
    whole = {**entry, **{key: wording[key] for key in _OF_FIELD if key in wording}}
    if isinstance(options, list):
        whole["options"] = [_option(option, words, groups) for option in options]
    return whole


def _option(option: object, words: Raw, groups: Raw) -> object:
    entry = {"value": option} if isinstance(option, str) else option
    if not isinstance(entry, dict):
        return option
    value, group = str(entry.get("value")), str(entry.get("group", ""))
    labelled = {"label": words[value]} if value in words else {}
    grouped = {"group": groups[group]} if group in groups else {}
    return {**entry, **labelled, **grouped}


def _strange(wording: Raw, entries: list[Raw], *, where: str) -> list[str]:
    known = {str(entry.get("name")) for entry in entries}
    return [f"{where}.{name}: the task has no such entry." for name in wording if name not in known]


def _strange_options(wording: Raw, entries: list[Raw], *, where: str) -> list[str]:
    faults = []
    for entry in entries:
        name, options = str(entry.get("name")), entry.get("options")
        known = {
            str(option.get("value")) if isinstance(option, dict) else str(option)
            for option in (options if isinstance(options, list) else [])
        }
        faults += [
            f"{where}: fields.{name}.options.{value}: the field has no such option."
            for value in table_in(table_in(wording, name), "options")
            if value not in known
        ]
    return faults


def shown_path(path: Path) -> str:
    """Shorten a path for messages: relative to the gallery if it is inside."""
    is_ours = path.is_relative_to(FOLDER)
    return str(path.relative_to(FOLDER.parent) if is_ours else path)


def _codes(folder: Path, stem: str) -> set[str]:
    return {path.name.split(".")[1] for path in folder.glob(f"{stem}.*.toml")}


def _read(path: Path) -> Raw:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except (ValueError, RecursionError) as fault:
        raise ConfigError([f"{shown_path(path)}: {fault}."]) from fault


def table_in(raw: Raw, key: str) -> Raw:
    """Return the table under a key; an empty one for anything else."""
    table = raw.get(key)
    return table if isinstance(table, dict) else {}


def _entries(raw: Raw, key: str) -> list[Raw]:
    entries = raw.get(key)
    return (
        [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    )
