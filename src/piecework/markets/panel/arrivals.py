"""Reads and verifies a panel's links.

An arrival keeps its ids in two keys of the marketplace's tables: the person
(`participant_id`) under the panel, so that a person is one worker in all of its
projects, and the participation (`submission_id`) under panel and project.
"""

import hashlib
import hmac
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.outside_crowd import Arrival
from piecework.markets.panel.panel_file import IS_ID, Panel
from piecework.markets.panel.secrets import Secrets, UnusableError

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
