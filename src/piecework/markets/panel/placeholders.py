"""Texts with placeholders: addresses of exits, codes, cells of a pay list.

An exit leads only to the host that the panel file names. Placeholders stand in its path
or query, and every value is percent-encoded.
"""

from collections.abc import Mapping
from string import Formatter
from urllib.parse import quote, urlsplit

EXIT_NAMES = frozenset({"person", "session", "project", "code", "sha256"})
HASHED_NAMES = frozenset({"person", "session", "project", "secret"})
PAY_NAMES = EXIT_NAMES | {"kind", "amount", "currency", "reason", "worker_id"}
_LOCAL = ("localhost", "127.0.0.1")


def check_exit(address: str) -> None:
    """Check the address of an exit.

    Raises:
        ValueError: it could lead elsewhere, or is not encrypted.
    """
    check_text(address, EXIT_NAMES)
    if not address.isascii() or not address.isprintable() or set(address) & set(' \\"'):
        raise ValueError("an exit must be an address of plain characters")
    parts = urlsplit(address)
    try:
        host = parts.hostname
        port = parts.port
    except ValueError as fault:
        raise ValueError("an exit must be an address such as https://…") from fault
    if "{" in parts.scheme or "{" in parts.netloc:
        raise ValueError("an exit may have placeholders only after its host")
    if not host or "@" in parts.netloc or port == 0:
        raise ValueError("an exit must be an address such as https://…")
    if parts.scheme != "https" and not (parts.scheme == "http" and host in _LOCAL):
        raise ValueError("an exit must begin with https:// (http:// only on localhost)")


def check_text(text: str, names: frozenset[str]) -> None:
    """Check that a text has only these placeholders.

    Raises:
        ValueError: a placeholder is unknown or not closed.
    """
    unknown = sorted(names_in(text) - names)
    if unknown:
        raise ValueError(
            f"there is no placeholder {{{unknown[0]}}}; there are "
            f"{', '.join(f'{{{name}}}' for name in sorted(names))}"
        )


def names_in(text: str) -> set[str]:
    """Return the placeholders of a text.

    Raises:
        ValueError: a brace is not closed.

    >>> sorted(names_in("a{person}b{code}"))
    ['code', 'person']
    """
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError as fault:
        raise ValueError("a brace is open: write {{ for a brace itself") from fault


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced.

    >>> filled("{person}: {amount}", {"person": "P1", "amount": "0.60"})
    'P1: 0.60'
    """
    return "".join(
        before + (values[name] if name is not None else "")
        for before, name, _, _ in Formatter().parse(text)
    )


def filled_address(address: str, values: Mapping[str, str]) -> str:
    """Return an address with its placeholders replaced and encoded.

    >>> filled_address("https://p.example/?id={person}", {"person": "a&b=/"})
    'https://p.example/?id=a%26b%3D%2F'
    """
    return filled(address, {name: quote(value, safe="") for name, value in values.items()})
