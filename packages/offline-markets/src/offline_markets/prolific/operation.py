"""An operation of the API: its name, its address and what performs it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from offline_markets.prolific.call import Call


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the API.

    Attributes:
        name: its operationId in Prolific's OpenAPI document.
        method: the HTTP method.
        path: the path after the prefix, with variable parts in braces.
        handler: performs it in a transaction and returns the JSON answer.
        status: the documented status of the answer.
        is_raw: whether its body is a file and not JSON.
        is_bare: whether its errors are documented without the wrapping `error`.
    """

    name: str
    method: str
    path: str
    handler: Callable[[Call], Any]
    status: int = 200
    is_bare: bool = False
    is_raw: bool = False
