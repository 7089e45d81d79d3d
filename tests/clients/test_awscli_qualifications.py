"""The AWS CLI's commands about qualifications."""

import secrets
from pathlib import Path

import pytest

from tests.clients.scene import Scene
from tests.marketplace.market import SCHEMAS

pytestmark = pytest.mark.full

TEST = (
    f'<QuestionForm xmlns="{SCHEMAS}/2017-11-06/QuestionForm.xsd"><Question>'
    "<QuestionIdentifier>bird</QuestionIdentifier><IsRequired>true</IsRequired>"
    "<QuestionContent><Text>Which is a bird?</Text></QuestionContent>"
    "<AnswerSpecification><SelectionAnswer><StyleSuggestion>radiobutton"
    "</StyleSuggestion><Selections><Selection><SelectionIdentifier>wren"
    "</SelectionIdentifier><Text>A wren</Text></Selection><Selection>"
    "<SelectionIdentifier>bat</SelectionIdentifier><Text>A bat</Text></Selection>"
    "</Selections></SelectionAnswer></AnswerSpecification></Question></QuestionForm>"
)


def test_create_qualification_type_has_a_name_once(scene: Scene) -> None:
    """The second of the same name is refused in the words that clients look for."""
    name = f"Knows birds {secrets.token_hex(4)}"
    command = (
        "create-qualification-type --name '{name}' --description 'Named some.' "
        "--qualification-type-status Active --keywords bird,name "
        "--retry-delay-in-seconds 60"
    )
    made = scene.aws(command, name=name).document["QualificationType"]
    assert (made["Name"], made["Keywords"]) == (name, "bird,name")
    assert made["RetryDelayInSeconds"] == 60
    assert made["IsRequestable"] is True
    again = scene.aws(f"{command} --debug", name=name)
    assert again.is_refused(
        "You have already created a QualificationType with this name",
        "AWS.MechanicalTurk.QualificationTypeAlreadyExists",
    )


def test_create_qualification_type_never_swallows_a_test(scene: Scene, tmp_path: Path) -> None:
    """A test is either kept word for word or refused by its parameter's name."""
    form = tmp_path / "test.xml"
    form.write_text(TEST, encoding="utf-8")
    reply = scene.aws(
        "create-qualification-type --name 'With a test' --description 'Asks.' "
        "--qualification-type-status Active --test-duration-in-seconds 300 "
        "--test file://{form}",
        form=str(form),
    )
    if reply.exit_code:
        assert reply.is_refused("ParameterValidationError", "(Test)")
    else:
        assert reply.document["QualificationType"]["Test"] == TEST


def test_get_qualification_type_shows_it(scene: Scene) -> None:
    """Under its id; an unknown id does not exist."""
    type_id = scene.qualification_type(Description="Has named wrens.")
    command = "get-qualification-type --qualification-type-id {type}"
    shown = scene.aws(command, type=type_id).document["QualificationType"]
    assert shown["Description"] == "Has named wrens."
    refused = scene.aws(command, type="0" + type_id[1:])
    assert refused.is_refused("RequestError", "does not exist")


def test_update_qualification_type_makes_it_inactive(scene: Scene) -> None:
    """New values are answered, the rest stays."""
    type_id = scene.qualification_type(Description="Has named wrens.")
    changed = scene.aws(
        "update-qualification-type --qualification-type-id {type} "
        "--qualification-type-status Inactive",
        type=type_id,
    ).document["QualificationType"]
    assert changed["QualificationTypeStatus"] == "Inactive"
    assert changed["Description"] == "Has named wrens."


def test_delete_qualification_type_frees_its_name(scene: Scene) -> None:
    """Another one of the name can be made at once."""
    type_id = scene.qualification_type(Name="Only once")
    command = "delete-qualification-type --qualification-type-id {type}"
    assert scene.aws(command, type=type_id).document == {}
    assert scene.qualification_type(Name="Only once") != type_id


def test_list_qualification_types_finds_own_ones_by_a_word(scene: Scene) -> None:
    """The CLI calls the service's Query --types-query; --query filters output."""
    wanted = scene.qualification_type(Name=f"Knows owls {secrets.token_hex(4)}")
    scene.qualification_type()
    listed = scene.aws(
        "list-qualification-types --must-be-requestable --must-be-owned-by-caller "
        "--types-query owls"
    )
    type_ids = [
        qualification_type["QualificationTypeId"]
        for qualification_type in listed.document["QualificationTypes"]
    ]
    assert type_ids == [wanted]


def test_associate_qualification_with_worker_grants_a_value(scene: Scene) -> None:
    """A second grant sets another value."""
    type_id, worker = scene.qualification_type(), scene.market.worker()
    command = (
        "associate-qualification-with-worker --qualification-type-id {type} "
        "--worker-id {worker} --no-send-notification --integer-value"
    )
    values = {"type": type_id, "worker": worker.worker_id}
    assert scene.aws(f"{command} 70", **values).document == {}
    assert scene.aws(f"{command} 80", **values).document == {}
    score = scene.boto.get_qualification_score(
        QualificationTypeId=type_id, WorkerId=worker.worker_id
    )
    assert score["Qualification"]["IntegerValue"] == 80


def test_get_qualification_score_tells_lack_from_revocation(scene: Scene) -> None:
    """Never held: does not exist; revoked: the status is named."""
    type_id, worker = scene.qualification_type(), scene.market.worker()
    values = {"type": type_id, "worker": worker.worker_id}
    command = "get-qualification-score --qualification-type-id {type} --worker-id {worker}"
    assert scene.aws(command, **values).is_refused("RequestError", "does not exist")
    scene.boto.associate_qualification_with_worker(
        QualificationTypeId=type_id, WorkerId=worker.worker_id, IntegerValue=3
    )
    held = scene.aws(command, **values).document["Qualification"]
    assert (held["IntegerValue"], held["Status"]) == (3, "Granted")
    scene.boto.disassociate_qualification_from_worker(
        QualificationTypeId=type_id, WorkerId=worker.worker_id
    )
    assert scene.aws(command, **values).is_refused("with a status of: Granted")


def test_disassociate_qualification_from_worker_revokes(scene: Scene) -> None:
    """He is listed under Revoked and no longer under Granted."""
    type_id, worker = scene.qualification_type(), scene.market.worker()
    scene.boto.associate_qualification_with_worker(
        QualificationTypeId=type_id, WorkerId=worker.worker_id
    )
    taken = scene.aws(
        "disassociate-qualification-from-worker --qualification-type-id {type} "
        "--worker-id {worker} --reason 'Was a mistake'",
        type=type_id,
        worker=worker.worker_id,
    )
    assert taken.document == {}
    command = "list-workers-with-qualification-type --qualification-type-id {type} --status"
    revoked = scene.aws(f"{command} Revoked", type=type_id).document["Qualifications"]
    assert [qualification["WorkerId"] for qualification in revoked] == [worker.worker_id]
    granted = scene.aws(f"{command} Granted", type=type_id).document["Qualifications"]
    assert granted == []


def test_accept_qualification_request_grants_what_was_asked(scene: Scene) -> None:
    """The request is listed, accepted with a value, and gone from the list."""
    type_id = scene.qualification_type()
    worker, request_id = scene.asked(type_id)
    command = "list-qualification-requests --qualification-type-id {type}"
    listed = scene.aws(command, type=type_id).document["QualificationRequests"]
    assert [(request["QualificationRequestId"], request["WorkerId"]) for request in listed] == [
        (request_id, worker.worker_id)
    ]
    accepted = scene.aws(
        "accept-qualification-request --qualification-request-id {id} --integer-value 9",
        id=request_id,
    )
    assert accepted.document == {}
    score = scene.boto.get_qualification_score(
        QualificationTypeId=type_id, WorkerId=worker.worker_id
    )
    assert score["Qualification"]["IntegerValue"] == 9
    assert scene.boto.list_qualification_requests()["QualificationRequests"] == []


def test_reject_qualification_request_grants_nothing(scene: Scene) -> None:
    """The worker holds nothing; a second verdict is refused."""
    type_id = scene.qualification_type()
    _worker, request_id = scene.asked(type_id)
    command = "reject-qualification-request --qualification-request-id {id} --reason 'Not yet'"
    assert scene.aws(command, id=request_id).document == {}
    holders = scene.boto.list_workers_with_qualification_type(QualificationTypeId=type_id)
    assert holders["Qualifications"] == []
    assert scene.aws(command, id=request_id).is_refused("RequestError")


def test_list_hits_for_qualification_type_finds_who_requires_it(scene: Scene) -> None:
    """Of two HITs, the one whose type requires it."""
    type_id = scene.qualification_type()
    requirement = {
        "QualificationTypeId": type_id,
        "Comparator": "DoesNotExist",
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
    wanted = scene.hit(QualificationRequirements=[requirement])
    scene.hit()
    listed = scene.aws(
        "list-hits-for-qualification-type --qualification-type-id {type}", type=type_id
    )
    assert [hit["HITId"] for hit in listed.document["HITs"]] == [wanted["HITId"]]
