"""How people of a panel arrive and leave: offers, signed links, and their secrets.

An arrival keeps its ids in two keys of the marketplace's tables: the person
(`participant_id`) under the panel, so that a person is one worker in all of its
projects, and the participation (`submission_id`) under panel and project.
"""

import hashlib
import hmac
import json
import logging
import math
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote, unquote

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import visits, worker_limits
from piecework.marketplace.state.outside_crowd import MARKET_OF_HIT_TYPE, Arrival, WayBack
from piecework.marketplace.state.transaction import Transaction, next_number
from piecework.marketplace.workers import eligibility
from piecework.markets.panel.panel_file import IS_ID, NAME, Panel, filled_address, filled_text

_LEAST, _LONGEST = 16, 4096
_OTHERS = 0o077


class UnusableError(ValueError):
    """A secret or list of a panel file cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of a panel; `repr` leaves them out.

    Attributes:
        link: proves that a link comes from the panel; b"" if nothing does.
        code: part of a hashed code; "" for a link without a code.
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


_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """The ids of a participation.

    Attributes:
        person: the person's id at the panel.
        session: the id of the participation; the person's id if the panel sends none.
        project: the panel's project; "" if it sends none.
    """

    person: str
    session: str
    project: str = ""

    def values(self) -> dict[str, str]:
        """Return the ids by placeholder."""
        return {"person": self.person, "session": self.session, "project": self.project}


@dataclass(slots=True)
class Links:
    """Reads the links of one panel.

    Args:
        panel: the panel file.
        secrets: its secrets.
    """

    panel: Panel
    secrets: Secrets = field(repr=False)
    _list: "_PersonList | None" = None

    def __post_init__(self) -> None:
        if self.panel.verification.by == "list":
            self._list = _PersonList(Path(self.panel.verification.ids_file))
            self._list.read()

    def read(self, query: Mapping[str, str]) -> Arrival:
        """Return the arrival of a verified link.

        Raises:
            Refusal: an id is missing or invalid (400), the link is not verified (403),
                or its project is not served here (404).
        """
        ids = self._ids(query)
        proof = query.get(self.panel.verification.parameter, "")
        if not self._is_verified(ids, proof):
            raise Refusal(
                "VisitRefused",
                f"This link does not come from {self.panel.title}. Open the study there again.",
                status=403,
            )
        if self.panel.projects and ids.project not in self.panel.projects:
            raise Refusal("VisitRefused", "There is no such project here.", status=404)
        return Arrival(
            participant_id=person_key(self.panel.name, ids.person),
            study_id="",
            submission_id=visit_key(self.panel.name, ids),
            proof=proof,
            is_proven=self.panel.verification.by == "signature",
        )

    def query(self, arrival: Arrival) -> dict[str, str]:
        """Return the parameters of the link that `read` reads as this arrival."""
        ids = ids_of(arrival.participant_id, arrival.submission_id)
        query = {
            parameter: ids.values()[name]
            for name, parameter in self.panel.link.names().items()
            if parameter
        }
        parameter = self.panel.verification.parameter
        return {**query, parameter: arrival.proof} if parameter else query

    def _ids(self, query: Mapping[str, str]) -> Ids:
        values = {
            name: query.get(parameter, "") if parameter else ""
            for name, parameter in self.panel.link.names().items()
        }
        names = self.panel.link.names()
        if not all(IS_ID.fullmatch(values[name]) for name in values if names[name]):
            raise Refusal(
                "VisitRefused",
                f"This link is incomplete. Open the study at {self.panel.title} again.",
            )
        session = values["session"] or values["person"]
        return Ids(person=values["person"], session=session, project=values["project"])

    def _is_verified(self, ids: Ids, proof: str) -> bool:
        by = self.panel.verification.by
        if by in ("signature", "secret"):
            wanted = proof_of(self.panel, self.secrets, ids)
            shown = proof.lower() if by == "signature" else proof
            return hmac.compare_digest(wanted.encode(), shown.encode())
        if self._list is not None:
            return ids.person in self._list.read()
        return by == "nothing"


def proof_of(panel: Panel, secrets: Secrets, ids: Ids) -> str:
    """Return what a link of the panel proves itself with; "" if with nothing."""
    by = panel.verification.by
    if by == "signature":
        return signature(panel, secrets, ids)
    return secrets.link.decode() if by == "secret" else ""


def signature(panel: Panel, secrets: Secrets, ids: Ids) -> str:
    """Return the signature of a link: HMAC-SHA256 in hexadecimal digits.

    It covers the parameters of person, session and project, in this order, as they
    stand in a query string.
    """
    signed = "&".join(
        f"{parameter}={quote(ids.values()[name], safe='')}"
        for name, parameter in panel.link.names().items()
        if parameter
    )
    return hmac.new(secrets.link, signed.encode(), hashlib.sha256).hexdigest()


def person_key(panel: str, person: str) -> str:
    """Return the key of a person in the marketplace's tables.

    >>> person_key("lab", "a@b.example")
    'lab/a%40b.example'
    """
    return f"{panel}/{quote(person, safe='')}"


def visit_key(panel: str, ids: Ids) -> str:
    """Return the key of a participation in the marketplace's tables.

    >>> visit_key("lab", Ids(person="p", session="s/1", project="x"))
    'lab/x/s%2F1'
    """
    return "/".join((panel, quote(ids.project, safe=""), quote(ids.session, safe="")))


def ids_of(participant_id: str, submission_id: str) -> Ids:
    """Return the ids in two keys.

    >>> ids_of("lab/p", "lab//s%2F1")
    Ids(person='p', session='s/1', project='')
    """
    _, person = participant_id.split("/")
    _, project, session = submission_id.split("/")
    return Ids(person=unquote(person), session=unquote(session), project=unquote(project))


@dataclass(slots=True)
class _PersonList:
    """The ids of a file, read again when the file has changed."""

    file: Path
    _state: tuple[int, int, int] | None = None
    _persons: frozenset[str] = frozenset()

    def read(self) -> frozenset[str]:
        """Return all ids; the last ones that could be read, if the file cannot be.

        Raises:
            UnusableError: the file cannot be read at the start.
        """
        try:
            status = self.file.stat()
            state = (status.st_mtime_ns, status.st_size, status.st_ino)
            if state != self._state:
                text = self.file.read_text(encoding="utf-8-sig")
                self._persons = frozenset(filter(None, map(str.strip, text.split("\n"))))
                self._state = state
        except (OSError, UnicodeDecodeError) as fault:
            if self._state is None:
                raise UnusableError(
                    f"{self.file}: the list of ids cannot be read ({fault})"
                ) from fault
            _LOG.warning("%s cannot be read; the ids of before still apply", self.file)
        return self._persons


Ending = Literal["complete", "screened_out", "quota_full", "refused"]

_DIGITS = 10


@dataclass(frozen=True, slots=True)
class WaysOut:
    """The exits of one panel.

    Args:
        panel: the panel file.
        secrets: its secrets.
        key: the marketplace's own key, from which {code} is made.
    """

    panel: Panel
    secrets: Secrets = field(repr=False)
    key: bytes = field(repr=False)

    def way_out(self, ids: Ids, ending: Ending) -> WayBack:
        """Return the exit of a participation that ended like this."""
        address = getattr(self.panel.exits, ending)
        code = self.panel.exits.code if ending == "complete" else ""
        values = self.values(ids)
        return WayBack(
            url=filled_address(address, values) if address else "", code=filled_text(code, values)
        )

    def values(self, ids: Ids) -> dict[str, str]:
        """Return what placeholders stand for: ids, {code} and {sha256}.

        {code} cannot be guessed from ids, and is the same each time.
        """
        text = "\n".join([self.panel.name, *ids.values().values()])
        digest = hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()
        hashed = ""
        if self.panel.exits.sha256_of:
            whole = filled_text(
                self.panel.exits.sha256_of, {**ids.values(), "secret": self.secrets.code}
            )
            hashed = hashlib.sha256(whole.encode()).hexdigest()
        return {**ids.values(), "code": digest[:_DIGITS].upper(), "sha256": hashed}


_WITH_WORK = (
    "SELECT hit_types.*, EXISTS (SELECT 1 FROM blocks "
    "WHERE blocks.requester = hit_types.requester AND blocks.worker = ?1) "
    "AS is_blocked FROM hit_types WHERE assignable_hits > 0 AND deleted_ms IS NULL "
    f"AND (?2 = '' OR title = ?2) AND {MARKET_OF_HIT_TYPE} = '{NAME}' ORDER BY id"
)
_FULL = "Other people have taken all tasks, or you have done all that are left."


@dataclass(frozen=True, slots=True, kw_only=True)
class NoWork:
    """Why there is nothing for a person.

    Attributes:
        ending: how the panel calls it.
        sentence: the reason, for the person.
    """

    ending: Ending
    sentence: str


def offer(
    transaction: Transaction, panel: Panel, worker: sqlite3.Row | None, *, title: str
) -> str | NoWork:
    """Return the id of a study with work for a person, or why the person gets no work.

    Args:
        transaction: the open one.
        panel: the panel file.
        worker: the person's worker; None on their first arrival.
        title: the title of HITs of the project; "" for any.
    """
    held = (
        eligibility.vouched_for(transaction, NAME)
        if worker is None
        else eligibility.holdings(transaction, worker)
    )
    reasons: list[NoWork] = []
    number = 0 if worker is None else worker["id"]
    for hit_type in transaction.all(_WITH_WORK, number, title):
        hits = visits.most_hits(transaction, hit_type["id"], worker, most=panel.visits.hits)
        if not hits:
            continue
        reason = _exclusion(hit_type, held)
        if reason is not None:
            reasons.append(reason)
            continue
        limit = (
            None if worker is None else worker_limits.limit_of_worker(transaction, worker, hit_type)
        )
        most = (
            worker_limits.limit_of_newcomers(transaction, hit_type["id"]) or hits
            if limit is None
            else limit.left
        )
        if limit is not None and not most:
            sentence = eligibility.word_reached_limit(limit)
            reasons.append(NoWork(ending="quota_full", sentence=sentence))
            continue
        return _study(transaction, panel, hit_type, min(hits, most))
    by_ending = {reason.ending: reason for reason in reversed(reasons)}
    for ending in ("refused", "screened_out", "quota_full"):
        if ending in by_ending:
            return by_ending[ending]
    return NoWork(ending="quota_full", sentence=_FULL)


def _exclusion(hit_type: sqlite3.Row, held: eligibility.Holdings) -> NoWork | None:
    """Return why a person may not work on a HIT type, if they may not."""
    wanted = json.loads(hit_type["requirements"])
    lacked = eligibility.unmet(wanted, held, action="accept")
    is_excluded = any(each["Comparator"] == "DoesNotExist" for each in lacked)
    if hit_type["is_blocked"] or is_excluded:
        return NoWork(ending="refused", sentence="The researchers have no more tasks for you.")
    if lacked:
        return NoWork(
            ending="screened_out",
            sentence="These tasks are for people with a qualification that you do not have.",
        )
    return None


def _study(transaction: Transaction, panel: Panel, hit_type: sqlite3.Row, hits: int) -> str:
    """Return the id of the study with this type and length; add it if it is new."""
    study_id = f"{panel.name}/{hit_type['hit_type_id']}/{hits}"
    known = transaction.first_row("SELECT 1 FROM studies WHERE study_id = ?", study_id)
    if known is not None:
        return study_id
    seconds = hit_type["expected_seconds"] or min(
        panel.visits.hit_seconds, hit_type["duration_seconds"]
    )
    allowed = math.ceil(hits * hit_type["duration_seconds"] / 60) + 1
    minutes = max(1, round(hits * seconds / 60)) if seconds else allowed
    code = transaction.id_generator.entity("code", next_number(transaction.conn, "studies"))
    transaction.execute(
        "INSERT INTO studies (hit_type, market, internal_name, study_id, status, "
        "stage, hits_per_visit, currency, reward_cents, minutes, most_minutes, "
        "places, code, own_code, has_own_code, made_ms) "
        f"VALUES (?1, '{NAME}', ?2, ?2, 'OPEN', 'Published', ?3, ?4, ?5, ?6, ?7, 1, "
        "?8, ?9, 0, ?10)",
        hit_type["id"],
        study_id,
        hits,
        transaction.prices.currency,
        hits * hit_type["reward_cents"],
        minutes,
        max(minutes, allowed),
        "C" + code[1:11],
        "R" + code[11:21],
        transaction.now_ms,
    )
    return study_id
