"""A pair of keys for a marketplace that never shows its secret key."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The keys that sign calls; the text form leaves out the secret."""

    access_key: str
    secret_key: str = field(repr=False)


REHEARSAL = Credentials(access_key="REHEARSAL", secret_key="rehearsal")  # noqa: S106 - not a secret
"""The keys for calls to a rehearsal's marketplace, which does not check signatures."""
