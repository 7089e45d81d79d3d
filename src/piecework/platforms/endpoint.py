"""The endpoint of a marketplace, and the keys that it wants.

The file is in `.piecework` beside the campaign's file. It counts only if its owner alone can
read it, and its key is sent to its own endpoint alone. A campaign may come from anyone, with
such a file, so only an endpoint on this machine is used without being named.
"""

import json
import os
import re
import socket
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from piecework.domain.errors import ConfigError, PlatformRefused, RefusedForSafety
from piecework.domain.text import one_line

ALTHOUGH_CLOSED = "PIECEWORK_ALTHOUGH_CLOSED"
"""Environment variable; the value 1 allows calls to a closed host."""

ALTHOUGH_UNSEEN = "PIECEWORK_ALTHOUGH_UNSEEN"
"""Environment variable; the value 1 lets passes post pictures that do not load from here."""

_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def is_on_this_machine(endpoint: str) -> bool:
    """Whether a marketplace listens only on this machine."""
    return urlsplit(endpoint).hostname in _LOOPBACK


def is_open(endpoint: str) -> bool:
    """Return whether a program of this machine listens at an address."""
    try:
        parts = urlsplit(endpoint)
        if not is_on_this_machine(endpoint) or parts.port is None:
            return False
        socket.create_connection((parts.hostname or "", parts.port), timeout=1).close()
    except (OSError, ValueError):
        return False
    return True


class LiveSite(NamedTuple):
    """Where real workers work at a marketplace.

    Attributes:
        url: the site's address in their browsers; "" for a rehearsal, or if not stated.
        recruits: whether the marketplace publishes studies at a market, and pays there.
    """

    url: str = ""
    recruits: bool = False


def why_live(endpoint: str, site: LiveSite) -> str:
    """Return why work at a marketplace is live, as a clause; "" if it is not.

    Args:
        endpoint: URL of the marketplace.
        site: what the marketplace says of its site; empty if it was not asked.
    """
    if not is_on_this_machine(endpoint):
        return "a marketplace on another machine means live work"
    if site.url and not is_on_this_machine(site.url):
        return f"workers reach this marketplace at {site.url}, so this is live work"
    if site.recruits:
        return "this marketplace pays people of a market to come, so this is live work"
    return ""


def refuse_closed_host(endpoint: str) -> None:
    """Refuse Amazon's own hosts, which have accepted no HITs since 2026-09-30.

    The protocol is complete, so users with an endpoint there that still answers can
    allow it (`ALTHOUGH_CLOSED`).

    Raises:
        RefusedForSafety: the endpoint belongs to Amazon and was not allowed.
    """
    if os.environ.get(ALTHOUGH_CLOSED) == "1":
        return
    host = (urlsplit(endpoint).hostname or "").lower().rstrip(".")
    if host == "amazonaws.com" or host.endswith(".amazonaws.com"):
        raise RefusedForSafety(
            f"{host}: Amazon Mechanical Turk closed to new HITs on 2026-09-30",
            next_step="piecework rehearse CAMPAIGN, or piecework market serve for your own "
            "marketplace; if this endpoint still answers you, add --although closed",
        )


def normal_endpoint(endpoint: str) -> str:
    """Normalise an address: `http://LOCALHOST:8080/` becomes `http://127.0.0.1:8080`.

    Raises:
        ConfigError: it is not an address.
    """
    try:
        parts = urlsplit(endpoint)
        host, port = _normal_host(parts.hostname or ""), parts.port
    except ValueError as fault:
        raise _no_address(endpoint) from fault
    # No program can listen on port 0.
    if parts.scheme not in {"http", "https"} or port == 0 or parts.path.strip("/"):
        raise _no_address(endpoint)
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}"


def _normal_host(host: str) -> str:
    if ":" in host:
        return f"[{IPv6Address(host)}]"
    # Stricter than DNS: boto3 does not sign or call other names.
    if not all(_LABEL.fullmatch(label) for label in host.removesuffix(".").split(".")):
        raise ValueError(host)
    return "127.0.0.1" if host == "localhost" else host


def _no_address(endpoint: str) -> ConfigError:
    return ConfigError(
        [f"--endpoint {endpoint!r} is not an address such as http://127.0.0.1:8080"],
        next_step="host names have letters a to z, digits, - and dots; write others in "
        "their xn-- form",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The keys that sign calls; the text form leaves out the secret.

    Attributes:
        source: where they come from, for messages.
    """

    access_key: str
    secret_key: str = field(repr=False)
    source: str = ""


REHEARSAL = Credentials(access_key="REHEARSAL", secret_key="rehearsal")  # noqa: S106 - not a secret
"""The keys for calls to a rehearsal's marketplace, which does not check signatures."""


OWN_KEYS = ("PIECEWORK_ACCESS_KEY_ID", "PIECEWORK_SECRET_ACCESS_KEY")
"""Environment variables with the marketplace's keys, if AWS's own are for buckets."""

VARIABLE = "PIECEWORK_KEY_FILE"
"""The environment variable with the path of the file, while a command works on a campaign."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LONGEST = 4096


class MarketKey(NamedTuple):
    """A key of an account at a marketplace."""

    endpoint: str
    access_key: str
    secret_key: str


def key_path(campaign: Path) -> Path:
    """Return the path of a campaign's file.

    >>> key_path(Path("a/birds.toml")).as_posix()
    'a/.piecework/birds.key.json'
    """
    return campaign.parent / ".piecework" / f"{campaign.stem}.key.json"


def use_key_of(campaign: Path) -> None:
    """Let this process call a campaign's marketplace with the key beside the campaign."""
    if (path := key_path(campaign)).is_file():
        os.environ[VARIABLE] = str(path)
    else:
        os.environ.pop(VARIABLE, None)


def as_text(key: MarketKey) -> str:
    """Return the content of a file."""
    return json.dumps(key._asdict(), indent=2) + "\n"


def known_key(environment: Mapping[str, str]) -> MarketKey | None:
    """Return the key of the file that the environment names, if there is one.

    Raises:
        RefusedForSafety: others can read the file, or it is not such a file.
    """
    named = environment.get(VARIABLE)
    if not named:
        return None
    try:
        with open(os.open(named, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:  # noqa: PTH123
            facts = os.fstat(file.fileno())
            if facts.st_uid != os.geteuid() or facts.st_mode & _OTHERS:
                raise _unusable(named, "its owner alone must be able to read it (mode 600)")
            document = json.loads(file.read(_LONGEST))
            return MarketKey(*(str(document[name]) for name in MarketKey._fields))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise _unusable(named, "it is not a file of `piecework market serve CAMPAIGN`") from fault


def endpoint_beside(environment: Mapping[str, str]) -> str | None:
    """Return the endpoint of the file, if it is on this machine.

    Raises:
        RefusedForSafety: as `known_key`.
    """
    key = known_key(environment)
    return key.endpoint if key is not None and is_on_this_machine(key.endpoint) else None


def _unusable(named: str, why: str) -> RefusedForSafety:
    return RefusedForSafety(
        f"{named}: {why}",
        next_step=f"rm {named}, then start piecework market serve CAMPAIGN again",
    )


_UNKNOWN_KEY = "UnrecognizedClientException"
_KEY_REFUSED = {_UNKNOWN_KEY, "InvalidSignatureException", "IncompleteSignatureException"}
"""Codes of replies to calls whose key is unknown, or does not fit its secret."""


def refuse_key(error: Mapping[str, object], endpoint: str, used: Credentials) -> None:
    """Raise if a reply refuses the key: which one, where it is from, and never its secret.

    Args:
        error: the code and the message in the marketplace's reply; empty without an error.
        endpoint: its URL.
        used: the key that signed the call.

    Raises:
        PlatformRefused: the key is unknown there, or does not fit its secret.
    """
    code = str(error.get("Code"))
    if code not in _KEY_REFUSED:
        return
    key = repr(one_line(used.access_key, at_most=40))
    which = f"{key} (from {used.source})" if used.source else key
    if code == _UNKNOWN_KEY:
        sentence = f"no requester there has the access key {which}"
        next_step = (
            f"{_where_to_write(used.source)} the id and the secret that `piecework market account "
            "add NAME` prints where that marketplace runs; `piecework market account list` shows "
            "the keys that it knows"
        )
    else:
        sentence = f"the secret of the access key {which} was refused: "
        sentence += one_line(str(error.get("Message", "")))
        next_step = (
            "check that the secret belongs to this key, and that this machine's clock is right"
        )
    raise PlatformRefused(f"{endpoint}: {sentence}", code=code, next_step=next_step)


def _where_to_write(source: str) -> str:
    """Return where a key is written that replaces one from a source, as a clause."""
    if source == OWN_KEYS[0]:
        return f"set {' and '.join(OWN_KEYS)} to"
    if source in {"", "AWS_ACCESS_KEY_ID"}:
        return "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to"
    return f"write into {source}"


def missing_key(environment: Mapping[str, str]) -> ConfigError:
    """Return the fault of a call without a key: where none is."""
    beside = known_key(environment)
    file = "`piecework market serve CAMPAIGN` left no key"
    if beside is not None:
        file = f"the key in {environment[VARIABLE]} is for {beside.endpoint} alone"
    fault = (
        "no access key: PIECEWORK_ACCESS_KEY_ID and AWS_ACCESS_KEY_ID are not set, AWS's profiles "
        f"have none, and {file}"
    )
    return ConfigError(
        [fault],
        next_step="`piecework market account add NAME` prints AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY; with `piecework market serve --rehearsal`, any two words are "
        "accepted",
    )
