"""The names of Prolific's API, and the token of an account there.

The token never expires and grants full access to the account.
"""

from typing import ClassVar

from piecework.foundation.client.calls import Service
from piecework.foundation.client.token import AccountToken

PROLIFIC = "https://api.prolific.com"

SERVICE = Service(
    name="Prolific",
    address=PROLIFIC,
    url_variable="PROLIFIC_URL",
    token_variable="PROLIFIC_TOKEN",  # noqa: S106 - a variable's name
    header="Authorization",
    scheme="Token ",
    documents="docs.prolific.com",
)


class Token(AccountToken):
    """The token of an account at Prolific; its `repr` leaves the secret out."""

    __slots__ = ()
    service: ClassVar[Service] = SERVICE
