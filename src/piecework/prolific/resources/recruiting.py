"""Whom a study can ask for, and what they should be paid."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from piecework.prolific.http.answers import value_of
from piecework.prolific.http.pages import listed
from piecework.prolific.http.request import get_request
from piecework.prolific.http.transport import Transport
from piecework.prolific.values import Value, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A filter that is met by any of these values."""

    filter_id: str
    values: Sequence[str]

    def to_wire(self) -> dict[str, object]:
        """As a study has it."""
        return {"filter_id": self.filter_id, "selected_values": list(self.values)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A filter that is met from `lower` to `upper`, both included; `None` is open."""

    filter_id: str
    lower: int | str | None = None
    upper: int | str | None = None

    def to_wire(self) -> dict[str, object]:
        """As a study has it."""
        ends = {"lower": self.lower, "upper": self.upper}
        bounds = {name: end for name, end in ends.items() if end is not None}
        return {"filter_id": self.filter_id, "selected_range": bounds}


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """Several filters, all of which or any of which are to be met."""

    by: Literal["and", "or"]
    filters: Sequence["Filter"]

    def to_wire(self) -> dict[str, object]:
        """As a study has it."""
        inner = [filter_.to_wire() for filter_ in self.filters]
        return {"filter_id": self.by, "selected_filters": inner}


Filter = Choice | Range | Combined
"""A condition on participants; a list of them is met if all are."""


class FilterKind(Value):
    """A filter that Prolific offers.

    Attributes:
        type: `select` or `range`.
        choices: the ids of what may be chosen, with their words.
    """

    id: str = Field(alias="filter_id")
    title: str = ""
    type: str = ""
    data_type: str = ""
    choices: Mapping[str, object] = Field(default_factory=dict)


class RewardRecommendation(Value):
    """What Prolific asks for an hour, in minor units."""

    currency: str
    least_per_hour_minor: Whole = Field(alias="min_reward_per_hour")
    recommended_per_hour_minor: Whole = Field(alias="recommended_reward_per_hour")


class Recruiting:
    """Operations on filters and rewards; all of them only read."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def filter_kinds(self, workspace_id: str) -> Iterator[FilterKind]:
        """All filters that this workspace may use; this list is the truth."""
        request = get_request("filters/", {"workspace_id": workspace_id})
        return listed(self._call, request, FilterKind)

    def reward_recommendations(
        self, workspace_id: str, currency: str
    ) -> tuple[RewardRecommendation, ...]:
        """What an hour should be paid in this currency."""
        query = {"workspace_id": workspace_id, "currency": currency}
        request = get_request("reward-recommendations/", query)
        document = self._call(request)
        rows = document if isinstance(document, list) else [document]
        return tuple(value_of(RewardRecommendation, row, request) for row in rows)
