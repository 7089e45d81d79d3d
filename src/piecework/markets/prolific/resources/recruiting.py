"""Who may take part: filters, counts of who is eligible, and groups of participants."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

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
from piecework.markets.prolific.calling import listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A filter that any of these values meets.

    Attributes:
        weightings: how the places are divided among the values; empty: in any way.
    """

    filter_id: str
    values: Sequence[str]
    weightings: Mapping[str, int] = field(default_factory=dict)

    def to_wire(self) -> dict[str, object]:
        """Return the filter as a study contains it."""
        divided = {"weightings": dict(self.weightings)} if self.weightings else {}
        return {"filter_id": self.filter_id, "selected_values": list(self.values), **divided}


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A filter met by values from `lower` to `upper` inclusive; `None` is unbounded."""

    filter_id: str
    lower: int | str | None = None
    upper: int | str | None = None

    def to_wire(self) -> dict[str, object]:
        """Return the filter as a study contains it."""
        ends = {"lower": self.lower, "upper": self.upper}
        bounds = {name: end for name, end in ends.items() if end is not None}
        return {"filter_id": self.filter_id, "selected_range": bounds}


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """Several filters; all or any of them must match."""

    by: Literal["and", "or"]
    filters: Sequence["Filter"]

    def to_wire(self) -> dict[str, object]:
        """Return the filter as a study contains it."""
        inner = [filter_.to_wire() for filter_ in self.filters]
        return {"filter_id": self.by, "selected_filters": inner}


Filter = Choice | Range | Combined
"""A condition on participants; a list is met if all of its filters are."""


class FilterKind(Value):
    """A filter that Prolific offers.

    Attributes:
        description: what participants were asked, if Prolific says it.
        type: `select` or `range`.
        choices: the ids of the options, with their labels.
        least: and `most`: the ends of a range, if they are stated; text for dates.
    """

    id: str = Field(alias="filter_id")
    title: str = ""
    description: str | None = ""
    type: str = ""
    data_type: str = ""
    choices: Mapping[str, object] = Field(default_factory=dict)
    least: float | str | None = Field(alias="min", default=None)
    most: float | str | None = Field(alias="max", default=None)


class RewardRecommendation(Value):
    """The minimum and recommended hourly pay, in minor units."""

    currency: str
    least_per_hour_minor: Whole = Field(alias="min_reward_per_hour")
    recommended_per_hour_minor: Whole = Field(alias="recommended_reward_per_hour")


class RecruitmentTime(Value):
    """How long Prolific expects it to take until a study's last place is taken.

    Attributes:
        hours: the prediction.
        least_hours: and `most_hours`: its bounds.
        words: the prediction in words; "" if there are none.
    """

    hours: float = Field(alias="precise_recruitment_time_hours")
    least_hours: float | None = Field(alias="lower_bound_hours", default=None)
    most_hours: float | None = Field(alias="upper_bound_hours", default=None)
    words: str = Field(alias="display_string", default="")


class _Count(Value):
    count: Whole


class Recruiting:
    """Read-only operations on filters, participants and rewards."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def filter_kinds(self, workspace_id: str) -> Iterator[FilterKind]:
        """Yield all filters that this workspace may use."""
        request = get_request("filters/", {"workspace_id": workspace_id})
        return listed(self._call, request, FilterKind)

    def reward_recommendations(
        self, workspace_id: str, currency: str
    ) -> tuple[RewardRecommendation, ...]:
        """Return the recommended hourly pay in this currency."""
        query = {"workspace_id": workspace_id, "currency": currency}
        request = get_request("reward-recommendations/", query)
        document = self._call(request)
        rows = document if isinstance(document, list) else [document]
        return tuple(value_of(RewardRecommendation, row, request) for row in rows)

    def eligible_count(self, workspace_id: str, filters: Sequence[Filter]) -> int:
        """Return how many participants meet all filters; 0 means fewer than 25."""
        request = Request(
            method="POST",
            path="eligibility-count/",
            body={
                "filters": [each.to_wire() for each in filters],
                "workspace_id": checked_id(workspace_id),
            },
            may_repeat=True,  # It only counts.
        )
        return value_of(_Count, self._call(request), request).count

    def recruitment_time(
        self,
        workspace_id: str,
        filters: Sequence[Filter],
        *,
        reward_minor: int,
        places: int,
        minutes: int,
    ) -> RecruitmentTime:
        """Return the predicted recruitment time of a study that does not exist yet."""
        request = Request(
            method="POST",
            path="studies/predicted-recruitment-time/",
            body={
                "filters": [each.to_wire() for each in filters],
                "workspace_id": checked_id(workspace_id),
                "reward": reward_minor,
                "study_type": "SINGLE",
                "total_available_places": places,
                "estimated_completion_time": minutes,
            },
            may_repeat=True,  # It only computes.
        )
        return value_of(RecruitmentTime, self._call(request), request)


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


_MOST_MEANT = 3
_ALIKE = 0.75
"""The least likeness of two words for a slip of the pen."""

FILTER_SYNONYMS = {
    "first-language": "native mother tongue speaker l1 monolingual",
    "fluent-languages": "bilingual multilingual speak",
    "current-country-of-residence": "country location live located residence region",
    "nationality": "citizen citizenship passport",
    "country-of-birth": "born birthplace",
    "age": "old years adult birthday",
    "sex": "gender male female man woman men women",
    "handedness": "handed hand",
    "ethnicity-simplified": "race ethnic white black asian",
    "highest-education-level-completed": "degree university school college education",
    "employment-status": "job work working unemployed",
    "student-status": "study studying",
    "approval_rate": "approval approved quality reliable",
    "previous_studies": "experience experienced",
}
"""Other words that people look for, by the filter that they mean."""


def filters_meant(words: Sequence[str], kinds: Collection[FilterKind]) -> str:
    """Return the filters that words may mean, as the end of a sentence; or ""."""
    alike = dict.fromkeys(
        kind.id
        for word in map(str.casefold, words)
        for kind in kinds
        if word in FILTER_SYNONYMS.get(kind.id, "").split()
    )
    by_word = {
        part: kind.id
        for kind in reversed([*kinds])
        for text in (kind.id, kind.title, *map(str, kind.choices.values()))
        # Requirements name a filter without its hyphens.
        for part in (*re.findall(r"\w+", text.casefold()), re.sub(r"[\W_]", "", kind.id))
    }
    if not alike:  # A word that is only spelled alike means less than a synonym.
        close = (get_close_matches(word.casefold(), by_word, n=1, cutoff=_ALIKE) for word in words)
        alike = dict.fromkeys(by_word[each[0]] for each in close if each)
    return f"; did you mean {' or '.join([*alike][:_MOST_MEANT])}?" if alike else ""
