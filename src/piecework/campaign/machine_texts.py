"""Read the texts of models that a campaign file names (`[machine] texts`)."""

from collections.abc import Collection, Sequence
from pathlib import Path

from piecework.config.campaign_file import CampaignFile
from piecework.config.items_file import Row, read_rows
from piecework.domain.counts import plural
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.suggestion import did_you_mean
from piecework.domain.task import Task

MOST_TEXTS = 20_000
"""The model that they are for learns from a few hundred; more is a mistake."""

MOST_BYTES = 50_000_000

_TEXT, _ITEM, _MODEL = "text", "item_id", "model"
_MOST_FAULTS = 20

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
    path = file.path.parent / table.texts
    rows = _rows(path, where)
    # Rows of a source that grows come later; their samples may come first.
    known = None if file.tables.items.grows else {str(item.item_id) for item in items}
    faults = [f"{path}:{line}: {fault}" for line, row in rows if (fault := _fault(row, known))]
    if faults:
        raise ConfigError(faults[:_MOST_FAULTS])
    return tuple((row.get(_ITEM, ""), row.get(_MODEL, ""), row[_TEXT]) for _, row in rows)


def _rows(path: Path, where: str) -> list[tuple[int, Row]]:
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
        columns = f"{did_you_mean(_TEXT, lacking)}; the columns are {', '.join(lacking)}"
        raise ConfigError([f"{where}: {path} has no column {_TEXT!r}{columns}"])
    return rows


def _fault(row: Row, known: Collection[str] | None) -> str:
    """Return what is wrong with a row; empty if nothing is."""
    item = row.get(_ITEM, "")
    if not row[_TEXT].strip():
        return "the text is empty"
    if item and known is not None and item not in known:
        return (
            f"{item!r} is not an item of the campaign{did_you_mean(item, known)}; "
            "leave it out if the text is about another item"
        )
    return ""
