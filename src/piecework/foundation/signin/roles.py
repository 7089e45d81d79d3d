"""Who may do what: three roles, given by verified e-mail address or by a claim."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from piecework.foundation.signin.person import Person

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
