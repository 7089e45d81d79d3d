"""Qualification types, grants, requirements and blocks, over the wire."""

import re
from typing import Any

import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.state.qualification_types import (
    ADULT,
    LOCALE,
    MASTERS_PRODUCTION,
    NUMBER_APPROVED,
    PERCENT_APPROVED,
)
from tests.marketplace.market import HIT_TYPE, Market, post, refusal
from tests.marketplace.qualification_types import make, need
from tests.marketplace.test_qualification_tests import TEST


def test_a_name_is_taken_until_its_type_is_deleted(standing: Market) -> None:
    """QualificationTypeAlreadyExists; another requester may use the name."""
    client = standing.requester()
    first = make(client)
    with pytest.raises(ClientError) as caught:
        make(client)
    assert refusal(caught.value)[1] == "QualificationTypeAlreadyExists"
    assert first in refusal(caught.value)[2]
    make(standing.requester())
    client.delete_qualification_type(QualificationTypeId=first)
    assert make(client) != first
    with pytest.raises(ClientError) as caught:
        client.get_qualification_type(QualificationTypeId=first)
    assert refusal(caught.value)[1] == "QualificationTypeDoesNotExist"


def test_a_qualification_is_granted_changed_revoked_and_granted_again(standing: Market) -> None:
    """Associate overwrites; a revoked one is told apart from one never had."""
    client, ann = standing.requester(), standing.worker()
    kind = make(client)
    who: dict[str, Any] = {"QualificationTypeId": kind, "WorkerId": ann.worker_id}
    with pytest.raises(ClientError) as caught:
        client.get_qualification_score(**who)
    assert refusal(caught.value)[1] == "QualificationDoesNotExist"
    assert "does not exist" in refusal(caught.value)[2]
    client.associate_qualification_with_worker(**who)
    score = client.get_qualification_score(**who)["Qualification"]
    assert (score["IntegerValue"], score["Status"]) == (1, "Granted")
    client.associate_qualification_with_worker(**who, IntegerValue=80)
    score = client.get_qualification_score(**who)["Qualification"]
    assert score["IntegerValue"] == 80
    client.disassociate_qualification_from_worker(**who)
    with pytest.raises(ClientError) as caught:
        client.get_qualification_score(**who)
    assert "with a status of: Granted" in refusal(caught.value)[2]
    revoked = client.list_workers_with_qualification_type(
        QualificationTypeId=kind, Status="Revoked"
    )["Qualifications"]
    assert [qualification["WorkerId"] for qualification in revoked] == [ann.worker_id]
    client.associate_qualification_with_worker(**who, IntegerValue=0)
    score = client.get_qualification_score(**who)["Qualification"]
    assert score["IntegerValue"] == 0


def test_only_the_owner_grants(standing: Market) -> None:
    """Neither a stranger's type nor the marketplace's own can be given away."""
    client, ann = standing.requester(), standing.worker()
    for kind in (make(standing.requester()), NUMBER_APPROVED):
        with pytest.raises(ClientError) as caught:
            client.associate_qualification_with_worker(
                QualificationTypeId=kind, WorkerId=ann.worker_id
            )
        assert refusal(caught.value)[1] == "QualificationTypeDoesNotExist"
    with pytest.raises(ClientError) as caught:
        client.associate_qualification_with_worker(
            QualificationTypeId=make(client), WorkerId="ANOBODY"
        )
    assert "ANOBODY does not exist" in refusal(caught.value)[2]


def test_types_are_listed_by_owner_and_words(standing: Market) -> None:
    """Own ones, requestable ones, and those with a word in name or keywords."""
    client = standing.requester()
    make(client, "Trained on birds")
    make(client, "Other", Keywords="BIRDS, cages")
    make(standing.requester(), "Birds of others")

    def names(**filters: object) -> set[str]:
        wanted: dict[str, Any] = {"MaxResults": 100, **filters}
        reply = client.list_qualification_types(**wanted)
        return {kind["Name"] for kind in reply["QualificationTypes"]}

    own = {"MustBeRequestable": True, "MustBeOwnedByCaller": True}
    assert names(**own) == {"Trained on birds", "Other"}
    assert names(**own, Query="birds") == {"Trained on birds", "Other"}
    assert names(**own, Query="trained") == {"Trained on birds"}
    assert "Worker_Locale" in names(MustBeRequestable=False)
    assert "Worker_Locale" not in names(MustBeRequestable=True)


def test_the_exclusion_of_a_worker_takes_effect_at_once(market: Market) -> None:
    """DoesNotExist with DiscoverPreviewAndAccept: the soft block."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    kind = make(client, "excluded")
    guarded = need(kind, "DoesNotExist", ActionsGuarded="DiscoverPreviewAndAccept")
    made = post(client, QualificationRequirements=guarded)
    assert len(ann.groups()) == 1
    client.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId=ann.worker_id, SendNotification=False
    )
    assert ann.groups() == []
    assert ann.accept(made["HITGroupId"]).status_code == 409
    assert len(bob.groups()) == 1


def test_actions_are_guarded_one_by_one(market: Market) -> None:
    """Accept leaves list and preview open, PreviewAndAccept only the list."""
    client, ann = market.requester(), market.worker()
    kind = make(client)
    for guard, sees, previews in (
        ("Accept", True, True),
        ("PreviewAndAccept", True, False),
        ("DiscoverPreviewAndAccept", False, False),
    ):
        made = post(client, Title=guard, QualificationRequirements=need(kind, ActionsGuarded=guard))
        group = made["HITGroupId"]
        offered = [offer for offer in ann.groups() if offer["hit_group_id"] == group]
        assert bool(offered) == sees
        preview = ann.http.get(f"/worker/groups/{group}/preview")
        assert (preview.status_code == 200) == previews
        assert ann.accept(group).status_code == 409
        if offered:
            assert offered[0]["may_preview"] == previews
            assert not offered[0]["may_accept"]
            assert offered[0]["lacks"] == ["trained Exists"]


def test_required_to_preview_is_the_old_spelling(standing: Market) -> None:
    """It means PreviewAndAccept, and cannot be said together with the new one."""
    client = standing.requester()
    kind = make(client)
    made = post(client, QualificationRequirements=need(kind, RequiredToPreview=True))
    assert made["QualificationRequirements"][0]["ActionsGuarded"] == "PreviewAndAccept"
    with pytest.raises(ClientError) as caught:
        post(
            client,
            QualificationRequirements=need(kind, RequiredToPreview=True, ActionsGuarded="Accept"),
        )
    assert refusal(caught.value)[0] == "InvalidParameterCombinationError"


@pytest.mark.parametrize(
    ("kind", "comparator", "values"),
    [
        (NUMBER_APPROVED, "Exists", {"IntegerValues": [1]}),
        (NUMBER_APPROVED, "EqualTo", {}),
        (NUMBER_APPROVED, "EqualTo", {"IntegerValues": [1, 2]}),
        (NUMBER_APPROVED, "In", {"IntegerValues": []}),
        (NUMBER_APPROVED, "In", {"IntegerValues": list(range(16))}),
        (NUMBER_APPROVED, "EqualTo", {"LocaleValues": [{"Country": "US"}]}),
        (PERCENT_APPROVED, "GreaterThan", {"IntegerValues": [101]}),
        (LOCALE, "GreaterThan", {"LocaleValues": [{"Country": "US"}]}),
        (LOCALE, "EqualTo", {"IntegerValues": [1]}),
        (LOCALE, "In", {"LocaleValues": [{"Country": "US"}] * 31}),
        (LOCALE, "EqualTo", {"LocaleValues": [{"Country": "USA"}]}),
        (MASTERS_PRODUCTION, "EqualTo", {"IntegerValues": [1]}),
        (ADULT, "EqualTo", {"IntegerValues": [0]}),
        (NUMBER_APPROVED, "AtLeast", {"IntegerValues": [1]}),
    ],
)
def test_a_comparator_takes_only_its_own_values(
    standing: Market, kind: str, comparator: str, values: dict[str, Any]
) -> None:
    """ParameterValidationError for values that a comparator or a type cannot have."""
    client = standing.requester()
    with pytest.raises(ClientError) as caught:
        client.create_hit_type(
            **HIT_TYPE, QualificationRequirements=need(kind, comparator, **values)
        )
    assert refusal(caught.value)[0] == "ParameterValidationError"


def test_at_most_ten_requirements_on_active_types(standing: Market) -> None:
    """Eleven are too many; unknown and inactive types cannot be required."""
    client = standing.requester()
    kind = make(client)
    with pytest.raises(ClientError) as caught:
        post(client, QualificationRequirements=need(kind) * 11)
    assert refusal(caught.value)[0] == "ParameterValidationError"
    client.update_qualification_type(QualificationTypeId=kind, QualificationTypeStatus="Inactive")
    with pytest.raises(ClientError) as caught:
        post(client, QualificationRequirements=need(kind))
    assert refusal(caught.value)[1] == "InvalidQualificationTypeState"
    with pytest.raises(ClientError) as caught:
        post(client, QualificationRequirements=need("3UNKNOWN"))
    assert refusal(caught.value)[1] == "QualificationTypeDoesNotExist"


def test_a_record_grows_with_what_is_judged(market: Market) -> None:
    """99 of 99 counts as 100 % by rule; a rejected 100th leaves 99 % by count."""
    client = market.requester()
    ann = market.worker(hits_approved=99, hits_submitted=99)
    perfect = need(PERCENT_APPROVED, "EqualTo", IntegerValues=[100])
    hundred = need(NUMBER_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[100])
    first = post(client, Title="first", MaxAssignments=1)
    perfect_group = post(client, Title="p", QualificationRequirements=perfect)
    hundred_group = post(client, Title="h", QualificationRequirements=hundred)

    def may_accept() -> dict[str, bool]:
        return {group["title"]: group["may_accept"] for group in ann.groups()}

    assert may_accept() == {"first": True, "p": True, "h": False}
    assignment = ann.do(first["HITGroupId"])
    assert may_accept() == {"p": True, "h": False}  # not judged yet
    client.reject_assignment(AssignmentId=assignment, RequesterFeedback="Empty.")
    assert may_accept() == {"p": False, "h": False}  # 99 of 100
    client.approve_assignment(AssignmentId=assignment, OverrideRejection=True)
    assert may_accept() == {"p": True, "h": True}  # 100 of 100
    assert ann.accept(perfect_group["HITGroupId"]).status_code == 201
    assert ann.accept(hundred_group["HITGroupId"]).status_code == 201


def test_a_block_hides_the_requesters_hits_until_it_is_lifted(market: Market) -> None:
    """A blocked worker finds nothing of this requester's, and can take nothing."""
    client, other, ann = market.requester(), market.requester(), market.worker()
    made, others = post(client), post(other)
    client.create_worker_block(WorkerId=ann.worker_id, Reason="Scripts.")
    client.create_worker_block(WorkerId=ann.worker_id, Reason="Scripts, again.")
    offered = [group["hit_group_id"] for group in ann.groups()]
    assert offered == [others["HITGroupId"]]
    assert ann.accept(made["HITGroupId"]).status_code == 409
    blocks = client.list_worker_blocks()["WorkerBlocks"]
    assert blocks == [{"WorkerId": ann.worker_id, "Reason": "Scripts, again."}]
    client.delete_worker_block(WorkerId=ann.worker_id)
    client.delete_worker_block(WorkerId=ann.worker_id)
    assert ann.accept(made["HITGroupId"]).status_code == 201


def test_a_worker_sees_no_type_that_only_keeps_people_out(market: Market) -> None:
    """Whether HITs require its absence or the requester says that it is internal."""
    client, ann = market.requester("LAB"), market.worker()
    inside = make(client, "piecework: not for cap-live", Keywords="not-shown")
    other = make(client, "banned by another tool")
    earned = make(client, "good drivers", Keywords="not-requestable")
    wanted = make(client, "trained")
    both = make(client, "asked for and refused")
    post(client, QualificationRequirements=need(other, "DoesNotExist"))
    post(client, QualificationRequirements=need(both, "DoesNotExist"), Title="Second")
    post(client, QualificationRequirements=need(both), Title="Third")

    def page() -> dict[str, list[str]]:
        reply = ann.http.get("/worker/qualifications").json()
        return {
            part: sorted(row["name"] for row in reply[part]) for part in ("held", "lost", "offered")
        }

    assert page()["offered"] == ["asked for and refused", "trained"]
    for kind in (inside, earned):
        shown = client.get_qualification_type(QualificationTypeId=kind)
        assert not shown["QualificationType"]["IsRequestable"]
        refused = ann.http.post(f"/worker/qualifications/{kind}/request")
        assert refused.status_code == 404
    for kind in (inside, other, earned, wanted):
        client.associate_qualification_with_worker(
            QualificationTypeId=kind, WorkerId=ann.worker_id, SendNotification=False
        )
    assert page()["held"] == ["good drivers", "trained"]
    for kind in (inside, other, earned):
        client.disassociate_qualification_from_worker(
            QualificationTypeId=kind, WorkerId=ann.worker_id
        )
    assert page()["lost"] == ["good drivers"]
    assert (
        "cap-live"
        not in ann.http.get("/worker/qualifications", headers={"accept": "text/html"}).text
    )


def test_the_page_of_a_test_has_spaces_between_its_sentences(market: Market) -> None:
    """Nothing like "you begin.You can take it again"."""
    client, ann = market.requester("LAB"), market.worker()
    kind = make(client, Test=TEST, TestDurationInSeconds=600, RetryDelayInSeconds=86_400)
    text = ann.http.get(f"/worker/qualifications/{kind}/test", headers={"accept": "text/html"}).text
    note = " ".join(text.partition('<p class="note">')[2].partition("</p>")[0].split())
    assert re.findall(r"[.!?][A-Z]", note) == []
    assert note.count(". ") == 2


def test_a_worker_asks_for_a_qualification(market: Market) -> None:
    """Granted at once where the type says so; else the requester decides."""
    client, ann = market.requester(), market.worker()
    open_kind = make(client, "open", AutoGranted=True, AutoGrantedValue=7)
    asked_kind = make(client, "asked", RetryDelayInSeconds=60)

    def ask(kind: str) -> str:
        reply = ann.http.post(f"/worker/qualifications/{kind}/request").json()
        return str(reply.get("status") or reply["error"])

    assert ask(open_kind) == "Granted"
    score = client.get_qualification_score(QualificationTypeId=open_kind, WorkerId=ann.worker_id)
    assert score["Qualification"]["IntegerValue"] == 7
    assert ask(open_kind) == "QualificationAlreadyExists"
    assert ask(asked_kind) == "Pending"
    assert ask(asked_kind) == "QualificationRequestPending"
    (request,) = client.list_qualification_requests()["QualificationRequests"]
    assert request["WorkerId"] == ann.worker_id
    client.reject_qualification_request(
        QualificationRequestId=request["QualificationRequestId"], Reason="Not yet."
    )
    assert ask(asked_kind) == "QualificationTypeRetryDelayNotElapsed"
    market.wait(seconds=60)
    assert ask(asked_kind) == "Pending"
    (request,) = client.list_qualification_requests(QualificationTypeId=asked_kind)[
        "QualificationRequests"
    ]
    parameters: dict[str, Any] = {"QualificationRequestId": request["QualificationRequestId"]}
    client.accept_qualification_request(**parameters, IntegerValue=3)
    with pytest.raises(ClientError) as caught:
        client.accept_qualification_request(**parameters)
    assert refusal(caught.value)[1] == "InvalidQualificationRequestState"
    score = client.get_qualification_score(QualificationTypeId=asked_kind, WorkerId=ann.worker_id)
    assert score["Qualification"]["IntegerValue"] == 3


@pytest.mark.parametrize("standing_as", ["is_adult", "is_master"])
def test_adults_and_masters_are_told_apart(standing: Market, standing_as: str) -> None:
    """Whoever is the other of the two may not accept."""
    wanted = {
        "is_adult": {"QualificationTypeId": ADULT, "Comparator": "EqualTo", "IntegerValues": [1]},
        "is_master": {"QualificationTypeId": MASTERS_PRODUCTION, "Comparator": "Exists"},
    }[standing_as]
    made = post(standing.requester(), QualificationRequirements=[wanted])
    for holder in ("is_adult", "is_master"):
        both = {"is_adult": False, "is_master": False} | {holder: True}
        reply = standing.worker(**both).accept(made["HITGroupId"])
        assert reply.status_code == (201 if holder == standing_as else 409)


def test_hits_for_a_state_are_for_workers_of_that_state(standing: Market) -> None:
    """Not for workers of another state, or of no stated one."""
    washington = {"LocaleValues": [{"Country": "US", "Subdivision": "WA"}]}
    made = post(
        standing.requester(), QualificationRequirements=need(LOCALE, "EqualTo", **washington)
    )
    for may, lives in (
        (True, {"subdivision": "WA"}),
        (False, {"subdivision": "NY"}),
        (False, {}),
    ):
        reply = standing.worker(**lives).accept(made["HITGroupId"])
        assert reply.status_code == (201 if may else 409)


def test_a_qualification_that_was_taken_back_is_none(standing: Market) -> None:
    """Ann had it, so she may no more; with it, she may again."""
    client, ann = standing.requester(), standing.worker()
    careful = client.create_qualification_type(
        Name="Careful again", Description="Works.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    wanted = {"QualificationTypeId": careful, "Comparator": "Exists"}
    made = post(client, QualificationRequirements=[wanted])
    for is_held in (True, False, True):
        if is_held:
            client.associate_qualification_with_worker(
                QualificationTypeId=careful, WorkerId=ann.worker_id, IntegerValue=1
            )
        else:
            client.disassociate_qualification_from_worker(
                QualificationTypeId=careful, WorkerId=ann.worker_id
            )
        reply = ann.accept(made["HITGroupId"], hit_id=made["HITId"])
        assert reply.status_code == (201 if is_held else 409)
        if is_held:
            ann.give_back(reply.json()["assignment_id"])
