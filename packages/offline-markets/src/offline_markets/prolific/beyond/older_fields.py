"""Fields of a study that Prolific's document no longer has, but programs still send.

They are accepted unless the emulator is strict. The code becomes a completion code, and
eligibility requirements become filters, so that the study recruits as the program
expects. A program reads the fields back as it wrote them.
"""

from collections.abc import Callable
from typing import Any

from offline_markets.core.errors import wrong
from offline_markets.prolific.filters import KNOWN

ECHOED = (
    "completion_code",
    "completion_code_action",
    "completion_option",
    "is_custom_screening",
    "eligibility_requirements",
)
_CLASS = "web.eligibility.models."


def translated(body: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a study with the older ones in today's form.

    Raises:
        ApiError: a requirement is unknown or incomplete.
    """
    fields = dict(body)
    code = fields.get("completion_code")
    if code is not None and not fields.get("completion_codes"):
        fields["completion_codes"] = [
            {"code": code, "code_type": "COMPLETED", "actions": [{"action": _action(fields)}]}
        ]
    older = fields.get("eligibility_requirements") or []
    if not isinstance(older, list):
        raise wrong("eligibility_requirements", "Not a list.")
    if older and not fields.get("filters"):
        fields["filters"] = [filter_ for requirement in older for filter_ in _filters(requirement)]
    return fields


def _action(fields: dict[str, Any]) -> object:
    """Return what the older code does; the field of that name came with it."""
    return fields.get("completion_code_action") or "MANUALLY_REVIEW"


def _filters(requirement: object) -> list[dict[str, Any]]:
    if not isinstance(requirement, dict):
        raise wrong("eligibility_requirements", "A requirement is an object.")
    name = str(requirement.get("_cls", "")).removeprefix(_CLASS)
    if name.removesuffix("EligibilityRequirement") == _SELECT:
        return _selected(requirement)
    translate = _CLASSES.get(name.removesuffix("EligibilityRequirement"))
    if translate is None:
        raise wrong(
            "eligibility_requirements",
            f"{name or 'A requirement without _cls'} is not emulated; known are "
            f"{', '.join(f'{known}EligibilityRequirement' for known in _KNOWN)}.",
        )
    attributes = requirement.get("attributes") or []
    if not isinstance(attributes, list) or not all(
        isinstance(attribute, dict) for attribute in attributes
    ):
        raise wrong("eligibility_requirements", f"{name}: attributes is a list.")
    return translate(attributes)


_Attributes = list[dict[str, Any]]


def _listed(filter_id: str, name: str) -> Callable[[_Attributes], _Attributes]:
    def translate(attributes: _Attributes) -> _Attributes:
        values = _values(attributes).get(name)
        return [{"filter_id": filter_id, "selected_values": values}] if values else []

    return translate


def _between(filter_id: str, least: str, most: str) -> Callable[[_Attributes], _Attributes]:
    def translate(attributes: _Attributes) -> _Attributes:
        values = _values(attributes)
        ends = {"lower": values.get(least), "upper": values.get(most)}
        asked = {name: value for name, value in ends.items() if value is not None}
        return [{"filter_id": filter_id, "selected_range": asked}] if asked else []

    return translate


def _chosen(filter_id: str) -> Callable[[_Attributes], _Attributes]:
    """Translate a requirement whose attributes are ids, each marked true."""

    def translate(attributes: _Attributes) -> _Attributes:
        ids = [each["id"] for each in attributes if each.get("value") and "id" in each]
        return [{"filter_id": filter_id, "selected_values": ids}] if ids else []

    return translate


def _selected(requirement: dict[str, Any]) -> _Attributes:
    """Translate chosen answers to a question, which are named by their labels."""
    query = requirement.get("query")
    query_id = query.get("id") if isinstance(query, dict) else None
    filter_id = _QUESTIONS.get(str(query_id))
    if filter_id is None:
        raise wrong("eligibility_requirements", f"The question {query_id} is unknown.")
    by_label = {label: choice for choice, label in KNOWN[filter_id].choices.items()}
    attributes = requirement.get("attributes") or []
    labels = [
        str(each.get("label"))
        for each in attributes
        if isinstance(each, dict) and each.get("value")
    ]
    unknown = [label for label in labels if label not in by_label]
    if unknown:
        raise wrong("eligibility_requirements", f"Unknown: {', '.join(unknown)}.")
    chosen = [by_label[label] for label in labels]
    return [{"filter_id": filter_id, "selected_values": chosen}] if chosen else []


def _values(attributes: _Attributes) -> dict[str, Any]:
    return {str(each.get("name")): each.get("value") for each in attributes}


_CLASSES: dict[str, Callable[[_Attributes], _Attributes]] = {
    "AgeRange": _between("age", "min_age", "max_age"),
    "ApprovalNumbers": _between("approval_numbers", "minimum_approvals", "maximum_approvals"),
    "ApprovalRate": _between("approval_rate", "minimum_approval_rate", "maximum_approval_rate"),
    "CustomBlacklist": _listed("custom_blocklist", "black_list"),
    "CustomWhitelist": _listed("custom_allowlist", "white_list"),
    "ParticipantGroup": _chosen("participant_group_allowlist"),
    "PreviousStudies": _chosen("previous_studies_blocklist"),
}
"""By class, without its affixes, as Mephisto and other clients write them."""

_SELECT = "SelectAnswer"
_KNOWN = (*_CLASSES, _SELECT)
_QUESTIONS = {
    "54ac6ea9fdf99b2204feb899": "first-language",
    "54bef0fafdf99b15608c504e": "nationality",
    "57a0c4d2717b34954e81b919": "vision",
}
"""Questions by the ids that AutoRA sends."""
