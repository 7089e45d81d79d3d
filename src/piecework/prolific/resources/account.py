"""Who the token belongs to, and the workspaces, projects and money that it reaches."""

from collections.abc import Iterator

from pydantic import Field

from piecework.prolific.http.answers import value_of
from piecework.prolific.http.pages import listed
from piecework.prolific.http.request import Request, checked_id, get_request
from piecework.prolific.http.transport import Transport
from piecework.prolific.values import Money, Value, Whole


class User(Value):
    """The researcher whom the token belongs to."""

    id: str
    email: str = Field(repr=False)


class Workspace(Value):
    """Where projects and money are."""

    id: str
    title: str


class Project(Value):
    """A folder of studies in a workspace."""

    id: str
    title: str


class Balance(Value):
    """A workspace's money.

    Attributes:
        total_minor: with what is held for studies that run.
        available_minor: what may still be spent.
    """

    currency: str = Field(alias="currency_code")
    total_minor: Whole = Field(alias="total_balance")
    available_minor: Whole = Field(alias="available_balance")

    @property
    def available(self) -> Money:
        """What may still be spent."""
        return Money(minor=self.available_minor, currency=self.currency)


class Account:
    """Operations on users, workspaces and projects."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def me(self) -> User:
        """Whose token this is."""
        request = get_request("users/me/")
        return value_of(User, self._call(request), request)

    def workspaces(self) -> Iterator[Workspace]:
        """All workspaces that the token reaches."""
        return listed(self._call, get_request("workspaces/"), Workspace)

    def workspace(self, workspace_id: str) -> Workspace:
        """One workspace."""
        request = get_request(f"workspaces/{checked_id(workspace_id)}/")
        return value_of(Workspace, self._call(request), request)

    def balance(self, workspace_id: str) -> Balance:
        """A workspace's money; its currency is that of all its studies."""
        request = get_request(f"workspaces/{checked_id(workspace_id)}/balance/")
        return value_of(Balance, self._call(request), request)

    def projects(self, workspace_id: str) -> Iterator[Project]:
        """All projects of a workspace."""
        path = f"workspaces/{checked_id(workspace_id)}/projects/"
        return listed(self._call, get_request(path), Project)

    def create_project(
        self, workspace_id: str, title: str, *, description: str = ""
    ) -> Project:
        """Make a project; never made twice by itself, so look for its title first."""
        request = Request(
            method="POST",
            path=f"workspaces/{checked_id(workspace_id)}/projects/",
            body={"title": title, "description": description},
        )
        return value_of(Project, self._call(request), request)
