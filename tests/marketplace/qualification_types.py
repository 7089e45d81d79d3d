"""Qualification types and requirements for tests, in one line each."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient


def make(client: "MTurkClient", name: str = "trained", **parameters: object) -> str:
    """A qualification type's id."""
    values: dict[str, Any] = {"Description": "x", "QualificationTypeStatus": "Active", **parameters}
    reply = client.create_qualification_type(Name=name, **values)
    return reply["QualificationType"]["QualificationTypeId"]


def need(kind: str, comparator: str = "Exists", **members: object) -> list[Any]:
    """One requirement, as a HIT type takes it."""
    return [{"QualificationTypeId": kind, "Comparator": comparator, **members}]
