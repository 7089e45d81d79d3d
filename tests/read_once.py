"""What libraries read anew for every client, read once a process.

A session of boto3 reads 2 MB of descriptions of services for its first client, and a
client of httpx all root certificates. Programs make one of each, tests make hundreds.
"""

import functools
from typing import Any

import botocore.session
import httpx


def read_once() -> None:
    """Let clients that are made from now on share what was read for the first."""
    botocore.session.create_loader = functools.cache(botocore.session.create_loader)
    transports: Any = httpx._transports.default
    transports.create_ssl_context = functools.cache(transports.create_ssl_context)
