"""The account: its workspaces, projects and balance, and its test participants."""

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
from piecework.foundation.client.transport import Transport
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
