"""Reads a panel file for the commands."""

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError

if TYPE_CHECKING:
    from piecework.panel.panel_file import Panel
    from piecework.panel.secrets import Secrets

_EXAMPLE = "piecework panel example external shows a panel file"


def read_panel(path: Path) -> "Panel":
    """Read a panel file.

    Raises:
        ConfigError: the file has faults; each is a sentence with line and key.
    """
    from piecework.config.schema_faults import schema_faults
    from piecework.panel.panel_file import Panel

    text = read_text(path, name="panel file", next_step=_EXAMPLE)
    try:
        return Panel.model_validate(tomllib.loads(text)).beside(path)
    except ValidationError as fault:
        faults = schema_faults(path, text, fault, schema=Panel)
        raise ConfigError(faults, next_step=_EXAMPLE) from fault
    except (ValueError, RecursionError) as fault:  # as for a campaign file
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault


def read_secrets(path: Path, panel: "Panel", *, for_links: bool = True) -> "Secrets":
    """Read the secrets that a panel file names.

    Args:
        path: the panel file.
        panel: its contents.
        for_links: whether links are read or made; a pay list needs no such secret.

    Raises:
        ConfigError: a secret is missing, or its file is not private.
    """
    from piecework.panel.secrets import Secrets, UnusableError

    try:
        return Secrets.read(panel, os.environ, for_links=for_links)
    except UnusableError as fault:
        raise ConfigError([f"{path}: {fault}"]) from fault
