"""The account: workspaces, projects, balance, test participants and webhooks.

Prolific calls a webhook's address when an event occurs. It signs webhooks with the
workspace's secret. A workspace has one secret, and creating another invalidates the first.
A new subscription must be confirmed with a second secret, which comes in a header of the
first answer.
"""

from collections.abc import Iterator

from pydantic import Field

from piecework.foundation.client.calls import (
    Money,
    Request,
    Value,
    Whole,
    checked_id,
    get_request,
    value_of,
)
from piecework.foundation.client.transport import Answer, Transport
from piecework.markets.prolific.calling import listed


class User(Value):
    """The researcher who owns the token."""

    id: str
    email: str = Field(repr=False)


class Workspace(Value):
    """A workspace, which holds projects and a balance."""

    id: str
    title: str


class Project(Value):
    """A folder of studies in a workspace."""

    id: str
    title: str


class Balance(Value):
    """A workspace's balance.

    Attributes:
        total_minor: the total, including funds held for running studies.
        available_minor: the amount that can still be spent.
    """

    currency: str = Field(alias="currency_code")
    total_minor: Whole = Field(alias="total_balance")
    available_minor: Whole = Field(alias="available_balance")

    @property
    def available(self) -> Money:
        """The amount that can still be spent."""
        return Money(minor=self.available_minor, currency=self.currency)


class Account:
    """Operations on users, workspaces and projects."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def me(self) -> User:
        """Return the token's owner."""
        request = get_request("users/me/")
        return value_of(User, self._call(request), request)

    def workspaces(self) -> Iterator[Workspace]:
        """Yield all workspaces that the token gives access to."""
        return listed(self._call, get_request("workspaces/"), Workspace)

    def workspace(self, workspace_id: str) -> Workspace:
        """Return one workspace."""
        request = get_request(f"workspaces/{checked_id(workspace_id)}/")
        return value_of(Workspace, self._call(request), request)

    def balance(self, workspace_id: str) -> Balance:
        """Return a workspace's balance; all of its studies use the same currency."""
        request = get_request(f"workspaces/{checked_id(workspace_id)}/balance/")
        return value_of(Balance, self._call(request), request)

    def projects(self, workspace_id: str) -> Iterator[Project]:
        """Yield all projects of a workspace."""
        path = f"workspaces/{checked_id(workspace_id)}/projects/"
        return listed(self._call, get_request(path), Project)

    def create_project(self, workspace_id: str, title: str, *, description: str = "") -> Project:
        """Create a project. This call is never retried; look for the title first."""
        request = Request(
            method="POST",
            path=f"workspaces/{checked_id(workspace_id)}/projects/",
            body={"title": title, "description": description},
        )
        return value_of(Project, self._call(request), request)


class TestParticipant(Value):
    """A participant of the researcher's own, who cannot cash out what they earn."""

    __test__ = False  # pytest collects classes with this name otherwise.

    participant_id: str


class TestStudy(Value):
    """A study published to test participants only.

    Attributes:
        study_id: its id; whether it is the draft's or a copy's is not documented.
        study_url: where a test participant opens it.
    """

    __test__ = False

    study_id: str
    study_url: str = ""


class Testing:
    """Operations on test participants and test studies."""

    __test__ = False

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def create_participant(self, email: str) -> TestParticipant:
        """Create a test participant for an address that Prolific does not know yet."""
        request = Request(method="POST", path="researchers/participants/", body={"email": email})
        return value_of(TestParticipant, self._call(request), request)

    def create_study(self, study_id: str) -> TestStudy:
        """Publish a draft to test participants only.

        Raises:
            Refused: the workspace lacks the feature, there is no test participant, or
                the study is no draft.
        """
        request = Request(method="POST", path=f"studies/{checked_id(study_id)}/test-study")
        return value_of(TestStudy, self._call(request), request)


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
