"""The token's owner, and the workspaces, projects and balances it gives access to."""

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
from piecework.markets.prolific.pages import listed


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
