"""Lets pyrolific, which is generated from Prolific's document, do what each line says.

A call is a module of its API (`studies.create_study`); a body is made by the client's
own model, and what comes back is what the client's own model made of the reply.
"""

from __future__ import annotations

import importlib
import inspect
import os
import typing
from typing import Any

from line_by_line import serve
from pyrolific import AuthenticatedClient

TOKEN = "rehearsal"  # noqa: S105 - opens nothing
CLIENT = AuthenticatedClient(base_url=os.environ["PROLIFIC"], token=TOKEN, prefix="Token")


def answer(call: str, members: dict[str, Any]) -> object:
    """Status, and the value as the client read it; None where it reads nothing."""
    module = importlib.import_module(f"pyrolific.api.{call}")
    function = module.sync_detailed
    arguments = dict(members)
    if "body" in arguments:
        arguments["body"] = _model(module, function).from_dict(arguments["body"])
    if "authorization" in inspect.signature(function).parameters:
        arguments["authorization"] = f"Token {TOKEN}"
    response = function(client=CLIENT, **arguments)
    parsed = response.parsed
    return {
        "status": int(response.status_code),
        "value": parsed.to_dict() if hasattr(parsed, "to_dict") else parsed,
        "text": response.content.decode(),
    }


def _model(module: Any, function: Any) -> Any:  # noqa: ANN401 - its package has its own
    hint = typing.get_type_hints(function, vars(module)).get("body")
    # Of two models, the second takes ids of submissions, as Prolific recommends.
    return typing.get_args(hint)[-1] if typing.get_args(hint) else hint


serve(answer)
