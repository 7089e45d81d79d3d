"""The secrets that a panel file names: shown nowhere, and read once at the start."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from piecework.markets.panel.panel_file import Panel

_LEAST, _LONGEST = 16, 4096
_OTHERS = 0o077


class UnusableError(ValueError):
    """A secret or list of a panel file cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of a panel; `repr` leaves them out.

    Attributes:
        link: proves that a link comes from the panel; b"" if nothing does.
        code: part of a hashed code; "" if there is none.
    """

    link: bytes = field(default=b"", repr=False)
    code: str = field(default="", repr=False)

    @classmethod
    def read(cls, panel: Panel, environment: Mapping[str, str], *, for_links: bool = True) -> Self:
        """Read the secrets of a panel.

        Args:
            panel: the panel file.
            environment: the environment variables.
            for_links: whether the secret of links is needed.

        Raises:
            UnusableError: one is missing or too short, or others can read its file.
        """
        verification = panel.verification
        link = b""
        if for_links and verification.by in ("signature", "secret"):
            name = verification.secret_variable
            text = (
                _of_variable(environment, name)
                if name
                else _of_file(Path(verification.secret_file))
            )
            if len(text) < _LEAST:
                raise UnusableError(
                    f"the secret of [verification] needs at least {_LEAST} characters"
                )
            link = text.encode()
        name = panel.exits.secret_variable
        code = _of_variable(environment, name) if panel.exits.sha256_of else ""
        return cls(link, code)


def _of_variable(environment: Mapping[str, str], name: str) -> str:
    text = environment.get(name, "").strip()
    if not text:
        raise UnusableError(f"the environment variable {name} with the secret is not set")
    return text


def _of_file(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            # Checks the open file, so that it cannot be swapped in between.
            mode = os.fstat(opened.fileno()).st_mode
            if mode & _OTHERS:
                raise UnusableError(
                    f"{file}: other users of this machine can read the secret (mode "
                    f"{mode & 0o777:o}); chmod 600 it"
                )
            return opened.read(_LONGEST).decode(errors="replace").strip()
    except OSError as fault:
        raise UnusableError(f"{file}: the secret cannot be read ({fault.strerror})") from fault
