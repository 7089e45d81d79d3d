"""Files beside the items: known answers (`[gold]`), and what models say (`[machine]`)."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from piecework.config.campaign_file import CampaignFile
from piecework.config.items_file import Row, read_rows
from piecework.config.user_files import read_text
from piecework.domain.campaign import MachineVote
from piecework.domain.errors import ConfigError
from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import GOLD, MIXED_IN, PRACTICE, Task
from piecework.domain.text import did_you_mean, lines_in, plural


def with_gold(file: CampaignFile, task: Task, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return the items, and as many with known answers as `[gold] share` asks for.

    The first ones of the file are used, so that more can be added to its end.

    Raises:
        ConfigError: the file has too few, one without a known answer, or one with the
            id of an item; or the task has no field with right answers.
    """
    table = file.tables.gold
    if table is None or not items:
        return items
    rated = [field.name for field in task.item_fields if field.expects_variation or field.is_merged]
    if not rated:
        fault = f"{file.at('gold')}: {task.name} has no field with a right answer"
        raise ConfigError([f"{fault}; remove [gold]"])
    path = file.named(table.file)
    there = file.items(task.columns, file=path, is_own=False)
    own = [item for item in items if not item.columns.get(PRACTICE)]
    wanted = max(1, round(table.share * len(own) / (1 - table.share)))
    taken = {item.item_id for item in items}
    where = file.at("gold", "file")
    faults = [
        f"{where}: {path.name}: {item.item_id!r} is already an item of the campaign"
        for item in there
        if item.item_id in taken
    ]
    faults += [
        f"{where}: {path.name}: {item.item_id!r} has no known answer in "
        + " or ".join(f"{GOLD}{name}" for name in rated)
        for item in there
        if not any(item.columns.get(GOLD + name) for name in rated)
    ]
    if len(there) < wanted:
        faults.append(
            f"{file.at('gold', 'share')}: a share of {table.share:g} needs "
            f"{plural(wanted, 'item')} beside the campaign's {len(own)}, but "
            f"{path.name} has {len(there)}"
        )
    if faults:
        raise ConfigError(faults)
    return (*items, *(_mixed_in(item) for item in there[:wanted]))


def with_pictures(task: Task, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return the items, each knowing which columns its page shows as pictures.

    Where a page needs the column `url`, it is the picture of each item anyway.
    """
    known = task.shown_pictures
    if known is None or "url" in task.columns:
        return items
    return tuple(replace(item, picture_columns=known) for item in items)


def all_gold(file: CampaignFile, task: Task) -> tuple[Item, ...]:
    """Return all items with known answers, which later batches mix in as well.

    Raises:
        ConfigError: the file cannot be read.
    """
    table = file.tables.gold
    if table is None:
        return ()
    path = file.named(table.file)
    return tuple(_mixed_in(item) for item in file.items(task.columns, file=path, is_own=False))


def _mixed_in(item: Item) -> Item:
    return replace(item, columns={**item.columns, MIXED_IN: "yes"})


_KEYS = frozenset({"item", "label", "field", "probability", "model"})
_MOST_FAULTS = 20


def machine_votes(file: CampaignFile, task: Task, items: Sequence[Item]) -> tuple[MachineVote, ...]:
    """Return the labels of all files, in their order.

    Raises:
        ConfigError: a file is missing, is not JSON Lines, or has a label that cannot be
            used; or no field of the task has labels.
    """
    table = file.tables.machine
    if table is None or table.votes is None:
        return ()
    if file.tables.grows is not None:
        raise ConfigError([f"{file.at('machine')}: items that grow cannot have labels of models"])
    fields = {field.name: field for field in task.label_fields}
    if not fields:
        raise ConfigError([f"{file.at('machine')}: {task.name} has no field with one right option"])
    known = {str(item.item_id) for item in items}
    votes: list[MachineVote] = []
    faults: list[str] = []
    for name in table.votes:
        path = file.named(name)
        if path.is_file():
            _votes_of_file(path, fields, known, votes, faults)
        else:
            faults.append(f"{file.at('machine', 'votes')}: {path} does not exist")
    if faults := faults or _constant(file, votes):
        raise ConfigError(faults[:_MOST_FAULTS])
    return tuple(votes)


def _votes_of_file(
    path: Path,
    fields: Mapping[str, Field],
    known: set[str],
    votes: list[MachineVote],
    faults: list[str],
) -> None:
    """Append the labels of a file, and a fault for each line that has none."""
    before = {(vote.model, vote.item_id, vote.field) for vote in votes}
    for number, line in enumerate(lines_in(read_text(path)), start=1):
        if not line.strip():
            continue
        try:
            vote = _vote(line, path, fields, known)
        except ValueError as fault:
            faults.append(f"{path}:{number}: {fault}")
            continue
        key = (vote.model, vote.item_id, vote.field)
        if key in before:
            faults.append(f"{path}:{number}: {vote.model} labels item {vote.item_id!r} again")
        before.add(key)
        votes.append(vote)


def _labelled(name: object, fields: Mapping[str, Field]) -> Field:
    """Return the field that a line labels; the only field needs no name."""
    if name is None and len(fields) == 1:
        return next(iter(fields.values()))
    if isinstance(name, str) and name in fields:
        return fields[name]
    wrong = "there are several fields" if name is None else f"{name!r} is not a field with labels"
    raise ValueError(f'{wrong}; write "field", one of {", ".join(map(repr, fields))}')


def _vote(line: str, path: Path, fields: Mapping[str, Field], known: set[str]) -> MachineVote:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as fault:
        raise ValueError(f"is not JSON ({fault.msg})") from fault
    if not isinstance(row, dict) or not {"item", "label"} <= row.keys() <= _KEYS:
        raise ValueError("each line has item, label and, if you like, field, probability and model")
    field = _labelled(row.get("field"), fields)
    item_id, label = str(row["item"]), str(row["label"])
    chance, options = row.get("probability"), [option.value for option in field.options]
    if item_id not in known:
        raise ValueError(
            f"{item_id!r} is not an item of the campaign{did_you_mean(item_id, known)}"
        )
    if label not in options:
        allowed = ", ".join(map(repr, options))
        raise ValueError(f"{label!r} is not a label of {field.name}; it has {allowed}")
    if chance is not None and not (type(chance) in {int, float} and 0.0 <= chance <= 1.0):
        raise ValueError(f"probability is {chance!r}; it must be from 0 to 1")
    return MachineVote(
        model=str(row.get("model", path.stem)),
        item_id=ItemId(item_id),
        field=field.name,
        value=label,
        probability=None if chance is None else float(chance),
    )


def _constant(file: CampaignFile, votes: Iterable[MachineVote]) -> list[str]:
    labels: dict[tuple[str, str], set[str]] = {}
    for vote in votes:
        labels.setdefault((vote.model, vote.field), set()).add(vote.value)
    where = file.at("machine", "votes")
    faults = [
        f"{where}: {model} gives every item the label {next(iter(values))!r}, which "
        "says nothing about any item"
        for (model, _), values in labels.items()
        if len(values) == 1
    ]
    return faults or ([] if labels else [f"{where}: the files have no labels"])


MOST_TEXTS = 20_000
"""The model that they are for learns from a few hundred; more is a mistake."""

MOST_BYTES = 50_000_000

_TEXT, _ITEM, _MODEL = "text", "item_id", "model"

Sample = tuple[str, str, str]
"""The item or "", the model or "", and the text."""


def machine_texts(file: CampaignFile, task: Task, items: Sequence[Item]) -> tuple[Sample, ...]:
    """Return the texts of the file, in its order.

    Raises:
        ConfigError: the file cannot be read or is huge, lacks a column, has no text, or
            names an item that does not exist; or the task asks for no text.
    """
    table = file.tables.machine
    if table is None or table.texts is None:
        return ()
    where = file.at("machine", "texts")
    if not task.main_text:
        raise ConfigError([f"{where}: {task.name} asks for no text to compare"])
    path = file.named(table.texts)
    rows = _rows_of_texts(path, where)
    # Rows of a source that grows come later; their samples may come first.
    known = None if file.tables.grows is not None else {str(item.item_id) for item in items}
    faults = [
        f"{path}:{line}: {fault}" for line, row in rows if (fault := _fault_of_text(row, known))
    ]
    if faults:
        raise ConfigError(faults[:_MOST_FAULTS])
    return tuple((row.get(_ITEM, ""), row.get(_MODEL, ""), row[_TEXT]) for _, row in rows)


def _rows_of_texts(path: Path, where: str) -> list[tuple[int, Row]]:
    """Return the rows with their lines; all of them have a text.

    Raises:
        ConfigError: there is no such file, it is huge, or it has no texts.
    """
    if not path.is_file():
        raise ConfigError([f"{where}: {path} does not exist"])
    if path.stat().st_size > MOST_BYTES:
        most = f"{MOST_BYTES // 1_000_000} megabytes"
        raise ConfigError([f"{where}: {path} has more than {most}"])
    rows = read_rows(path)
    if not rows:
        raise ConfigError([f"{where}: {path} has no rows"])
    if len(rows) > MOST_TEXTS:
        many = f"{path} has {plural(len(rows), 'text')}; at most {MOST_TEXTS:,} are read"
        raise ConfigError([f"{where}: {many}, and some hundred are enough"])
    lacking = next((row for _, row in rows if _TEXT not in row), None)
    if lacking is not None:
        columns = did_you_mean(_TEXT, lacking, then=f"the columns are {', '.join(lacking)}")
        raise ConfigError([f"{where}: {path} has no column {_TEXT!r}{columns}"])
    return rows


def _fault_of_text(row: Row, known: Collection[str] | None) -> str:
    """Return what is wrong with a row; empty if nothing is."""
    item = row.get(_ITEM, "")
    if not row[_TEXT].strip():
        return "the text is empty"
    if item and known is not None and item not in known:
        meant = did_you_mean(item, known, then="leave it out if the text is about another item")
        return f"{item!r} is not an item of the campaign{meant}"
    return ""
