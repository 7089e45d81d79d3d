"""Filter sets: lists of filters with a name and versions, which studies take."""

from typing import Any

import pytest

from offline_markets_tests.prolific.people import Refused, Researcher

GERMAN = [{"filter_id": "first-language", "selected_values": ["1"]}]
ENGLISH = [{"filter_id": "first-language", "selected_values": ["0"]}]


def _create(researcher: Researcher, **changes: object) -> dict[str, Any]:
    body = {"workspace_id": researcher.workspace_id(), "name": "Readers", "filters": GERMAN}
    made: dict[str, Any] = researcher.post("/filter-sets/", **{**body, **changes})
    return made


def test_a_set_lives_from_its_first_version_to_its_end(researcher: Researcher) -> None:
    """Changed filters are a new version; an old one stays readable."""
    for _ in range(25):
        researcher.participant(answers={"first-language": ["1"]})
    made = _create(researcher)
    path = f"/filter-sets/{made['id']}/"
    assert (made["version"], made["eligible_participant_count"]) == (1, 25)
    assert (made["is_locked"], made["is_deleted"]) == (False, False)
    renamed = researcher.ask("PATCH", path, {"name": "Speakers"})
    assert (renamed["name"], renamed["version"]) == ("Speakers", 1)
    changed = researcher.ask("PATCH", path, {"filters": ENGLISH})
    assert (changed["version"], changed["filters"]) == (2, ENGLISH)
    assert changed["eligible_participant_count"] == 0
    assert researcher.get(path, version_number=1)["filters"] == GERMAN
    for strange in ("0", "9" * 30, "x"):
        with pytest.raises(Refused):
            researcher.get(path, version_number=strange)
    listed = researcher.get("/filter-sets/", workspace_id=researcher.workspace_id())
    assert [each["version"] for each in listed["results"]] == [2]
    researcher.ask("DELETE", path)
    assert researcher.get("/filter-sets/")["results"] == []
    assert researcher.get(path)["is_deleted"]
    with pytest.raises(Refused, match="filter set"):
        researcher.ask("PATCH", path, {"name": "Writers"})


def test_a_locked_set_is_not_changed_but_copied(researcher: Researcher) -> None:
    """Until it is unlocked."""
    made = _create(researcher)
    path = f"/filter-sets/{made['id']}/"
    assert researcher.post(f"{path}lock/")["is_locked"]
    for method, body in (("PATCH", {"name": "Writers"}), ("DELETE", None)):
        with pytest.raises(Refused, match="locked"):
            researcher.ask(method, path, body)
    copy = researcher.post(f"{path}clone/", new_name="Copy")
    assert (copy["name"], copy["filters"], copy["version"]) == ("Copy", GERMAN, 1)
    assert copy["id"] != made["id"]
    assert not researcher.post(f"{path}unlock/")["is_locked"]
    assert researcher.ask("PATCH", path, {"name": "Writers"})["name"] == "Writers"


def test_a_study_takes_the_filters_of_a_set(researcher: Researcher) -> None:
    """Those of the newest version at that time, or of the named one."""
    made = _create(researcher)
    path = f"/filter-sets/{made['id']}/"
    researcher.ask("PATCH", path, {"filters": ENGLISH})
    newest = researcher.study(filter_set_id=made["id"], filters=[])
    older = researcher.study(filter_set_id=made["id"], filter_set_version=1, filters=[])
    ann = researcher.participant(answers={"first-language": ["0"]})
    bob = researcher.participant(answers={"first-language": ["1"]})
    assert (ann.studies(), bob.studies()) == ([newest], [older])
    draft = researcher.draft()
    researcher.ask("PATCH", f"/studies/{draft}/", {"filter_set_id": made["id"]})
    assert researcher.get(f"/studies/{draft}/")["filters"] == ENGLISH


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"filters": [{"filter_id": "shoes", "selected_values": []}]}, "shoes"),
        ({"filters": "all"}, "Not a list"),
        ({"name": ""}, "name"),
        ({"workspace_id": "f" * 24}, "workspace"),
    ],
)
def test_a_wrong_set_is_refused(
    researcher: Researcher, changes: dict[str, Any], words: str
) -> None:
    """With the reason; there is no set then."""
    with pytest.raises(Refused, match=words):
        _create(researcher, **changes)
    assert researcher.get("/filter-sets/")["results"] == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"filter_set_id": "f" * 24, "filters": []}, "filter set"),
        ({"filter_set_id": "{id}", "filters": GERMAN}, "either filters or"),
        ({"filter_set_id": "{id}", "filter_set_version": 9, "filters": []}, "filter"),
        ({"filter_set_id": "{id}", "filter_set_version": 9**40, "filters": []}, "set"),
        ({"filter_set_id": "{id}", "filter_set_version": -(9**40)}, "set"),
        ({"filter_set_id": "{id}", "filter_set_version": "1", "filters": []}, "whole"),
    ],
)
def test_a_study_with_a_wrong_set_is_refused(
    researcher: Researcher, fields: dict[str, Any], words: str
) -> None:
    """It is not created."""
    made = _create(researcher)
    named = fields | {"filter_set_id": fields["filter_set_id"].format(id=made["id"])}
    with pytest.raises(Refused, match=words):
        researcher.draft(**named)
    assert researcher.get("/studies/")["results"] == []
