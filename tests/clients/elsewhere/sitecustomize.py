"""Sends a client that names Amazon's endpoint in its code to another one instead.

Python imports this at its start where its folder is on PYTHONPATH. psiTurk passes
Amazon's sandbox as endpoint_url, which no variable of botocore's overrides; nothing of
psiTurk itself is touched.
"""

from __future__ import annotations

import os
from typing import Any

import botocore.session

_create_client = botocore.session.Session.create_client


def _create_client_elsewhere(
    self: botocore.session.Session,
    service_name: Any,  # noqa: ANN401 - passed on as it came
    *args: Any,  # noqa: ANN401
    **kwargs: Any,  # noqa: ANN401
) -> object:
    if service_name == "mturk":
        kwargs["endpoint_url"] = os.environ["PIECEWORK_ENDPOINT_URL"]
    return _create_client(self, service_name, *args, **kwargs)


setattr(  # noqa: B010 - mypy would not have the method exchanged
    botocore.session.Session, "create_client", _create_client_elsewhere
)
