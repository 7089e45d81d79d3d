"""The token of an account at Prolific, from the environment or a file."""

import os
from pathlib import Path

from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.prolific.http.token import Exposed, Token, token_of


def needed_token(file: Path | None) -> Token:
    """The token, which must be there.

    Raises:
        ConfigError: there is none.
        RefusedForSafety: its file can be read by others.
    """
    try:
        token = token_of(os.environ, file)
    except Exposed as fault:
        raise RefusedForSafety(str(fault), next_step=fault.next_step) from fault
    if token is None:
        raise ConfigError(
            ["an account's token at Prolific is needed"],
            next_step="export PROLIFIC_TOKEN=..., or give --token-file",
        )
    return token
