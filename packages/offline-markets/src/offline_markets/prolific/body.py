"""Read the body of a call into a model, and say which fields are wrong."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from offline_markets.core.errors import ApiError
from offline_markets.prolific.call import Call

Text = Annotated[str, Field(min_length=1)]
ModelT = TypeVar("ModelT", bound="Closed")


class Closed(BaseModel):
    """A body, or a part of one, that has only the named fields."""

    model_config = ConfigDict(extra="forbid", strict=True)


def read(model: type[ModelT], call: Call) -> ModelT:
    """Return the body of a call; unless the emulator is strict, ignore more fields.

    Raises:
        ApiError: something is wrong; the message names every such field.
    """
    try:
        if call.state.is_strict:
            return model.model_validate(call.body)
        return model.model_validate(call.body, strict=False, extra="ignore")
    except ValidationError as fault:
        raise ApiError(400, by_field(fault)) from fault


def as_sent(part: BaseModel) -> dict[str, Any]:
    """Return a part of a body without the fields that were not sent."""
    return part.model_dump(exclude_none=True)


def by_field(fault: ValidationError) -> dict[str, list[str]]:
    """Return what is wrong with a body, by the field to change."""
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
