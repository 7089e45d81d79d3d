"""The fields of a study as a requester writes them, with their checks.

These are the documented fields that studies with the requester's own page need. Others
are refused by name if the emulator is strict (pages hosted by Prolific, several
addresses in one study, signed addresses, credentials, and deprecated fields), because a
rehearsal that ignored them would be misleading. Otherwise they are ignored, as Prolific
may do.
"""

import math
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from piecework.rehearsal.offline.errors import ApiError
from piecework.rehearsal.prolific.older_fields import ECHOED, translated

USUAL_MAXIMUM_MINUTES = 240
"""The default time limit; Prolific does not document its own."""

NO_LIMIT = -1
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


Whole = Annotated[int, Field(le=_MOST), BeforeValidator(_whole)]
Text = Annotated[str, Field(min_length=1)]


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
            raise ValueError(
                f"{self.action} takes {', '.join(sorted(wanted)) or 'nothing more'}"
            )
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


class StudyFields(_Closed):
    """The fields of a study; amounts in minor units, times in minutes."""

    name: Text
    internal_name: str | None = None
    description: Text
    external_study_url: str = Field(pattern=r"^https?://[^\s]+$")
    prolific_id_option: Literal["question", "url_parameters", "not_required"]
    completion_codes: list[CompletionCode] = []
    total_available_places: Whole = Field(ge=1)
    estimated_completion_time: Whole = Field(ge=1)
    maximum_allowed_time: Whole | None = Field(None, ge=1)
    reward: Whole = Field(ge=1)
    device_compatibility: list[Literal["desktop", "tablet", "mobile"]] = []
    peripheral_requirements: list[
        Literal["audio", "camera", "download", "microphone"]
    ] = []
    filters: list[dict[str, Any]] | None = []
    naivety_distribution_rate: float | None = None
    project: Text | None = None
    submissions_config: SubmissionsConfig = SubmissionsConfig()
    study_labels: list[Label] = []
    content_warnings: list[Literal["sensitive", "explicit"]] = []
    content_warning_details: str = ""
    metadata: str | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        codes = [code.code for code in self.completion_codes]
        if len(set(codes)) < len(codes):
            raise ValueError("completion_codes: each code must be unique in its study")
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
    try:
        fields = (
            StudyFields.model_validate(body)
            if is_strict
            else StudyFields.model_validate(
                translated(body), strict=False, extra="ignore"
            )
        )
    except ValidationError as fault:
        raise ApiError(400, _by_field(fault)) from fault
    document = fields.model_dump()
    document["completion_codes"] = [
        code.model_dump(exclude_none=True) for code in fields.completion_codes
    ]
    older = {} if is_strict else {name: body[name] for name in ECHOED if name in body}
    return {**document, **older}


def _by_field(fault: ValidationError) -> dict[str, list[str]]:
    wrong: dict[str, list[str]] = {}
    for error in fault.errors():
        complaint = error["msg"].removeprefix("Value error, ")
        if error["type"] == "missing":
            complaint = "This field is required."
        path = [str(part) for part in error["loc"]]
        if not path:
            # Errors across fields begin with the name of the field to change.
            name, _, complaint = complaint.partition(": ")
            path = [name]
        inner = f"{'.'.join(path[1:])}: " if path[1:] else ""
        wrong.setdefault(path[0], []).append(inner + complaint)
    return wrong
