"""A file of its own that says which column is what: `[imported]` without its head."""

import tomllib
from pathlib import Path

from pydantic import ValidationError

from config.campaign_file import schema_faults
from config.imported_table import ImportedTable
from config.utf8 import read_text
from domain.errors import ConfigError
from domain.imported import Reading


def read_reading(path: Path) -> Reading:
    """What a TOML file says about the columns of other files.

    Raises:
        ConfigError: it cannot be read, is no TOML, or breaks the schema; all faults.
    """
    text = read_text(path, name="file of columns")
    try:
        return ImportedTable.model_validate(tomllib.loads(text)).reading()
    except ValidationError as fault:
        raise ConfigError(schema_faults(path, text, fault)) from fault
    except (ValueError, RecursionError) as fault:
        raise ConfigError([f"{path}: no valid TOML: {fault}"]) from fault
