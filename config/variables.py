"""Environment variables in addresses, so that no file has to hold a password."""

import os
import re
from urllib.parse import quote

from piecework.domain.errors import ConfigError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def with_secrets(address: str) -> str:
    """Return an address with the values of its `${VARIABLES}`.

    User name and password are quoted for the URL, so they may have any character.
    Messages show the address as it was written.

    Raises:
        ConfigError: a variable is not set.
    """

    def value(variable: re.Match[str]) -> str:
        name = variable[1]
        if not (setting := os.environ.get(name)):
            raise ConfigError([f"{address}: the environment variable {name} is not set"])
        return quote(setting, safe="") if _is_credential(variable) else setting

    return _VARIABLE.sub(value, address)


def variables_in(text: str) -> list[str]:
    """Return the names of the variables in a text.

    >>> variables_in("postgresql://${USER}:${PASSWORD}@host/shop")
    ['USER', 'PASSWORD']
    """
    return _VARIABLE.findall(text)


def _is_credential(variable: re.Match[str]) -> bool:
    """Return whether a variable is user name or password: `://` before, `@` after."""
    _, marks, host = variable.string[: variable.start()].partition("://")
    rest = variable.string[variable.end() :].partition("/")[0]
    return bool(marks) and "/" not in host and "@" in rest
