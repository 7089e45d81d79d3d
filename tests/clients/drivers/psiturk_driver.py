"""Lets psiTurk's own services wrapper do what each line of input says."""

from __future__ import annotations

from typing import Any

from line_by_line import as_error, serve
from psiturk.amt_services import MTurkHIT
from psiturk.amt_services_wrapper import MTurkServicesWrapper

WRAPPER = MTurkServicesWrapper(mode="sandbox")


def plain(value: Any) -> object:  # noqa: ANN401 - its package has no types
    """What psiTurk answers, as JSON can carry it."""
    if isinstance(value, MTurkHIT):
        return value.options
    if isinstance(value, list):
        return [plain(element) for element in value]
    if isinstance(value, dict):
        return {key: plain(element) for key, element in value.items()}
    if isinstance(value, Exception):
        return as_error(value.__cause__ or value)
    if hasattr(value, "to_dict"):
        return plain(response(value))
    return value


def response(reply: Any) -> dict[str, object]:  # noqa: ANN401
    """A response of psiTurk's: status, data, and the exception that it caught."""
    caught = getattr(reply, "exception", None)
    return {"status": reply.status, "data": reply.data, "exception": caught}


def answer(call: str, arguments: dict[str, Any]) -> object:
    """A method of the wrapper."""
    return plain(getattr(WRAPPER, call)(**arguments))


serve(answer)
