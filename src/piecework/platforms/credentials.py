"""A pair of keys for a marketplace, that never shows its secret half."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What calls are signed with; its text form leaves the secret out."""

    access_key: str
    secret_key: str = field(repr=False)


REHEARSAL = Credentials(access_key="REHEARSAL", secret_key="rehearsal")  # noqa: S106 - opens nothing
"""What calls to a rehearsing marketplace are signed with; it checks no signature."""
