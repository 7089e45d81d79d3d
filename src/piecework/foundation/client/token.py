"""The token of an account, which grants full access to it.

It comes from the environment or from a file that only its owner can read. It is sent in
one header and shown nowhere. If an answer repeats it, it is blotted out.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

from piecework.foundation.client.errors import Unusable
from piecework.foundation.client.service import Service

_LONGEST = 4096
_FORM = re.compile(r"[!-~]{8,}")
_OTHERS = 0o077


class Exposed(Unusable):
    """Other users of this machine can read the token file."""


@dataclass(frozen=True, slots=True)
class AccountToken:
    """An account's token; its `repr` leaves the secret out. Each service has its own.

    Raises:
        Unusable: it cannot be a token; the message does not repeat it.
    """

    service: ClassVar[Service]
    _secret: str = field(repr=False)

    def __post_init__(self) -> None:
        if not _FORM.fullmatch(self._secret):
            scheme = self.service.scheme.strip()
            raise Unusable(
                "the token is not a single word of at least eight plain characters",
                next_step=f"give only the token, without `{scheme}` before it"
                if scheme
                else "give only the token",
            )

    def header(self) -> str:
        """The value of the service's header."""
        return f"{self.service.scheme}{self._secret}"

    def blotted(self, text: str) -> str:
        """Return the text with every occurrence of the token blotted out."""
        return text.replace(self._secret, "[token]")

    @classmethod
    def read(cls, environment: Mapping[str, str], file: Path | None = None) -> Self | None:
        """Return the token from a file, else from the environment, else `None`.

        Raises:
            Exposed: other users can read the file.
            Unusable: the text is not a token.
            OSError: the file cannot be read.
        """
        if file is not None:
            return cls(_read_private(file, cls.service.name))
        secret = environment.get(cls.service.token_variable, "").strip()
        return cls(secret) if secret else None


def _read_private(file: Path, service: str) -> str:
    with file.open("rb") as opened:
        # Checks the open file, so that it cannot be swapped in between.
        mode = os.fstat(opened.fileno()).st_mode
        if mode & _OTHERS:
            raise Exposed(
                f"{file}: other users of this machine can read the token (mode {mode & 0o777:o})",
                next_step=f"chmod 600 {file}; if someone may have read it, delete "
                f"that token at {service} and create a new one",
            )
        return opened.read(_LONGEST).decode("ascii", errors="replace").strip()
