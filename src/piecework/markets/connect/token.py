"""The names of Connect's API, and the key of an account there."""

from typing import ClassVar

from piecework.foundation.client.calls import Service
from piecework.foundation.client.token import AccountToken

CONNECT = "https://connect-api.cloudresearch.com"

SERVICE = Service(
    name="Connect",
    address=CONNECT,
    url_variable="CONNECT_URL",
    token_variable="CONNECT_API_KEY",  # noqa: S106 - a variable's name
    header="X-API-KEY",
    documents="connect-api.cloudresearch.com/docs/api",
)


class ApiKey(AccountToken):
    """The key of an account at Connect; its `repr` leaves the secret out."""

    __slots__ = ()
    service: ClassVar[Service] = SERVICE
