"""Options and key of the commands that call Connect."""

import os
from pathlib import Path

import click

from piecework.connect.token import CONNECT, SERVICE, ApiKey
from piecework.domain.errors import ConfigError

URL = click.option(
    "--url",
    envvar=SERVICE.url_variable,
    default=CONNECT,
    show_default=True,
    help="URL of the API (or CONNECT_URL); plain http only on this machine.",
)
KEY_FILE = click.option(
    "--key-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file with the key that only you can read (mode 600), instead of CONNECT_API_KEY.",
)


def needed_key(file: Path | None) -> ApiKey:
    """Return the key of a file, or of CONNECT_API_KEY.

    Raises:
        ConfigError: there is no key.
        Exposed: others can read the file.
    """
    key = ApiKey.read(os.environ, file)
    if key is None:
        raise ConfigError(
            ["the key of a Connect account is missing"],
            next_step=f"export {SERVICE.token_variable}=..., or give a file with it",
        )
    return key
