"""Lists of participants and quotas reach the study, and decide who may take part."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.markets.prolific.bridge.town import Town, Visitor

LANGUAGE = "PROLIFICFIRSTLANGUAGE"
WANTED = {
    "QualificationTypeId": LANGUAGE,
    "Comparator": "In",
    "IntegerValues": [0, 1],
    "ActionsGuarded": "DiscoverPreviewAndAccept",
}


def _post(town: Town, recruiting: dict[str, Any], **changes: object) -> None:
    """Post eight HITs of a type that states whom to recruit."""

    def add(params: dict[str, Any], **_: object) -> None:
        document = json.loads(params["body"]) | {"PieceworkRecruiting": recruiting}
        params["body"] = json.dumps(document).encode()

    town.settle()  # The bridge offers the filters.
    events = town.requester.meta.events
    events.register("before-call.mturk.CreateHITType", add)
    try:
        town.post(8, 1, **changes)
    finally:
        events.unregister("before-call.mturk.CreateHITType", add)
    town.settle()


def _recruiting(**changes: object) -> dict[str, Any]:
    return {"Only": [], "Not": [], "Shares": {}, **changes}


def _may(town: Town, *visitors: Visitor) -> list[bool]:
    return [town.study() in visitor.studies() for visitor in visitors]


def test_only_those_on_the_list_may_take_part(town: Town) -> None:
    """And none of those on the other list."""
    ann, bob, cat = (town.visitor() for _ in range(3))
    listed = [ann.participant_id, bob.participant_id]
    _post(town, _recruiting(Only=listed))
    assert _may(town, ann, bob, cat) == [True, True, False]


def test_those_on_the_block_list_may_not(town: Town) -> None:
    """Everybody else may."""
    ann, bob = (town.visitor() for _ in range(2))
    _post(town, _recruiting(Not=[ann.participant_id]))
    assert _may(town, ann, bob) == [False, True]


def test_new_hits_recruit_as_stated_last_and_posted_ones_as_before(town: Town) -> None:
    """A list is removed and stated again: the same two HIT types, a study for each."""
    ann, bob = (town.visitor() for _ in range(2))
    only_ann = _recruiting(Only=[ann.participant_id])
    _post(town, only_ann)
    town.post(8)
    town.settle()
    assert [len(each.studies()) for each in (ann, bob)] == [2, 1]
    _post(town, only_ann)
    with town.bridge.backend.reading() as transaction:
        rows = transaction.all("SELECT recruiting, assignable_hits FROM hit_types ORDER BY id")
    assert [tuple(row) for row in rows] == [(json.dumps(only_ann), 16), (None, 8)]


def test_a_quota_that_is_full_keeps_its_people_out(town: Town) -> None:
    """Four places: one for English, three for German."""
    shares = {LANGUAGE: {"0": 25, "1": 75}}
    _post(town, _recruiting(Shares=shares), QualificationRequirements=[WANTED])
    english = [town.visitor(answers={"first-language": ["0"]}) for _ in range(2)]
    german = town.visitor(answers={"first-language": ["1"]})
    assert _may(town, *english, german) == [True, True, True]
    english[0].work(town.study())
    assert _may(town, english[1], german) == [False, True]
    german.work(town.study())
    town.settle()
    town.check_books()


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({LANGUAGE: {"0": 50, "2": 50}}, "are of other choices"),
        ({"PROLIFICHANDEDNESS": {"0": 50, "1": 50}}, "no requirement on its choices"),
    ],
)
def test_shares_that_fit_no_requirement_stop_the_study(
    town: Town, shares: dict[str, Any], words: str
) -> None:
    """Before it is created; the trouble says why."""
    _post(town, _recruiting(Shares=shares), QualificationRequirements=[WANTED])
    assert town.studies() == []
    [row] = town.rows("SELECT trouble FROM studies")
    assert words in row["trouble"]


@pytest.mark.parametrize(
    ("recruiting", "words"),
    [
        ({"Only": []}, "must have Only, Not and Shares"),
        (_recruiting(Only=["ann"]), "Only must be a list of at most 5000 ids"),
        (_recruiting(Not="x"), "Not must be a list of at most 5000 ids"),
        (_recruiting(Only=["a" * 24], Not=["a" * 24]), "is in both lists"),
        (_recruiting(Shares={LANGUAGE: {"0": 50, "1": 40}}), "add up to 100"),
        (_recruiting(Shares={LANGUAGE: {"x": 100}}), "add up to 100"),
        (_recruiting(Shares={"PROLIFICSHOES": {"0": 100}}), "does not exist"),
    ],
)
def test_what_is_wrong_is_refused(town: Town, recruiting: dict[str, Any], words: str) -> None:
    """In a sentence, and there is no study."""
    with pytest.raises(ClientError, match=words):
        _post(town, recruiting)
    assert town.studies() == []
