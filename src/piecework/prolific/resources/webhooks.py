"""Webhooks: Prolific calls an address when something has happened.

A secret of the workspace signs what Prolific sends; a workspace has one, and making
another ends the first. A subscription is made, then confirmed by a second secret that
comes in a header of the first answer.
"""

from pydantic import Field

from piecework.prolific.http.answers import value_of
from piecework.prolific.http.pages import listed
from piecework.prolific.http.request import Request, checked_id, get_request
from piecework.prolific.http.transport import Answer, Transport
from piecework.prolific.values import Value

_CONFIRMED_BY = "X-Hook-Secret"
_PATH = "hooks/subscriptions/"


class Secret(Value):
    """What a workspace's webhooks are signed with; "" where it is not shown."""

    value: str = Field(default="", repr=False)


class NewSecret(Value):
    """The same when it has just been made; it may never be shown again."""

    value: str = Field(min_length=1, repr=False)


class EventType(Value):
    """Something that can be subscribed to."""

    event_type: str


class Subscription(Value):
    """An address that is called when something of a kind has happened.

    Attributes:
        is_enabled: whether it is called; not before it was confirmed.
    """

    id: str = ""
    event_type: str
    target_url: str
    is_enabled: bool = False


class Delivery(Value):
    """One event that an address was called for: PENDING, SUCCEEDED or FAILED."""

    status: str = ""


class Webhooks:
    """Operations on webhooks."""

    def __init__(self, transport: Transport) -> None:
        self._call, self._answer = transport.call, transport.answer

    def event_types(self) -> list[str]:
        """What can be subscribed to."""
        request = get_request("hooks/event-types/")
        return [each.event_type for each in listed(self._call, request, EventType)]

    def secrets(self, workspace_id: str) -> list[Secret]:
        """The secrets of a workspace, of which there is one or none."""
        request = get_request(
            "hooks/secrets/", {"workspace_id": checked_id(workspace_id)}
        )
        return list(listed(self._call, request, Secret))

    def create_secret(self, workspace_id: str) -> NewSecret:
        """Make a secret; one that was there is not valid any more.

        Raises:
            Lost: it may have been made.
        """
        request = Request(
            method="POST", path="hooks/secrets/", body={"workspace_id": workspace_id}
        )
        return value_of(NewSecret, self._call(request), request)

    def subscriptions(self, workspace_id: str) -> list[Subscription]:
        """All subscriptions of a workspace, also those that are not confirmed."""
        by_id = dict[str, Subscription]()
        for is_enabled in ("true", "false"):
            request = get_request(
                _PATH, {"workspace_id": workspace_id, "is_enabled": is_enabled}
            )
            rows = listed(self._call, request, Subscription)
            by_id |= {each.id: each for each in rows}
        return list(by_id.values())

    def subscribe(
        self, workspace_id: str, event_type: str, target_url: str
    ) -> Subscription:
        """Have an address called for an event, and confirm that.

        Raises:
            Lost: there may be a subscription that is not confirmed.
        """
        request = Request(
            method="POST",
            path=_PATH,
            body={
                "workspace_id": workspace_id,
                "event_type": event_type,
                "target_url": target_url,
            },
        )
        made = self._answer(request)
        subscription = _made(made, request)
        confirming = Request(
            method="POST",
            path=_path(subscription.id),
            body={"secret": made.headers.get(_CONFIRMED_BY, "")},
        )
        return value_of(Subscription, self._call(confirming), confirming)

    def unsubscribe(self, subscription_id: str) -> None:
        """End a subscription."""
        self._call(Request(method="DELETE", path=_path(subscription_id)))

    def deliveries(self, subscription_id: str, *, most: int) -> tuple[Delivery, ...]:
        """So many of a subscription's events, in Prolific's order."""
        request = get_request(f"{_path(subscription_id)}events/", {"limit": most})
        return value_of(_Deliveries, self._call(request), request).results


class _Deliveries(Value):
    results: tuple[Delivery, ...]


class _Subscriptions(Value):
    results: tuple[Subscription, ...] = Field(min_length=1)


def _made(made: Answer, request: Request) -> Subscription:
    """The document shows a list of one; Prolific's own clients read an object."""
    document = made.document
    if isinstance(document, dict) and "results" in document:
        return value_of(_Subscriptions, document, request).results[0]
    return value_of(Subscription, document, request)


def _path(subscription_id: str) -> str:
    return f"{_PATH}{checked_id(subscription_id)}/"
