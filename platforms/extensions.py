"""What a marketplace may understand beyond the requester API, as piecework's own does.

It names its extensions in a header of every answer. Each is one more member of a
request: the HITs from which a HIT is kept apart, or whose assignments are listed
together, or how long a HIT is expected to take, or that the price list is wanted.
botocore's model has no such members, so they are taken out before parameters are
checked and put into the body that is signed. Of an answer botocore keeps what it knows;
the price list is handed on beside that.
"""

import json
from threading import Event
from typing import Any

KEEP_APART = "PieceworkKeepApart"
LIST_TOGETHER = "PieceworkListTogether"
PRICES = "PieceworkPrices"
EXPECTED_SECONDS = "PieceworkExpectedSeconds"
_NAMED_IN = "x-piecework-extensions"
_MEMBERS = {
    "CreateHITWithHITType": KEEP_APART,
    "CreateHITType": EXPECTED_SECONDS,
    "ListAssignmentsForHIT": LIST_TOGETHER,
    "GetAccountBalance": PRICES,
}


class Extensions:
    """What was heard of a marketplace's extensions; shared by all threads of a client.

    Args:
        events: botocore's emitter.
    """

    def __init__(self, events: Any) -> None:  # noqa: ANN401 - botocore's
        self._heard = Event()
        self._named: frozenset[str] = frozenset()
        events.register("before-parse.mturk", self._hear)
        events.register("before-parse.mturk", _hand_on_prices)
        for operation in _MEMBERS:
            events.register(f"before-parameter-build.mturk.{operation}", _take_out)
            events.register(f"before-call.mturk.{operation}", _put_in)

    @property
    def is_known(self) -> bool:
        """Whether the marketplace has answered anything yet."""
        return self._heard.is_set()

    def has(self, name: str) -> bool:
        """Whether its latest answer named an extension."""
        return name in self._named

    def _hear(self, response_dict: dict[str, Any], **_: object) -> None:
        named = response_dict["headers"].get(_NAMED_IN, "")
        self._named = frozenset(named.split())
        self._heard.set()


def _take_out(
    params: dict[str, Any],
    context: dict[str, Any],
    model: Any,  # noqa: ANN401 - botocore's
    **_: object,
) -> None:
    name = _MEMBERS[model.name]
    context[name] = params.pop(name, None)


def _put_in(
    params: dict[str, Any],
    context: dict[str, Any],
    model: Any,  # noqa: ANN401 - botocore's
    **_: object,
) -> None:
    name = _MEMBERS[model.name]
    if value := context.get(name):
        document = json.loads(params["body"]) | {name: value}
        params["body"] = json.dumps(document).encode()


def _hand_on_prices(
    operation_model: Any,  # noqa: ANN401 - botocore's
    response_dict: dict[str, Any],
    customized_response_dict: dict[str, Any],
    **_: object,
) -> None:
    if _MEMBERS.get(operation_model.name) != PRICES:
        return
    document = json.loads(response_dict["body"] or b"{}")
    if PRICES in document:
        customized_response_dict[PRICES] = document[PRICES]
