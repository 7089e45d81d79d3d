"""Write the tables of keys in two pages: of a campaign file, and of the files beside it.

`python -m tools.campaign_keys_page` writes them between the two markers of each page and
leaves the rest of the page alone; a test compares. Types and defaults come from
`config/schema.py` and `config/machine_file.py`, meanings from `tools/campaign_keys.toml`.
"""

import json
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from piecework.config import schema
from piecework.config.input_tables import Column
from piecework.config.machine_file import OutputTable, StoreTable
from piecework.config.posting_tables import Cents, FeesTable
from piecework.config.results_tables import WebAddress
from piecework.config.user_files import OF_CAMPAIGNS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/campaign-file.md"
SHARED_PAGE = ROOT / "docs/reference/shared-files.md"
MEANINGS = ROOT / "tools/campaign_keys.toml"
BEGIN, END = "<!-- keys: begin -->\n", "<!-- keys: end -->\n"

Meanings = dict[str, dict[str, Any]]
"""By TOML table and key: the meaning, or a dictionary with `means` and more."""

Hint = Any
"""A type annotation with its `Annotated` parts."""

_FILES = ("qualification", "earned", "card", "fields", "imported")
"""Tables that are files of their own; `file` is the name that the campaign file states."""

_NOT_STATED = ("currency",)
"""What the schema has from the signs of amounts."""

_SHARED = (*OF_CAMPAIGNS, *_FILES)
"""Tables of the second page."""

_ALIASES: list[tuple[Hint, str]] = [
    (Cents, "amount"),
    (schema.Name, "small letters, digits, `-`, `_`; at most 40"),
    (Column, "column name"),
    (schema.Host, "host name"),
    (schema.Language, "language tag"),
    (WebAddress, "web address"),
]
_PLAIN: Mapping[Hint, str] = {
    str: "text",
    bool: "`true` or `false`",
    date: "date",
    int: "whole number",
    float: "number",
    Decimal: "number",
    object: "anything",
}


def tables(page: Path) -> str:
    """The tables of a page with their headings, in the order of the file of meanings.

    Raises:
        LookupError: a key has no meaning, or a meaning has no key.
    """
    meanings = tomllib.loads(MEANINGS.read_text(encoding="utf-8"))
    order = list(meanings)
    sections = dict(_sections(schema.CampaignTables, meanings, path="", header=""))
    sections |= dict(_sections_of_machine(meanings))
    for path, left in meanings.items():
        for name in left:
            raise LookupError(f"{MEANINGS}: no such key: [{path}] {name}")
    is_shared = page == SHARED_PAGE
    here = [path for path in order if (path.partition(".")[0] in _SHARED) == is_shared]
    return "\n".join(sections[path] for path in here)


def render(page: Path) -> str:
    """A page as it should be, from the page as it is."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{tables(page)}\n{END}{after}"


def _sections_of_machine(meanings: Meanings) -> Iterator[tuple[str, str]]:
    """Path and section of each table of the machine's file but the options of commands."""
    for table, name, header in (
        (OutputTable, "output", "[output]"),
        (StoreTable, "store", "[store]"),
        (FeesTable, "fees", "[[fees]]"),
    ):
        yield from _sections(table, meanings, path=name, header=header)


def _sections(
    model: type[BaseModel], meanings: Meanings, *, path: str, header: str
) -> Iterator[tuple[str, str]]:
    """Path and section of a table, then those of the tables in it."""
    hints = get_type_hints(model, include_extras=True)
    rows = [
        _row(name, hints[name], field, meanings, path)
        for name, field in model.model_fields.items()
        if (_is_value(hints[name], path) or name in meanings[path])
        and not (path in _FILES and name == "file")
        and not (path == "" and name in _NOT_STATED)
    ]
    yield path, _section(header, meanings, path, rows)
    for name in model.model_fields:
        inner = _table_in(hints[name])
        place = f"{path}.{name}" if path else name
        if _origin(hints[name]) is dict and inner is None and not path:
            chosen = FieldInfo(default={})
            _, value = get_args(hints[name])
            row = _row("<name>", value, chosen, meanings, place)
            yield place, _section(f"[{place}]", meanings, place, [row])
        elif inner is not None:
            if _origin(hints[name]) is dict:
                place += ".<name>"
            is_list = _origin(_bare(hints[name])) is tuple
            typed = place.removeprefix(f"{path}.") if path in _FILES else place
            header = f"[[{typed}]]" if is_list else f"[{typed}]"
            header = place if place in _FILES else header
            yield from _sections(inner, meanings, path=place, header=header)


def _section(header: str, meanings: Meanings, path: str, rows: list[str]) -> str:
    head = "| key | type | default | meaning |\n|---|---|---|---|\n"
    title = f"`{header}`" if header else "The top of the file"
    title = f"A file of {title}" if path in _FILES else title
    title = title.replace("`imported`", "`[imported] columns`")
    title = f"The machine's {title}" if path in OF_CAMPAIGNS else title
    about = _meaning(meanings, path, "about")["means"]
    lines = textwrap.fill(about, 120, break_long_words=False, break_on_hyphens=False)
    table = f"\n{head}{''.join(rows)}" if rows else ""
    return f"### {title}\n\n{lines}\n{table}"


def _row(name: str, hint: Hint, field: FieldInfo, meanings: Meanings, path: str) -> str:
    meaning = _meaning(meanings, path, name)
    kind = meaning.get("type") or _type(hint)
    default = meaning.get("default") or _default(field)
    cells = (f"`{name}`", kind, default, meaning["means"])
    return f"| {' | '.join(cells)} |\n"


def _meaning(meanings: Meanings, path: str, name: str) -> dict[str, str]:
    """What is written about a key; what is left was written about no key."""
    try:
        meaning = meanings[path].pop(name)
    except KeyError as fault:
        raise LookupError(f"{MEANINGS}: has no meaning of [{path}] {name}") from fault
    return {"means": meaning} if isinstance(meaning, str) else meaning


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default is None or field.default in ((), {}):
        return "none"
    if isinstance(field.default, float | Decimal):
        return f"`{field.default:g}`"
    return f"`{json.dumps(field.default)}`"


def _is_value(hint: Hint, path: str) -> bool:
    """Whether a key of this type is a row of its table, and not only a table."""
    if _origin(hint) is dict:
        return path != "" and _table_in(hint) is None
    return any(_table_in(choice) is None for choice in _choices(hint))


def _table_in(hint: Hint) -> type[BaseModel] | None:
    """The table that a key of this type holds, alone or several times."""
    for choice in _choices(hint):
        bare = _bare(choice)
        if _origin(bare) in (tuple, dict):
            return _table_in(get_args(bare)[0 if _origin(bare) is tuple else 1])
        if isinstance(bare, type) and issubclass(bare, BaseModel):
            return bare
    return None


def _origin(hint: Hint) -> Any:  # noqa: ANN401 - narrower types hide some origins
    return get_origin(hint)


def _bare(hint: Hint) -> Hint:
    return _bare(get_args(hint)[0]) if _origin(hint) is Annotated else hint


def _choices(hint: Hint) -> list[Hint]:
    """The members of a union but None; or the type alone."""
    bare = _bare(hint)
    if _origin(bare) in (Union, UnionType):
        return [each for each in get_args(bare) if each is not NoneType]
    return [hint]


def _type(hint: Hint) -> str:
    """What a key may hold, for people: `list of texts`."""
    choices = _choices(hint)
    if len(choices) > 1:
        return "; or a ".join(map(_type, choices))
    for alias, words in _ALIASES:
        wanted = get_args(alias)
        if get_args(choices[0])[: len(wanted)] == wanted:
            return words
    return _type_of_one(choices[0])


def _type_of_one(hint: Hint) -> str:
    bare = _bare(hint)
    origin = _origin(bare)
    if origin is Literal:
        return ", ".join(f"`{json.dumps(value)}`" for value in get_args(bare))
    if origin is tuple:
        return f"list of {_plural(get_args(bare)[0])}" + _limits(hint, "entries")
    if origin is dict:
        return f"table of {_plural(get_args(bare)[1])}"
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        return "table"
    return _PLAIN[bare] + _limits(hint, "characters")


def _plural(hint: Hint) -> str:
    words, _, limits = _type(hint).partition(", ")
    if words.startswith("`"):
        return _type(hint)
    first, of, rest = words.partition(" of ")
    return f"{first}s{of}{rest}{limits and f' ({limits})'}"


def _limits(hint: Hint, unit: str) -> str:
    """What the parts of an annotation allow: `, 1 to 50`."""
    limits: dict[str, Any] = {}
    for part in _parts(hint):
        names = ("ge", "gt", "le", "min_length", "max_length")
        stated = {name: getattr(part, name, None) for name in names}
        limits |= {name: each for name, each in stated.items() if each is not None}
    match limits:
        case {"max_length": most}:
            least = limits.get("min_length", 1)
            span = f"{least:,} to" if least > 1 else "at most"
            return f", {span} {most:,} {unit}"
        case {"ge": low, "le": high}:
            return f", {low:,} to {high:,}"
        case {"gt": low, "le": high}:
            return f", above {low:,}, up to {high:,}"
        case {"ge": low}:
            return f", {low:,} or more"
        case {"gt": low}:
            return f", above {low:,}"
    return ""


def _parts(hint: Hint) -> Iterator[object]:
    if _origin(hint) is Annotated:
        inner, *parts = get_args(hint)
        yield from _parts(inner)
        for part in parts:
            yield from part.metadata if isinstance(part, FieldInfo) else [part]


if __name__ == "__main__":
    for each in (PAGE, SHARED_PAGE):
        each.write_text(render(each), encoding="utf-8")
