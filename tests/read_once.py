"""What libraries work out anew for every client, worked out once a process.

A session of boto3 reads 2 MB of descriptions of services for its first client, and
looks up the other names of each event; a client of httpx reads all root certificates.
Programs make one of each, tests make thousands.
"""

import functools
import inspect
from typing import TYPE_CHECKING, Any

import botocore.hooks
import botocore.session
import httpx

if TYPE_CHECKING:
    from collections.abc import Callable


def read_once() -> None:
    """Let clients that are made from now on share what was worked out for the first."""
    botocore.session.create_loader = functools.cache(botocore.session.create_loader)
    hooks: Any = botocore.hooks
    other_name = functools.partial(hooks.EventAliaser._alias_event_name, hooks.EventAliaser(None))
    cached = functools.cache(other_name)
    hooks.EventAliaser._alias_event_name = lambda _, event: cached(event)
    asks_signature: Callable[[object], bool] = hooks.accepts_kwargs

    def accepts_kwargs(handler: object) -> bool:
        code = getattr(handler, "__code__", None)
        return bool(code.co_flags & inspect.CO_VARKEYWORDS) if code else asks_signature(handler)

    hooks.accepts_kwargs = accepts_kwargs
    transports: Any = httpx._transports.default
    transports.create_ssl_context = functools.cache(transports.create_ssl_context)
