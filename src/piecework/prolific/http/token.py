"""The token of a Prolific account: it never expires and may do all, so it is not shown.

It comes from the environment or from a file that only its owner can read, and leaves
in one header of a call alone. What a stranger's answer repeats of it is blotted out.
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
    """Others on this machine can read the file in which the token is."""


@dataclass(frozen=True, slots=True)
class Token:
    """What opens the account; its text form leaves the secret out.

    Raises:
        Unusable: it cannot be a token; the text is not repeated.
    """

    _secret: str = field(repr=False)

    def __post_init__(self) -> None:
        if not _FORM.fullmatch(self._secret):
            raise Unusable(
                "the token is not one word of eight or more plain characters",
                next_step="give the token alone, without `Token` before it",
            )

    def header(self) -> str:
        """The value of the header `Authorization`."""
        return f"Token {self._secret}"

    def blotted(self, text: str) -> str:
        """The text without the token, wherever it stands in it."""
        return text.replace(self._secret, "[token]")


def token_of(environment: Mapping[str, str], file: Path | None = None) -> Token | None:
    """The token of a file, else of the variable `PROLIFIC_TOKEN`, else `None`.

    Raises:
        Exposed: others can read the file.
        Unusable: what is there is no token.
        OSError: the file cannot be read.
    """
    if file is not None:
        return Token(_read_private(file))
    secret = environment.get(VARIABLE, "").strip()
    return Token(secret) if secret else None


def _read_private(file: Path) -> str:
    with file.open("rb") as opened:
        # Of what is open, so that nobody can exchange it in between.
        mode = os.fstat(opened.fileno()).st_mode
        if mode & _OTHERS:
            raise Exposed(
                f"{file}: others on this machine can read the token (mode "
                f"{mode & 0o777:o})",
                next_step=f"chmod 600 {file}; if others may have read it, delete that "
                "token at Prolific and make another",
            )
        return opened.read(_LONGEST).decode("ascii", errors="replace").strip()
