"""What a marketplace may understand beyond the requester API, as piecework's own does.

It names its extensions in a header of every answer. A HIT is posted with the HITs from
which it is kept apart as one more member; botocore's model has no such member, so it is
taken out before the parameters are checked and put into the body that is signed.
"""

import json
from threading import Event
from typing import Any

KEEP_APART = "PieceworkKeepApart"
_NAMED_IN = "x-piecework-extensions"
_NAME = "keep-apart"
_OPERATION = "mturk.CreateHITWithHITType"


class Extensions:
    """What was heard of a marketplace's extensions; shared by all threads of a client.

    Args:
        events: botocore's emitter.
    """

    def __init__(self, events: Any) -> None:  # noqa: ANN401 - botocore's
        self._heard, self._keeps_apart = Event(), Event()
        events.register("before-parse.mturk", self._hear)
        events.register(f"before-parameter-build.{_OPERATION}", _take_out)
        events.register(f"before-call.{_OPERATION}", _put_in)

    @property
    def is_known(self) -> bool:
        """Whether the marketplace has answered anything yet."""
        return self._heard.is_set()

    @property
    def keeps_apart(self) -> bool:
        """Whether its latest answers said that HITs can be kept apart."""
        return self._keeps_apart.is_set()

    def _hear(self, response_dict: dict[str, Any], **_: object) -> None:
        named = response_dict["headers"].get(_NAMED_IN, "")
        if _NAME in named.replace(",", " ").split():
            self._keeps_apart.set()
        self._heard.set()


def _take_out(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    context[KEEP_APART] = params.pop(KEEP_APART, [])


def _put_in(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    if named := context.get(KEEP_APART):
        document = json.loads(params["body"]) | {KEEP_APART: list(named)}
        params["body"] = json.dumps(document).encode()
