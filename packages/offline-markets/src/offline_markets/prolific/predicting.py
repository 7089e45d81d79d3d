"""How long it would take until a study's last place is taken.

Prolific predicts this with a model that it does not describe. Here every eligible
participant takes a place once in fifty hours, which is an invention.
"""

from typing import Any

from offline_markets.core.errors import wrong
from offline_markets.prolific import filters
from offline_markets.prolific.call import Call
from offline_markets.prolific.state import State
from offline_markets.prolific.study import Study
from offline_markets.prolific.workspaces import workspace_row

_HOURS_BETWEEN = 50.0
_LIMIT = 100.0
"""From this time on, the prediction is said to be unstable."""


def of_study(call: Call) -> dict[str, Any]:
    """Predict the recruitment time of a study."""
    study = Study.find(call.state, call.path["study_id"])
    return _predicted(call.state, study.fields["filters"] or [], study.places)


def of_fields(call: Call) -> dict[str, Any]:
    """Predict the recruitment time of a study that does not exist."""
    asked = call.body.get("filters")
    if not isinstance(asked, list):
        raise wrong("filters", "This field is required.")
    workspace_row(call.state, call.text("workspace_id"))
    call.text("study_type")
    filters.check(call.state, asked)
    numbers = ("reward", "total_available_places", "estimated_completion_time")
    reward, places, minutes = (_number(call, name) for name in numbers)
    del reward, minutes  # Prolific's model may use them; this one does not.
    return _predicted(call.state, asked, places)


def _predicted(state: State, asked: list[Any], places: float) -> dict[str, Any]:
    people = state.rows("SELECT * FROM participant")
    eligible = sum(filters.is_eligible(state, person, asked) for person in people)
    hours = places * _HOURS_BETWEEN / eligible if eligible else _LIMIT
    hours = round(hours, 2)
    shown = f"{hours:g} hours" if hours < _LIMIT else f"{_LIMIT:g} hours+"
    return {
        "precise_recruitment_time_hours": hours,
        "lower_bound_hours": round(hours * 0.5, 2),
        "upper_bound_hours": round(hours * 2, 2),
        "display_string": shown,
        "limit_at": _LIMIT,
    }


def _number(call: Call, name: str) -> float:
    value = call.body.get(name)
    if value is None:
        raise wrong(name, "This field is required.")
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise wrong(name, "Not a number above zero.")
    return float(value)
