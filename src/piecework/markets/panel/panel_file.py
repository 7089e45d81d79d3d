"""The file that describes a panel: links, proofs, ways out, prices, and their placeholders."""

import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from piecework.marketplace.state.assignments import LATEST_APPROVAL_OF_VISITS_MS
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.outside_crowd import OutsideMarket

NAME = "panel"
"""How the marketplace's tables name the market that a panel is."""

_RESERVED = ("agreed", "instead_of", "offered", "text")
"""Fields of the arrival page's form."""

_NAMES_IN_LINK = ("person", "session", "project")
_LONGEST = 300

Words = Annotated[str, StringConstraints(min_length=1, max_length=_LONGEST)]
Parameter = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.\-]{1,64}$")]
HitTitle = Annotated[str, StringConstraints(max_length=_LONGEST)]
ProjectId = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z][\w.~@+=\-]{0,127}$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]

_Table = ConfigDict(extra="forbid", frozen=True)


class Link(BaseModel):
    """Which parameters of a link carry what.

    Attributes:
        person: the person's id at the panel, the same in all of its projects.
        session: the id of this participation; "" if the panel sends none.
        project: the panel's project; "" if the panel sends none.
    """

    model_config = _Table

    person: Parameter
    session: Parameter | Literal[""] = ""
    project: Parameter | Literal[""] = ""

    @model_validator(mode="after")
    def _differ(self) -> Self:
        names = [name for name in self.names().values() if name]
        for name in names:
            if name in _RESERVED:
                raise ValueError(f"{name} is a field of this site's own form")
        if len(set(names)) < len(names):
            raise ValueError("person, session and project must be different parameters")
        return self

    def names(self) -> dict[str, str]:
        """Return the parameters by what they carry."""
        return {name: getattr(self, name) for name in _NAMES_IN_LINK}


class Verification(BaseModel):
    """How a link proves that it comes from the panel.

    Attributes:
        by: a signature over the parameters, a list of persons, a secret that all links
            share, or nothing.
        parameter: the parameter with the signature or the secret.
        secret_variable: the environment variable with the secret.
        secret_file: the file with the secret, which only its owner may read.
        ids_file: the file with the ids of persons, one per line.
        accepted_risk: with `nothing`: in words, why this is acceptable.
    """

    model_config = _Table

    by: Literal["signature", "list", "secret", "nothing"]
    parameter: Parameter | Literal[""] = ""
    secret_variable: Annotated[str, StringConstraints(pattern=r"^\w{0,100}$")] = ""
    secret_file: FileName = ""
    ids_file: FileName = ""
    accepted_risk: Annotated[str, StringConstraints(max_length=1000)] = ""

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        has_secret = self.by in ("signature", "secret")
        if has_secret and not self.parameter:
            raise ValueError(f'by = "{self.by}" needs parameter')
        if has_secret and bool(self.secret_variable) == bool(self.secret_file):
            raise ValueError(f'by = "{self.by}" needs secret_variable or secret_file, not both')
        if self.by == "list" and not self.ids_file:
            raise ValueError('by = "list" needs ids_file, with an id in each line')
        if self.by == "nothing" and len(self.accepted_risk.split()) < 5:  # noqa: PLR2004 - a sentence
            raise ValueError(
                'by = "nothing" needs accepted_risk: say in a sentence why anyone may '
                "come with any id"
            )
        return self


class Visits(BaseModel):
    """What people do in a visit.

    Attributes:
        hits: HITs in a visit; the last visits may have fewer.
        per_person: visits that a person may finish in each project.
        hit_seconds: how long a HIT takes, if the requester does not state it; 0 if
            that is not known, and people then read only the most that it may take.
    """

    model_config = _Table

    hits: Annotated[int, Field(ge=1, le=100)] = 1
    per_person: Annotated[int, Field(ge=1, le=1000)] = 1
    hit_seconds: Annotated[int, Field(ge=0, le=86_400)] = 0


class Exits(BaseModel):
    """Where people go afterwards: addresses with placeholders, or a code to enter.

    Attributes:
        complete: after a finished visit.
        screened_out: the person does not meet a requirement.
        quota_full: there is no work left.
        refused: a requester excludes the person, or they have taken part before.
        code: shown after a finished visit.
        sha256_of: the text that {sha256} hashes, with {secret}.
        secret_variable: the environment variable with {secret}.
    """

    model_config = _Table

    complete: str = ""
    screened_out: str = ""
    quota_full: str = ""
    refused: str = ""
    code: Annotated[str, StringConstraints(max_length=_LONGEST)] = ""
    sha256_of: Annotated[str, StringConstraints(max_length=_LONGEST)] = ""
    secret_variable: Annotated[str, StringConstraints(pattern=r"^\w{0,100}$")] = ""

    @field_validator("complete", "screened_out", "quota_full", "refused")
    @classmethod
    def _is_safe(cls, address: str) -> str:
        if address:
            check_exit(address)
        return address

    @field_validator("code")
    @classmethod
    def _is_filled(cls, text: str) -> str:
        check_text(text, EXIT_NAMES)
        return text

    @field_validator("sha256_of")
    @classmethod
    def _has_secret(cls, text: str) -> str:
        check_text(text, HASHED_NAMES)
        if text and not {"secret", "person"} <= names_in(text):
            raise ValueError("sha256_of must hold {person} and {secret}")
        return text

    @model_validator(mode="after")
    def _leads_out(self) -> Self:
        if not self.complete and not self.code:
            raise ValueError(
                "there is no exit: state complete, the address where people go after "
                "a visit, or code, which they enter at the panel"
            )
        uses_hash = any("sha256" in names_in(text) for text in self.texts())
        if (uses_hash or self.sha256_of) and not (self.sha256_of and self.secret_variable):
            raise ValueError("{sha256} needs sha256_of and secret_variable")
        return self

    def texts(self) -> tuple[str, ...]:
        """Return all texts with placeholders that people or browsers see."""
        return (self.complete, self.screened_out, self.quota_full, self.refused, self.code)


class Pay(BaseModel):
    """How people are paid.

    Attributes:
        currency: the currency of rewards.
        fee_percent: what the panel charges on top of what people get.
        words: the pay of a visit in words, for panels that pay in something else.
        columns: the columns of the pay list: heading to text with placeholders.
    """

    model_config = _Table

    currency: Literal["GBP", "USD"]
    fee_percent: Annotated[str, StringConstraints(pattern=r"^\d{1,3}(\.\d{1,4})?$")] = "0"
    words: Annotated[str, StringConstraints(max_length=_LONGEST)] = ""
    columns: Annotated[
        dict[Words, Annotated[str, StringConstraints(max_length=_LONGEST)]],
        Field(min_length=1, max_length=20),
    ]

    @field_validator("columns")
    @classmethod
    def _are_filled(cls, columns: dict[str, str]) -> dict[str, str]:
        for text in columns.values():
            check_text(text, PAY_NAMES)
        if not any({"person", "session"} & names_in(text) for text in columns.values()):
            raise ValueError("a column must hold {person} or {session}")
        return columns

    @property
    def percent(self) -> Decimal:
        """The panel's fee in per cent."""
        return Decimal(self.fee_percent)


class Panel(BaseModel):
    """A panel file.

    Attributes:
        name: a short name; a person is one worker under it, so keep it.
        title: the panel's name for people.
        contact: a sentence on how people reach the requesters.
        projects: project id to the title of its HITs, "" for any; empty accepts any
            project.
    """

    model_config = _Table

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    title: Words
    contact: Words
    link: Link
    verification: Verification
    visits: Visits = Visits()
    projects: dict[ProjectId, HitTitle] = Field(default_factory=dict)
    exits: Exits
    pay: Pay

    @model_validator(mode="after")
    def _links_carry_what_is_used(self) -> Self:
        if self.projects and not self.link.project:
            raise ValueError("[projects] needs link.project, the parameter with its id")
        if self.visits.per_person > 1 and not self.link.session:
            raise ValueError(
                "visits.per_person above 1 needs link.session, since visits could not be told apart"
            )
        texts = (*self.exits.texts(), self.exits.sha256_of, *self.pay.columns.values())
        used = set().union(*map(names_in, texts))
        for name in ("session", "project"):
            if name in used and not getattr(self.link, name):
                raise ValueError(f"{{{name}}} is used, but link.{name} names no parameter")
        if "sha256" in used and not self.exits.sha256_of:
            raise ValueError("{sha256} needs exits.sha256_of")
        if self.verification.parameter in self.link.names().values():
            raise ValueError("verification.parameter already carries an id")
        return self

    def beside(self, path: Path) -> Self:
        """Return the panel with files that are relative to its own file made whole."""
        changed = {
            name: str(path.parent / named)
            for name in ("secret_file", "ids_file")
            if (named := getattr(self.verification, name))
        }
        verification = self.verification.model_copy(update=changed)
        return self.model_copy(update={"verification": verification})


IS_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._~@+=-]{0,127}")
"""An id in a link. It begins like a word, so no cell of a list is a formula."""


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


def filled_text(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced.

    >>> filled_text("{person}: {amount}", {"person": "P1", "amount": "0.60"})
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
    return filled_text(address, {name: quote(value, safe="") for name, value in values.items()})


def prices_of(panel: Panel) -> PriceList:
    """Return the marketplace's prices while it serves a panel."""
    return PriceList(
        currency=panel.pay.currency,
        percent=panel.pay.percent,
        extra_percent_for_many=Decimal(0),
        extra_percent_for_masters=Decimal(0),
        minimum_cents=0,
        longest_approval_seconds=LATEST_APPROVAL_OF_VISITS_MS // SECOND,
    )


def market_of(panel: Panel) -> OutsideMarket:
    """Return the panel as the market that sends people; it pays them from a list."""
    return OutsideMarket(name=NAME, title=panel.title, prices=prices_of(panel), has_bridge=False)
