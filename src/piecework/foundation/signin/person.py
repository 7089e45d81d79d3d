"""A person as a provider describes them, and how to reach the provider.

Claims are read strictly. There are three roles, given by verified e-mail address or by a
claim. A refusal is a sentence for the page, and a word for logs. The settings say where the
provider is, and as whom this server asks it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal
from urllib.parse import urlsplit

from piecework.foundation.hosts import is_loopback

_LONGEST_SUBJECT = 255
"""The longest id of a person (OpenID Connect Core 1.0, section 2)."""
_LONGEST_NAME = 60
_LONGEST_VALUE = 256
_MOST_VALUES = 5_000
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person who has signed in at a provider.

    Attributes:
        issuer: the provider.
        subject: the provider's id of the person, which never changes.
        name: how people call them, 1 to 60 printable characters.
        email: the address, as `comparable_email` returns it; "" if the provider has not
            verified it.
        unverified_email: whether there is an address that is not verified.
        values: the values of the claim that gives roles.
    """

    issuer: str
    subject: str
    name: str
    email: str = ""
    unverified_email: bool = False
    values: frozenset[str] = frozenset()


def person_of(claims: Mapping[str, Any], *, roles_claim: str = "") -> Person:
    """Return the person whom claims describe.

    Args:
        claims: validated claims of a token, with those of the provider's `userinfo`.
        roles_claim: the name of the claim that gives roles, if any.

    Raises:
        SignInRefused: the claims are too large, or not of their type.
    """
    subject = claims.get("sub")
    is_id = isinstance(subject, str) and 0 < len(subject) <= _LONGEST_SUBJECT
    if not is_id or not str(subject).isprintable():
        raise SignInRefused(
            "The provider sent an id that this page does not accept: it must have 1 "
            "to 255 printable characters.",
            kind="wrong_subject",
        )
    address = comparable_email(_text(claims, "email"))
    # Some providers write "true"; the standard has only the value true.
    is_verified = claims.get("email_verified") is True
    return Person(
        issuer=_text(claims, "iss"),
        subject=str(subject),
        name=_name(claims, str(subject)),
        email=address if is_verified else "",
        unverified_email=bool(address) and not is_verified,
        values=_values(claims.get(roles_claim)) if roles_claim else frozenset(),
    )


def comparable_email(address: str) -> str:
    r"""Return an e-mail address in the form in which addresses are compared.

    Capitals of ASCII become small letters, and nothing else changes. Other letters may
    belong to another mailbox, even if Unicode maps them to the same small letter.

    >>> comparable_email("Ada.K@Example.org")
    'ada.k@example.org'
    >>> comparable_email("\u212a@example.org") == "k@example.org"
    False
    """
    return address.translate(_SMALL)


def _name(claims: Mapping[str, Any], subject: str) -> str:
    r"""Return the first usable name; the id if there is none.

    >>> _name({"name": " Ada\n Lovelace "}, "248289761001")
    'Ada Lovelace'
    """
    for claim in ("name", "preferred_username"):
        words = "".join(letter if letter.isprintable() else " " for letter in _text(claims, claim))
        name = " ".join(words.split())[:_LONGEST_NAME].strip()
        # `policy:` is how decisions of the policy are marked.
        if name and not name.startswith("policy:"):
            return name
    return subject[:_LONGEST_NAME]


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    return value if isinstance(value, str) and len(value) <= _LONGEST_VALUE else ""


def _values(claim: object) -> frozenset[str]:
    values = [claim] if isinstance(claim, str) else claim
    if not isinstance(values, list):
        return frozenset()
    if len(values) > _MOST_VALUES:
        raise SignInRefused(
            f"The provider sent more than {_MOST_VALUES:,} values for the claim that "
            "gives roles; ask its administrator to send only those of this server.",
            kind="too_many_values",
        )
    return frozenset(
        value for value in values if isinstance(value, str) and len(value) <= _LONGEST_VALUE
    )


Role = Literal["reader", "reviewer", "requester"]
ROLES: tuple[Role, ...] = ("reader", "reviewer", "requester")
"""Each role may do what the roles before it may do."""


def may(role: Role, least: Role) -> bool:
    """Return whether a role may do what another role may do.

    >>> may("requester", "reviewer"), may("reader", "reviewer")
    (True, False)
    """
    return ROLES.index(role) >= ROLES.index(least)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Who has which role.

    Attributes:
        by_email: by e-mail address, in lower case; only verified addresses count.
        claim: the name of a claim that gives roles, such as `groups`; "" for none.
        by_value: by a value of that claim.
    """

    by_email: Mapping[str, Role] = field(default_factory=dict)
    claim: str = ""
    by_value: Mapping[str, Role] = field(default_factory=dict)

    def of(self, person: Person) -> Role | None:
        """Return the highest role of a person; `None` if they have no role."""
        names = {self.by_value[value] for value in person.values & set(self.by_value)}
        if person.email and person.email in self.by_email:
            names.add(self.by_email[person.email])
        return max(names, key=ROLES.index, default=None)


class SignInRefused(Exception):  # noqa: N818 - a refusal, not an error
    """A sign-in that did not succeed; the message is one sentence for the page.

    It repeats no code, token or text of a stranger.

    Attributes:
        kind: a word for logs.
        status: the HTTP status of the reply.
    """

    def __init__(self, sentence: str, *, kind: str, status: int = 403) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.status = status


class ProviderUnusable(SignInRefused):
    """The provider does not answer, or not as OpenID Connect prescribes."""

    def __init__(self, sentence: str, *, kind: str) -> None:
        super().__init__(sentence, kind=kind, status=502)


class WrongProvider(ProviderUnusable):
    """The provider answers, but the settings do not fit it; a restart is needed."""


SCOPES = ("openid", "email", "profile")
"""What a sign-in asks for by default: an id, an e-mail address and a name."""


class UnusableSettingsError(ValueError):
    """Settings that no sign-in can work with; the message says what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """A provider, and how it knows this server.

    Attributes:
        issuer: its URL, letter by letter as it states it in its tokens.
        client_id: the id under which it knows this server.
        client_secret: the secret that it gave for that id; "" for a public client.
        redirect_url: where it sends browsers back to.
        scopes: what a sign-in asks for.
    """

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    redirect_url: str
    scopes: tuple[str, ...] = SCOPES

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            UnusableSettingsError: one of them cannot be used.
        """
        parts = urlsplit(self.issuer)
        is_address = parts.scheme in {"http", "https"} and parts.hostname
        if not is_address or parts.query or parts.fragment:
            raise UnusableSettingsError(
                f"the issuer {self.issuer!r} is not an address such as https://login.example.org"
            )
        if not is_safe_address(self.issuer):
            raise UnusableSettingsError(
                f"the issuer {self.issuer} needs https: over plain http, anyone on "
                "the way could sign in as another person"
            )
        if not self.client_id:
            raise UnusableSettingsError("the client id of this server is missing")
        if "openid" not in self.scopes:
            raise UnusableSettingsError("the scopes must include openid")

    @property
    def host(self) -> str:
        """The name of the provider for people: its host."""
        return urlsplit(self.issuer).netloc


def is_safe_address(url: str) -> bool:
    """Return whether only the two ends can read the traffic with an address.

    >>> is_safe_address("https://login.example.org/token")
    True
    >>> is_safe_address("http://127.0.0.1:9400"), is_safe_address("http://10.0.0.1")
    (True, False)
    """
    parts = urlsplit(url)
    if parts.scheme == "https":
        return bool(parts.hostname)
    return parts.scheme == "http" and is_loopback(parts.hostname or "")
