"""Names of a service that has an API, as its calls and messages use them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service with an API below `/api/v1/`.

    Attributes:
        name: its display name.
        address: the API's address.
        url_variable: the environment variable with another address.
        token_variable: the environment variable with the account's token.
        header: the header that carries the token.
        scheme: what stands before the token in that header.
        documents: where the API and its changes are documented.
        closed_statuses: the HTTP statuses by which the API says that a resource does
            not exist, or that the token may not see it.
    """

    name: str
    address: str
    url_variable: str
    token_variable: str
    header: str
    scheme: str = ""
    documents: str
    closed_statuses: tuple[int, ...] = (401, 404)
