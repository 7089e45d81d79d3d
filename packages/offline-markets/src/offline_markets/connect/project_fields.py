"""The fields of a project, with their documented limits."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from offline_markets.connect.money import CENTS, to_cents
from offline_markets.core.errors import ApiError

EDITABLE_WHEN_PUBLISHED = frozenset(
    {"name", "projectUrl", "participants", "summary", "instructions"}
)
_LEAST_CENTS_AN_HOUR = 750
_HOUR_MINUTES = 60
_TIMES_THE_ESTIMATE = 3
_LARGEST_INSTRUCTIONS = 20_000_000

_Minutes = Annotated[int, Field(ge=2, le=10_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)


class CompletionSettings(_Strict):
    """How participants show that they have completed the work."""

    value: str | None = None
    project_completion_type: Literal["RedirectUrl", "CompletionCode", "Template"] = "RedirectUrl"


class ParticipantTargeting(_Strict):
    """Who may and may not take part; without included ids, every participant may."""

    included_participants: list[str] | None = None
    excluded_participants: list[str] | None = None


class ProjectTargeting(_Strict):
    """Whose participants may and may not take part."""

    included_projects: list[str] | None = None
    excluded_projects: list[str] | None = None


class PlatformTargeting(_Strict):
    """Both kinds of lists."""

    participants: ParticipantTargeting | None = None
    projects: ProjectTargeting | None = None


class DemographicTargeting(_Strict):
    """Accepted and returned; no participant has demographics here."""

    target_option: Literal["GenPop", "GenderSplit", "CensusMatched", "Custom"] = "GenPop"
    locations: list[str] | None = None
    languages: list[str] | None = None
    demographic_requirements: dict[str, Any] | None = None


class ProjectFields(_Strict):
    """What a requester states about a project."""

    name: str = Field(min_length=1, max_length=500)
    project_url: str | None = Field(None, pattern=r"^https?://\S+$")
    payment: float = Field(ge=0, le=10_000, allow_inf_nan=False)
    estimated_time_in_minutes: _Minutes
    participants: int = Field(ge=1, le=100_000)
    summary: str | None = Field(None, max_length=5000)
    instructions: str | None = Field(None, max_length=_LARGEST_INSTRUCTIONS)
    internal_name: str | None = None
    system_requirements: (
        list[Literal["Audio", "Camera", "Microphone", "DownloadSoftware", "Writing"]] | None
    ) = None
    has_sensitive_content: bool = False
    device_requirements: list[Literal["Desktop", "Tablet", "Mobile"]] | None = None
    completion_settings: CompletionSettings = CompletionSettings()
    max_time_in_minutes: _Minutes | None = None
    demographic_targeting: DemographicTargeting | None = None
    platform_targeting: PlatformTargeting | None = None
    task_template: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _agrees(self) -> "ProjectFields":
        if to_cents(self.payment) is None:
            raise ValueError("payment has more than two decimals")
        least = _LEAST_CENTS_AN_HOUR * self.estimated_time_in_minutes
        if self.payment_cents * _HOUR_MINUTES < least:
            raise ValueError(f"payment is below {_LEAST_CENTS_AN_HOUR / CENTS:.2f} an hour")
        if (
            self.max_time_in_minutes is not None
            and self.max_time_in_minutes <= self.estimated_time_in_minutes
        ):
            raise ValueError("maxTimeInMinutes is not above estimatedTimeInMinutes")
        return self

    @property
    def payment_cents(self) -> int:
        """The payment in cents."""
        return to_cents(self.payment) or 0

    @property
    def longest_minutes(self) -> int:
        """Return after how many minutes a participant is timed out."""
        longest = self.max_time_in_minutes
        return longest or _TIMES_THE_ESTIMATE * self.estimated_time_in_minutes


def read_fields(body: Mapping[str, Any]) -> ProjectFields:
    """Return the fields of a project.

    Raises:
        ApiError: a field is unknown, missing or out of its limits.
    """
    try:
        fields = ProjectFields.model_validate(body)
    except ValidationError as fault:
        wrongs: dict[str, list[str]] = {}
        for error in fault.errors(include_url=False):
            where = ".".join(map(str, error["loc"])) or "project"
            sentence = error["msg"].removeprefix("Value error, ")
            wrongs.setdefault(where, []).append(f"{sentence}.")
        raise ApiError(400, wrongs) from fault
    if (
        fields.task_template is not None
        or fields.completion_settings.project_completion_type == "Template"
    ):
        raise ApiError(501, "Connect has templates; this emulator does not.")
    return fields
