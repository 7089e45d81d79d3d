"""The fields of a study as a requester writes them, with their checks.

These are the documented fields. Deprecated and unknown ones are refused by name if the
emulator is strict, because a rehearsal that ignored them would be misleading. Otherwise
they are ignored, as Prolific may do.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from offline_markets.core.errors import ApiError
from offline_markets.prolific.beyond.older_fields import ECHOED, translated
from offline_markets.prolific.body import by_field

USUAL_MAXIMUM_MINUTES = 240
"""The default time limit; Prolific does not document its own."""

NO_LIMIT = -1
_PAGES = ("external_study_url", "access_details", "data_collection_method")
"""Where the work is: a study has one of these."""
_LEAST_SCREEN_OUT = 10
_MOST = 10_000_000

Label = Literal[
    "survey",
    "writing_task",
    "annotation",
    "decision_making_task",
    "interview",
    "other",
    "ai_annotation",
    "ai_evaluation",
    "ai_reasoning",
    "ai_fact_checking",
    "ai_safety",
    "ai_data_creation_text",
    "ai_data_creation_audio",
    "ai_data_creation_video",
    "ai_data_creation_images",
    "ai_other",
]
DataCollection = Literal["AI_TASK_BUILDER_BATCH", "AI_TASK_BUILDER_COLLECTION"]
ActionName = Literal[
    "AUTOMATICALLY_APPROVE",
    "MANUALLY_REVIEW",
    "ADD_TO_PARTICIPANT_GROUP",
    "REMOVE_FROM_PARTICIPANT_GROUP",
    "REQUEST_RETURN",
    "DYNAMIC_PAYMENT",
    "FIXED_SCREEN_OUT_PAYMENT",
]


def _whole(value: object) -> object:
    # The documentation types amounts and counts as numbers, so 5.0 is a valid count.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _blank(value: object) -> object:
    # Programs for studies with several pages send an empty address as well.
    return None if value == "" else value


Whole = Annotated[int, Field(le=_MOST), BeforeValidator(_whole)]
Text = Annotated[str, Field(min_length=1)]
Url = Annotated[str, Field(pattern=r"^https?://[^\s]+$")]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Action(_Closed):
    """What Prolific does when a code is entered."""

    action: ActionName
    participant_group: Text | None = None
    return_reason: Text | None = None
    fixed_screen_out_reward: Whole | None = Field(None, ge=_LEAST_SCREEN_OUT)
    slots: Whole | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _has_its_extras(self) -> Self:
        wanted = {
            "ADD_TO_PARTICIPANT_GROUP": {"participant_group"},
            "REMOVE_FROM_PARTICIPANT_GROUP": {"participant_group"},
            "REQUEST_RETURN": {"return_reason"},
            "FIXED_SCREEN_OUT_PAYMENT": {"fixed_screen_out_reward", "slots"},
        }.get(self.action, set())
        extras = set(self.model_dump(exclude_none=True)) - {"action"}
        if extras != wanted:
            raise ValueError(f"{self.action} takes {', '.join(sorted(wanted)) or 'nothing more'}")
        return self


class CompletionCode(_Closed):
    """A code that ends a submission."""

    code: Text
    code_type: Text
    actions: list[Action]
    actor: Literal["participant", "researcher"] = "participant"

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        names = {action.action for action in self.actions}
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= names:
            raise ValueError("a code cannot be approved automatically and reviewed")
        if "DYNAMIC_PAYMENT" in names and self.actor != "researcher":
            raise ValueError("DYNAMIC_PAYMENT needs the actor researcher")
        return self


class SubmissionsConfig(_Closed):
    """How often participants may take part, and how many at once."""

    max_submissions_per_participant: Annotated[Whole, Field(ge=NO_LIMIT)] | None = 1
    max_concurrent_submissions: Annotated[Whole, Field(ge=NO_LIMIT)] | None = NO_LIMIT
    auto_rejection_categories: list[Literal["EXCEPTIONALLY_FAST"]] = []

    @model_validator(mode="after")
    def _is_positive(self) -> Self:
        if 0 in (self.max_submissions_per_participant, self.max_concurrent_submissions):
            raise ValueError(f"{NO_LIMIT} for no limit, else 1 or more")
        return self


class AccessDetail(_Closed):
    """A page of a study with several, and how many participants are sent to it."""

    external_url: Url
    total_allocation: Whole = Field(ge=1)


class DataCollectionMetadata(_Closed):
    """How many participants do each task of a batch."""

    annotators_per_task: Whole = Field(1, ge=1)


class StudyFields(_Closed):
    """The fields of a study; amounts in minor units, times in minutes."""

    name: Text
    internal_name: str | None = None
    description: Text
    external_study_url: Annotated[Url | None, BeforeValidator(_blank)] = None
    access_details: list[AccessDetail] | None = None
    is_external_study_url_secure: bool = False
    data_collection_method: DataCollection | None = None
    data_collection_id: Text | None = None
    data_collection_metadata: DataCollectionMetadata | None = None
    prolific_id_option: Literal["question", "url_parameters", "not_required"]
    completion_codes: list[CompletionCode] = []
    total_available_places: Whole = Field(ge=1)
    estimated_completion_time: Whole = Field(ge=1)
    maximum_allowed_time: Whole | None = Field(None, ge=1)
    reward: Whole = Field(ge=1)
    device_compatibility: list[Literal["desktop", "tablet", "mobile"]] = []
    peripheral_requirements: list[Literal["audio", "camera", "download", "microphone"]] = []
    filters: list[dict[str, Any]] | None = []
    naivety_distribution_rate: float | None = None
    project: Text | None = None
    submissions_config: SubmissionsConfig = SubmissionsConfig()
    study_labels: list[Label] = []
    content_warnings: list[Literal["sensitive", "explicit"]] = []
    content_warning_details: str = ""
    metadata: str | None = None
    credential_pool_id: Text | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        codes = [code.code for code in self.completion_codes]
        if len(set(codes)) < len(codes):
            raise ValueError("completion_codes: each code must be unique in its study")
        self._check_pages()
        least = least_minutes(self.estimated_completion_time)
        if self.maximum_allowed_time is None:
            self.maximum_allowed_time = max(least, USUAL_MAXIMUM_MINUTES)
        if self.maximum_allowed_time < least:
            raise ValueError(f"maximum_allowed_time: at least {least} minutes")
        paid = [
            action.fixed_screen_out_reward or 0
            for code in self.completion_codes
            for action in code.actions
        ]
        if max(paid, default=0) >= self.reward:
            raise ValueError("completion_codes: a screen-out must pay less than reward")
        return self

    def _check_pages(self) -> None:
        named = [name for name in _PAGES if getattr(self, name)]
        if not named:
            raise ValueError("external_study_url: This field is required.")
        if len(named) > 1:
            raise ValueError(f"{named[1]}: give it or {named[0]}, not both")
        if self.access_details:
            _check_allocations(self.access_details, self.total_available_places)
        if self.data_collection_method is not None:
            self._check_data_collection()

    def _check_data_collection(self) -> None:
        if self.data_collection_id is None:
            raise ValueError("data_collection_id: This field is required.")
        names = [
            {action.action for action in code.actions}
            for code in self.completion_codes
            if code.code_type == "COMPLETED"
        ]
        is_decided = names and names[0] & {"MANUALLY_REVIEW", "AUTOMATICALLY_APPROVE"}
        if self.completion_codes and (len(self.completion_codes) > 1 or not is_decided):
            raise ValueError(
                "completion_codes: one, of the type COMPLETED, that is reviewed "
                "manually or approved automatically"
            )


def _check_allocations(details: Sequence[AccessDetail], places: int) -> None:
    urls = [detail.external_url for detail in details]
    if len(set(urls)) < len(urls):
        raise ValueError("access_details: each address is named once")
    allocated = sum(detail.total_allocation for detail in details)
    if allocated != places:
        raise ValueError(
            f"access_details: {allocated} are allocated, and total_available_places is {places}"
        )


def least_minutes(estimated: int) -> int:
    """Return the shortest allowed time limit: 2 + 2t + 2 times the root of t.

    >>> least_minutes(9)
    26
    """
    return math.ceil(2 + 2 * estimated + 2 * math.sqrt(estimated))


def read_fields(body: dict[str, Any], *, is_strict: bool = True) -> dict[str, Any]:
    """Return the fields of a study with defaults, as the API shows them.

    Args:
        body: what the requester wrote.
        is_strict: whether older and unknown fields and numbers as text are refused.

    Raises:
        ApiError: something is wrong; the message names every such field.
    """
    # Whether a study has credentials follows from its pool.
    body = {name: value for name, value in body.items() if name != "has_credentials"}
    if body.get("data_collection_method") == "AI_TASK_BUILDER_BATCH":
        # The places follow from the batch.
        body = {"total_available_places": 1, **body}
    try:
        fields = (
            StudyFields.model_validate(body)
            if is_strict
            else StudyFields.model_validate(translated(body), strict=False, extra="ignore")
        )
    except ValidationError as fault:
        wrong = by_field(fault)
        if not any(body.get(name) for name in _PAGES):
            # It is found out only if all else is right.
            wrong.setdefault("external_study_url", ["This field is required."])
        raise ApiError(400, wrong) from fault
    document = fields.model_dump()
    document["completion_codes"] = [
        code.model_dump(exclude_none=True) for code in fields.completion_codes
    ]
    older = {} if is_strict else {name: body[name] for name in ECHOED if name in body}
    return {**document, **older}
