"""The token of a Prolific account. It never expires and grants full access.

It comes from the environment or from a file that only its owner can read. It is sent in
one header and shown nowhere. If an answer repeats it, it is blotted out.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from piecework.prolific.http.errors import Unusable

VARIABLE = "PROLIFIC_TOKEN"

_LONGEST = 4096
_FORM = re.compile(r"[!-~]{8,}")
_OTHERS = 0o077


class Exposed(Unusable):
    """Other users of this machine can read the token file."""


@dataclass(frozen=True, slots=True)
class Token:
    """The account's token; its `repr` leaves the secret out.

    Raises:
        Unusable: it cannot be a token; the message does not repeat it.
    """

    _secret: str = field(repr=False)

    def __post_init__(self) -> None:
        if not _FORM.fullmatch(self._secret):
            raise Unusable(
                "the token is not a single word of at least eight plain characters",
                next_step="give only the token, without `Token` before it",
            )

    def header(self) -> str:
        """The value of the header `Authorization`."""
        return f"Token {self._secret}"

    def blotted(self, text: str) -> str:
        """Return the text with every occurrence of the token blotted out."""
        return text.replace(self._secret, "[token]")


def token_of(environment: Mapping[str, str], file: Path | None = None) -> Token | None:
    """Return the token from a file, else from `PROLIFIC_TOKEN`, else `None`.

    Raises:
        Exposed: other users can read the file.
        Unusable: the text is not a token.
        OSError: the file cannot be read.
    """
    if file is not None:
        return Token(_read_private(file))
    secret = environment.get(VARIABLE, "").strip()
    return Token(secret) if secret else None


def _read_private(file: Path) -> str:
    with file.open("rb") as opened:
        # Checks the open file, so that it cannot be swapped in between.
        mode = os.fstat(opened.fileno()).st_mode
        if mode & _OTHERS:
            raise Exposed(
                f"{file}: other users of this machine can read the token (mode "
                f"{mode & 0o777:o})",
                next_step=f"chmod 600 {file}; if someone may have read it, delete "
                "that token at Prolific and create a new one",
            )
        return opened.read(_LONGEST).decode("ascii", errors="replace").strip()
