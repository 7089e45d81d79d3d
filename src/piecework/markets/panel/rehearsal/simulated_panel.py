"""A panel's own side: its persons, links, exits and payments.

It is a stranger to the code that serves it: it signs links by itself, reads the
addresses to which people are sent back, and pays from a list. What must never happen is
a broken law: a session that ends in two ways or is paid twice, or a line that pays
another person.
"""

import csv
import hashlib
import hmac
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote, urlsplit

EXITS = ("complete", "screened_out", "quota_full", "refused")
HOST = "panel.example"

_FILE = """\
name = "{name}"
title = "Example Panel"
contact = "Write to the panel's support."

[link]
person = "pid"
session = "sid"
project = "project"

[verification]
by = "signature"
parameter = "sig"
{proof}

[visits]
hits = {hits}
per_person = {per_person}
hit_seconds = {hit_seconds}

[exits]
complete = "https://{host}/back?status=complete&pid={{person}}&sid={{session}}"
screened_out = "https://{host}/back?status=screened_out&pid={{person}}&sid={{session}}"
quota_full = "https://{host}/back?status=quota_full&pid={{person}}&sid={{session}}"
refused = "https://{host}/back?status=refused&pid={{person}}&sid={{session}}"

[pay]
currency = "{currency}"
fee_percent = "{fee_percent}"

[pay.columns]
Person = "{{person}}"
Session = "{{session}}"
Amount = "{{amount}}"
Kind = "{{kind}}"
Reason = "{{reason}}"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a panel file says about this panel, besides its addresses."""

    name: str = "example"
    proof: str = 'secret_variable = "PANEL_SECRET"'
    hits: int = 2
    per_person: int = 1
    hit_seconds: int = 60
    currency: str = "USD"
    fee_percent: str = "0"


def panel_file(terms: Terms) -> str:
    """Return the panel file (TOML) of a simulated panel."""
    values = {name: getattr(terms, name) for name in Terms.__dataclass_fields__}
    return _FILE.format(**values, host=HOST)


@dataclass(slots=True)
class SimulatedPanel:
    """The panel's side.

    Args:
        secret: what it shares with the marketplace.

    Attributes:
        broken_laws: what must never happen, and did.
        paid_cents: what it has paid from lists.
        forged_links: how many of its people's forged links were refused.
    """

    secret: str = field(repr=False)
    _sessions: dict[str, str] = field(default_factory=dict)
    _endings: dict[str, list[str]] = field(default_factory=dict)
    _paid: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    broken_laws: list[str] = field(default_factory=list)
    paid_cents: int = 0
    forged_links: int = 0

    def open(self, person: str, session: str, project: str = "p1") -> dict[str, str]:
        """Return the parameters of a person's link for a session."""
        self._sessions[session] = person
        return {
            "pid": person,
            "sid": session,
            "project": project,
            "sig": self._signature(person, session, project),
        }

    def forged(self, person: str, session: str, project: str = "p1") -> dict[str, str]:
        """Return the parameters of a link that the panel did not make."""
        forger = SimulatedPanel(f"{self.secret} guessed wrongly")
        return forger.open(person, session, project)

    def take_back(self, address: str) -> str:
        """Take back a person who was sent to an address; return how it ended.

        Raises:
            ValueError: it is not an address of this panel, or names another's session.
        """
        parts = urlsplit(address)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if (parts.scheme, parts.netloc, parts.path) != ("https", HOST, "/back"):
            raise ValueError(f"{address} does not lead to this panel")
        ending, session = query["status"], query["sid"]
        if ending not in EXITS or self._sessions.get(session) != query["pid"]:
            raise ValueError(f"{address} names no session of its person")
        endings = self._endings.setdefault(session, [])
        endings.append(ending)
        if "complete" in endings and len(set(endings)) > 1:
            self.broken_laws.append(f"session {session} ended as {sorted(set(endings))}")
        return ending

    def sessions(self, ending: str) -> set[str]:
        """Return the sessions that ended like this."""
        return {session for session, how in self._endings.items() if ending in how}

    def pay(self, table: str) -> int:
        """Pay from a list (CSV); return how many lines it has."""
        lines = list(_lines_of(table))
        for session, person, kind, reason, cents in lines:
            self._paid[session, kind, reason] += 1
            self.paid_cents += cents
            if self._sessions.get(session) != person:
                self.broken_laws.append(f"the list pays {person} for {session}")
            if kind == "visit" and self._paid[session, kind, reason] > 1:
                self.broken_laws.append(f"session {session} is paid twice")
        return len(lines)

    @property
    def paid_sessions(self) -> set[str]:
        """The sessions that were paid."""
        return {session for session, kind, _ in self._paid if kind == "visit"}

    def _signature(self, person: str, session: str, project: str) -> str:
        values = {"pid": person, "sid": session, "project": project}
        signed = "&".join(f"{name}={quote(value, safe='')}" for name, value in values.items())
        key = self.secret.encode()
        return hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()


def _lines_of(table: str) -> Iterator[tuple[str, str, str, str, int]]:
    for row in csv.DictReader(io.StringIO(table, newline=""), strict=True):
        whole, _, part = row["Amount"].partition(".")
        yield (
            *(row["Session"], row["Person"], row["Kind"], row["Reason"]),
            int(whole) * 100 + int(part),
        )
