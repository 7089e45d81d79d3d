"""Extensions of the requester API, which piecework's own marketplace has.

A marketplace names its extensions in a header of every reply. Each is an additional
member of a request: HITs to keep a HIT apart from, HITs to list together, how long a
HIT is expected to take, how many HITs one worker may do, whom to recruit at Prolific,
the name of a bonus without an assignment, or a request for the price list, the workers'
site, the addresses of pictures, marks, such bonuses or objections to rejections.
botocore's model lacks these members, so they are removed before it checks the
parameters, and added to the body before it is signed. From a reply botocore keeps only
what it knows; price list, addresses and marks are passed on separately. Requests carry the
store's mark in a header, and replies the marketplace's (`piecework.domain.marks`).
"""

import json
import zlib
from base64 import b64encode
from threading import Event
from typing import TYPE_CHECKING, Any

from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.domain.hit import MTURK
from piecework.domain.marks import Marks, Meeting
from piecework.domain.money import PriceList
from piecework.platforms.calling import called
from piecework.platforms.endpoint import LiveSite
from piecework.platforms.wire import (
    SharedQuestion,
    addresses_from_wire,
    compensations_from_wire,
    live_site_from_wire,
    meeting_from_wire,
    objections_from_wire,
    prices_from_wire,
    question_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mypy_boto3_mturk import MTurkClient

    from piecework.domain.ids import AssignmentId
    from piecework.domain.money import Compensation

KEEP_APART = "PieceworkKeepApart"
LIST_TOGETHER = "PieceworkListTogether"
PRICES = "PieceworkPrices"
MARKS = "PieceworkMarks"
SITE = "PieceworkSite"
PICTURES = "PieceworkPictures"
EXPECTED_SECONDS = "PieceworkExpectedSeconds"
WORKER_LIMITS = "PieceworkWorkerLimits"
RECRUITING = "PieceworkRecruiting"
QUESTION_TEXTS = "PieceworkQuestionTexts"
COMPENSATION = "PieceworkCompensation"
COMPENSATIONS = "PieceworkCompensations"
OBJECTIONS = "PieceworkObjections"
NO_ASSIGNMENT = "NONE"
"""botocore demands an AssignmentId; it is taken out of the body of a compensation."""
_NAMED_IN = "x-piecework-extensions"
_MARK_HEADER, _STORE_HEADER = "x-piecework-mark", "x-piecework-store"
_HANDED_ON = (PRICES, SITE, PICTURES, MARKS, COMPENSATIONS, OBJECTIONS, QUESTION_TEXTS)
"""Members of a reply that botocore does not know; all are of `GetAccountBalance`."""
_MEMBERS = {
    "CreateHITWithHITType": (KEEP_APART, QUESTION_TEXTS),
    "CreateHITType": (EXPECTED_SECONDS, WORKER_LIMITS, RECRUITING),
    "ListAssignmentsForHIT": (LIST_TOGETHER,),
    "GetAccountBalance": _HANDED_ON,
    "SendBonus": (COMPENSATION,),
}


class Extensions:
    """The known extensions of a marketplace, shared by all threads of a client.

    Args:
        events: botocore's emitter.
        marks: the marks of the store that the client works for.
    """

    def __init__(self, events: Any, marks: Marks) -> None:  # noqa: ANN401 - botocore's
        self._marks = marks
        self._heard = Event()
        self._named: frozenset[str] = frozenset()
        events.register("before-parse.mturk", self._hear)
        events.register("before-parse.mturk", _hand_on)
        events.register("before-call.mturk", self._send_mark)
        for operation in _MEMBERS:
            events.register(f"before-parameter-build.mturk.{operation}", _take_out)
            events.register(f"before-call.mturk.{operation}", _put_in)

    @property
    def is_known(self) -> bool:
        """Whether the marketplace has sent a reply yet."""
        return self._heard.is_set()

    def has(self, name: str) -> bool:
        """Return whether its latest reply named an extension."""
        return name in self._named

    def _hear(self, response_dict: dict[str, Any], **_: object) -> None:
        headers = response_dict["headers"]
        self._named = frozenset(headers.get(_NAMED_IN, "").split())
        self._marks.hear(headers.get(_MARK_HEADER, ""))
        self._heard.set()

    def _send_mark(self, params: dict[str, Any], **_: object) -> None:
        if self._marks.went_back:
            raise RefusedForSafety(
                "the marketplace was restored from an older copy while this command "
                f"was running: it sent mark {self._marks.heard} before, and lacks it "
                "now",
                next_step="piecework store reconcile CAMPAIGN compares store and marketplace "
                "and lets the campaign continue (--dry-run only shows what differs)",
            )
        if self._marks.own:
            params["headers"][_STORE_HEADER] = f"{self._marks.store} {self._marks.own}"


def ask_prices(client: "MTurkClient") -> PriceList:
    """Return the price list of a marketplace that has one."""
    reply: Mapping[str, Any] = called(client.get_account_balance, **{PRICES: True})
    return called(lambda: prices_from_wire(reply.get(PRICES) or {}))


def ask_live_site(client: "MTurkClient") -> LiveSite:
    """Return the site at which real workers work; empty for a rehearsal."""
    reply: Mapping[str, Any] = called(client.get_account_balance, **{SITE: True})
    return called(lambda: live_site_from_wire(reply.get(SITE) or {}))


def ask_pictures(client: "MTurkClient", names: "Sequence[str]") -> list[str]:
    """Return where workers' browsers load pictures; "" for each if none are served."""
    reply: Mapping[str, Any] = called(client.get_account_balance, **{PICTURES: [*names]})
    return called(lambda: addresses_from_wire(reply.get(PICTURES), len(names)))


def ask_marks(client: "MTurkClient", store: str, seen: str) -> Meeting:
    """Return what a marketplace with marks knows about a store's marks."""
    marks = {"Store": store, "Seen": seen or None}
    reply: Mapping[str, Any] = called(client.get_account_balance, **{MARKS: marks})
    return called(lambda: meeting_from_wire(reply.get(MARKS) or {}))


def asking(
    client: "MTurkClient",
    question: str | SharedQuestion,
    digests: dict[tuple[str, ...], str],
    *,
    knows: "Callable[[str], bool]",
) -> dict[str, Any]:
    """Return a question as members of a request; its texts are stored before.

    Args:
        client: of the marketplace.
        question: of a HIT.
        digests: of the texts that were stored; completed.
        knows: whether the marketplace has an extension.

    Raises:
        ConfigError: the marketplace stores no texts, and the question is too long.
    """
    if isinstance(question, str):
        return {"Question": question}
    if not knows("question-texts"):
        fault = (
            f"the question has {question_bytes(question):,} bytes; this marketplace "
            f"stores no long pages and takes {MTURK.question_bytes:,} at most"
        )
        raise ConfigError(
            [fault], next_step="post on piecework's own marketplace, or shorten the page"
        )
    texts = question.texts
    if texts not in digests:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        document = packer.compress(json.dumps(texts).encode()) + packer.flush()
        packed = {QUESTION_TEXTS: b64encode(document).decode()}
        reply: Mapping[str, Any] = called(client.get_account_balance, **packed)
        digests[texts] = called(lambda: str(reply[QUESTION_TEXTS]["Digest"]))
    values = json.dumps(question.values, ensure_ascii=False)
    return {"Question": values, QUESTION_TEXTS: digests[texts]}


def ask_compensations(client: "MTurkClient", prefix: str) -> "Iterator[Compensation]":
    """Yield the paid compensations whose names have this prefix."""
    after = ""
    while True:
        page = {"Prefix": prefix, "After": after}
        reply: Mapping[str, Any] = called(client.get_account_balance, **{COMPENSATIONS: page})
        paid = called(compensations_from_wire, wire=reply.get(COMPENSATIONS))
        yield from paid
        if not paid or paid[-1].name <= after:
            return
        after = paid[-1].name


def ask_objections(client: "MTurkClient") -> "Iterator[tuple[AssignmentId, str]]":
    """Yield assignments whose rejections stand, and what their workers wrote about it."""
    after = ""
    while True:
        page = {OBJECTIONS: {"After": after}}
        reply: Mapping[str, Any] = called(client.get_account_balance, **page)
        written = called(objections_from_wire, wire=reply.get(OBJECTIONS))
        yield from written
        if not written or written[-1][0] <= after:
            return
        after = written[-1][0]


def _take_out(
    params: dict[str, Any],
    context: dict[str, Any],
    model: Any,  # noqa: ANN401 - botocore's
    **_: object,
) -> None:
    for name in _MEMBERS[model.name]:
        context[name] = params.pop(name, None)


def _put_in(
    params: dict[str, Any],
    context: dict[str, Any],
    model: Any,  # noqa: ANN401 - botocore's
    **_: object,
) -> None:
    added = {name: context[name] for name in _MEMBERS[model.name] if context.get(name)}
    if added:
        document = json.loads(params["body"]) | added
        if COMPENSATION in added:
            del document["AssignmentId"]
        params["body"] = json.dumps(document).encode()


def _hand_on(
    operation_model: Any,  # noqa: ANN401 - botocore's
    response_dict: dict[str, Any],
    customized_response_dict: dict[str, Any],
    **_: object,
) -> None:
    names = [name for name in _MEMBERS.get(operation_model.name, ()) if name in _HANDED_ON]
    if not names:
        return
    document = json.loads(response_dict["body"] or b"{}")
    for name in names:
        if name in document:
            customized_response_dict[name] = document[name]
