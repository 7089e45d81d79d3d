"""Participant groups: lists of people for filters, which can change at any time."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from piecework.foundation.client.calls import (
    Method,
    Moment,
    Request,
    Value,
    Whole,
    checked_id,
    get_request,
    value_of,
)
from piecework.foundation.client.transport import Transport
from piecework.markets.prolific.pages import listed


class ParticipantGroup(Value):
    """A group of participants.

    Attributes:
        is_deleted: Prolific still lists deleted groups; do not use them.
    """

    id: str
    name: str = ""
    workspace_id: str | None = None
    description: str | None = None
    participant_count: Whole | None = None
    is_deleted: bool = False


class Membership(Value):
    """A participant in a group, with the time they were added."""

    participant_id: str = Field(repr=False)
    since: Moment | None = Field(default=None, alias="datetime_created")


class ParticipantGroups:
    """Operations on participant groups."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def of_workspace(self, workspace_id: str) -> Iterator[ParticipantGroup]:
        """Yield all groups of a workspace."""
        request = get_request("participant-groups/", {"workspace_id": workspace_id})
        return listed(self._call, request, ParticipantGroup)

    def get(self, group_id: str) -> ParticipantGroup:
        """Return one group."""
        request = get_request(_path(group_id))
        return value_of(ParticipantGroup, self._call(request), request)

    def create(
        self,
        workspace_id: str,
        name: str,
        *,
        description: str = "",
        participant_ids: Sequence[str] = (),
    ) -> ParticipantGroup:
        """Create a group. This call is never retried; look for the name first."""
        request = Request(
            method="POST",
            path="participant-groups/",
            body={
                "workspace_id": workspace_id,
                "name": name,
                "description": description,
                "participant_ids": list(participant_ids),
            },
        )
        return value_of(ParticipantGroup, self._call(request), request)

    def participants(self, group_id: str) -> Iterator[Membership]:
        """Yield all members of a group."""
        return listed(self._call, get_request(f"{_path(group_id)}participants/"), Membership)

    def add(self, group_id: str, participant_ids: Sequence[str]) -> None:
        """Add participants to a group."""
        self._change("POST", group_id, participant_ids)

    def remove(self, group_id: str, participant_ids: Sequence[str]) -> None:
        """Remove participants from a group."""
        self._change("DELETE", group_id, participant_ids)

    def _change(self, method: Method, group_id: str, participant_ids: Sequence[str]) -> None:
        self._call(
            Request(
                method=method,
                path=f"{_path(group_id)}participants/",
                body={"participant_ids": list(participant_ids)},
            )
        )


def _path(group_id: str) -> str:
    return f"participant-groups/{checked_id(group_id)}/"
