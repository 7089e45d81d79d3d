"""How to reach a provider of OpenID Connect, and as whom."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from piecework.foundation.hosts import is_loopback

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
