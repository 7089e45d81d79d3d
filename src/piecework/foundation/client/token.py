"""The token of an account, which grants full access to it, and the API's address.

The token comes from the environment or from a file that only its owner can read. It is sent
in one header and shown nowhere. If an answer repeats it, it is blotted out. The address must
use TLS or be on this machine.
"""

import ipaddress
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self
from urllib.parse import urlsplit

from piecework.foundation.client.errors import Unusable
from piecework.foundation.hosts import is_loopback


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service with an API below `/api/v1/`.

    Attributes:
        name: its display name.
        address: the API's address.
        url_variable: the environment variable with another address.
        token_variable: the environment variable with the account's token.
        header: the header that carries the token.
        scheme: what stands before the token in that header.
        documents: where the API and its changes are documented.
        closed_statuses: the HTTP statuses by which the API says that a resource does
            not exist, or that the token may not see it.
    """

    name: str
    address: str
    url_variable: str
    token_variable: str
    header: str
    scheme: str = ""
    documents: str
    closed_statuses: tuple[int, ...] = (401, 404)


_LONGEST = 4096
_FORM = re.compile(r"[!-~]{8,}")
_OTHERS = 0o077


class Exposed(Unusable):
    """Other users of this machine can read the token file."""


@dataclass(frozen=True, slots=True)
class AccountToken:
    """An account's token; its `repr` leaves the secret out. Each service has its own.

    Attributes:
        source: where it is from, for messages: a file or a variable.

    Raises:
        Unusable: it cannot be a token; the message does not repeat it.
    """

    service: ClassVar[Service]
    _secret: str = field(repr=False)
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not _FORM.fullmatch(self._secret):
            scheme = self.service.scheme.strip()
            raise Unusable(
                f"the token{self.origin} is not a single word of at least eight plain characters",
                next_step=f"give only the token, without `{scheme}` before it"
                if scheme
                else "give only the token",
            )

    @property
    def origin(self) -> str:
        """Where it is from, in brackets for a message; "" if that is not stated."""
        return f" (from {self.source})" if self.source else ""

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
            return cls(_read_private(file, cls.service.name), source=str(file))
        variable = cls.service.token_variable
        secret = environment.get(variable, "").strip()
        return cls(secret, source=variable) if secret else None


def _read_private(file: Path, service: str) -> str:
    with file.open("rb") as opened:
        # Checks the open file, so that it cannot be swapped in between.
        mode = os.fstat(opened.fileno()).st_mode
        if mode & _OTHERS:
            raise Exposed(
                f"{file}: other users of this machine can read the token (mode {mode & 0o777:o})",
                next_step=f"chmod 600 {shlex.quote(str(file))}; if someone may have read it, "
                f"delete that token at {service} and create a new one",
            )
        return opened.read(_LONGEST).decode("ascii", errors="replace").strip()


_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


def api_address(text: str, service: Service) -> str:
    """Return the address in normal form, without a trailing slash.

    Args:
        text: the address as written.
        service: the service of the API.

    Raises:
        Unusable: it is not an address, or the token would be sent unencrypted.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    more = "@" in text or parts.query or parts.fragment or parts.path.strip("/")
    if not _is_host(host) or more or port == 0:
        raise Unusable(
            # The part before an @ may be a secret.
            f"{text.rpartition('@')[2]!r} is not the address of an API",
            next_step=f"write {service.address}, or http://127.0.0.1:8090 for an API "
            "on this machine",
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise Unusable(
            f"{text!r}: the token would be sent unencrypted",
            next_step="use https; http is allowed only for this machine",
        )
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}"


def _is_host(host: str) -> bool:
    if ":" not in host:
        labels = host.removesuffix(".").split(".")
        return all(_LABEL.fullmatch(label) for label in labels)
    try:
        return ipaddress.ip_address(host) is not None
    except ValueError:
        return False
