"""A TOML file that maps columns: `[imported]` without its header.

It may also state the fields that were asked, like a campaign file: `[fields.score]`.
"""

import tomllib
from dataclasses import replace
from pathlib import Path

from pydantic import Field, ValidationError

from piecework.config.imported_table import ImportedTable
from piecework.config.schema import FieldTable, Words
from piecework.config.schema_faults import schema_faults
from piecework.config.utf8 import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading


class ColumnsTable(ImportedTable):
    """The whole file."""

    fields: dict[Words, FieldTable] = Field(default_factory=dict)


def read_reading(path: Path) -> Reading:
    """Read what a TOML file says about the columns of other files.

    Raises:
        ConfigError: the file cannot be read, is not TOML, or breaks the schema; it has
            every fault.
    """
    text = read_text(path, name="file of columns")
    try:
        table = ColumnsTable.model_validate(tomllib.loads(text))
    except ValidationError as fault:
        faults = schema_faults(path, text, fault, schema=ColumnsTable)
        raise ConfigError(faults) from fault
    except (ValueError, RecursionError) as fault:
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault
    fields = {name: field.model_dump(exclude_unset=True) for name, field in table.fields.items()}
    # Unlike in a campaign file, what is not stated here is guessed.
    guessed = () if "numbers" in table.model_fields_set else None
    return replace(table.reading(), fields=fields, numbers=table.numbers or guessed)
