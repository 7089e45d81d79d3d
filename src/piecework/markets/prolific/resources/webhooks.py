"""Webhooks: Prolific calls an address when an event occurs.

Prolific signs webhooks with the workspace's secret. A workspace has one secret, and
creating another invalidates the first. A new subscription must be confirmed with a
second secret, which comes in a header of the first answer.
"""

from pydantic import Field

from piecework.foundation.client.calls import Request, Value, checked_id, get_request, value_of
from piecework.foundation.client.transport import Answer, Transport
from piecework.markets.prolific.calling import listed

_CONFIRMED_BY = "X-Hook-Secret"
_PATH = "hooks/subscriptions/"


class Secret(Value):
    """The secret that signs a workspace's webhooks; "" if Prolific hides it."""

    value: str = Field(default="", repr=False)


class NewSecret(Value):
    """A newly created secret; Prolific may never show it again."""

    value: str = Field(min_length=1, repr=False)


class EventType(Value):
    """An event type that can be subscribed to."""

    event_type: str


class Subscription(Value):
    """An address that is called for events of one type.

    Attributes:
        is_enabled: whether it is called; false until it is confirmed.
    """

    id: str = ""
    event_type: str
    target_url: str
    is_enabled: bool = False


class Delivery(Value):
    """The delivery of one event: PENDING, SUCCEEDED or FAILED."""

    status: str = ""


class Webhooks:
    """Operations on webhooks."""

    def __init__(self, transport: Transport) -> None:
        self._call, self._answer = transport.call, transport.answer

    def event_types(self) -> list[str]:
        """Return the event types that can be subscribed to."""
        request = get_request("hooks/event-types/")
        return [each.event_type for each in listed(self._call, request, EventType)]

    def secrets(self, workspace_id: str) -> list[Secret]:
        """Return the secrets of a workspace: one or none."""
        request = get_request("hooks/secrets/", {"workspace_id": checked_id(workspace_id)})
        return list(listed(self._call, request, Secret))

    def create_secret(self, workspace_id: str) -> NewSecret:
        """Create a secret; an existing one becomes invalid.

        Raises:
            Lost: it may have been created.
        """
        request = Request(method="POST", path="hooks/secrets/", body={"workspace_id": workspace_id})
        return value_of(NewSecret, self._call(request), request)

    def subscriptions(self, workspace_id: str) -> list[Subscription]:
        """Return all subscriptions of a workspace, including unconfirmed ones."""
        by_id = dict[str, Subscription]()
        for is_enabled in ("true", "false"):
            request = get_request(_PATH, {"workspace_id": workspace_id, "is_enabled": is_enabled})
            rows = listed(self._call, request, Subscription)
            by_id |= {each.id: each for each in rows}
        return list(by_id.values())

    def subscribe(self, workspace_id: str, event_type: str, target_url: str) -> Subscription:
        """Subscribe an address to an event type, and confirm the subscription.

        Raises:
            Lost: an unconfirmed subscription may exist.
        """
        request = Request(
            method="POST",
            path=_PATH,
            body={"workspace_id": workspace_id, "event_type": event_type, "target_url": target_url},
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
        """Return up to `most` deliveries of a subscription, in Prolific's order."""
        request = get_request(f"{_path(subscription_id)}events/", {"limit": most})
        return value_of(_Deliveries, self._call(request), request).results


class _Deliveries(Value):
    results: tuple[Delivery, ...]


class _Subscriptions(Value):
    results: tuple[Subscription, ...] = Field(min_length=1)


def _made(made: Answer, request: Request) -> Subscription:
    """The documentation shows a list of one; Prolific's own clients read an object."""
    document = made.document
    if isinstance(document, dict) and "results" in document:
        return value_of(_Subscriptions, document, request).results[0]
    return value_of(Subscription, document, request)


def _path(subscription_id: str) -> str:
    return f"{_PATH}{checked_id(subscription_id)}/"
