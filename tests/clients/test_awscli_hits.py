"""The AWS CLI's commands about HITs and HIT types, each typed as a user types it."""

from datetime import datetime

import pytest

from tests.clients.scene import Scene

pytestmark = pytest.mark.full

WHAT = (
    "--title 'Describe a picture' --description 'Say what it shows.' "
    "--keywords 'image, caption' --reward 0.55 --assignment-duration-in-seconds 600 "
)


def test_create_hit_holds_its_cost(scene: Scene, question_file: str) -> None:
    """0.55 and a fee of 20 % (0.11), for three assignments: 1.98 are held."""
    reply = scene.aws(
        f"create-hit {WHAT} --lifetime-in-seconds 86400 --max-assignments 3 "
        "--requester-annotation birds-7 --question file://{file}",
        file=question_file,
    )
    hit = reply.document["HIT"]
    assert hit["HITStatus"] == "Assignable"
    assert hit["NumberOfAssignmentsAvailable"] == 3
    assert hit["Reward"] == "0.55"
    assert hit["RequesterAnnotation"] == "birds-7"
    assert hit["Title"] == "Describe a picture"
    assert scene.held_dollars() == "1.98"


def test_create_hit_with_a_used_token_names_the_hit(scene: Scene, question_file: str) -> None:
    """The second of two equal commands makes nothing and quotes the first one's id."""
    command = (
        f"create-hit {WHAT} --lifetime-in-seconds 86400 "
        "--unique-request-token once --question file://{file}"
    )
    first = scene.aws(command, file=question_file).document["HIT"]["HITId"]
    again = scene.aws(f"{command} --debug", file=question_file)
    assert again.is_refused("(RequestError)", "CreateHIT", f'"{first}"')
    # The CLI prints no TurkErrorCode; who looks closer finds it in the reply.
    assert "AWS.MechanicalTurk.HitAlreadyExists" in again.complaint
    assert scene.boto.list_hits()["NumResults"] == 1


def test_create_hit_type_gives_the_same_type_for_the_same_words(scene: Scene) -> None:
    """A HIT type is its values; another reward is another type."""
    first = scene.aws(f"create-hit-type {WHAT}").document["HITTypeId"]
    assert scene.aws(f"create-hit-type {WHAT}").document["HITTypeId"] == first
    dearer = scene.aws(f"create-hit-type {WHAT} --reward 0.56").document["HITTypeId"]
    assert dearer != first


def test_create_hit_with_hit_type_takes_the_type_s_words(scene: Scene, question_file: str) -> None:
    """Requirements in the CLI's short syntax arrive as they were typed."""
    requirement = (
        "QualificationTypeId=00000000000000000071,Comparator=In,"
        "LocaleValues=[{{Country=US,Subdivision=NY}},{{Country=CA}}],"
        "ActionsGuarded=PreviewAndAccept"
    )
    made = scene.aws(f"create-hit-type {WHAT} --qualification-requirements '{requirement}'")
    type_id = made.document["HITTypeId"]
    hit = scene.aws(
        "create-hit-with-hit-type --hit-type-id {type} --lifetime-in-seconds 3600 "
        "--question file://{file}",
        type=type_id,
        file=question_file,
    ).document["HIT"]
    assert (hit["HITTypeId"], hit["Reward"]) == (type_id, "0.55")
    [stored] = hit["QualificationRequirements"]
    assert stored["LocaleValues"] == [{"Country": "US", "Subdivision": "NY"}, {"Country": "CA"}]
    assert (stored["Comparator"], stored["ActionsGuarded"]) == ("In", "PreviewAndAccept")


def test_get_hit_shows_one_and_refuses_strangers(scene: Scene) -> None:
    """Another requester's HIT does not exist."""
    hit_id = scene.hit()["HITId"]
    shown = scene.aws("get-hit --hit-id {hit}", hit=hit_id).document["HIT"]
    assert shown["HITId"] == hit_id
    assert shown["Question"].startswith("<HTMLQuestion")
    other = Scene(scene.market, scene._aws)
    refused = other.aws("get-hit --hit-id {hit}", hit=hit_id)
    assert refused.is_refused("RequestError", "GetHIT", hit_id, "does not exist")


def test_get_hit_refuses_an_id_of_another_shape(scene: Scene) -> None:
    """Patterns are not checked by the client, so the service names the parameter."""
    refused = scene.aws("get-hit --hit-id lower-case")
    assert refused.is_refused("ParameterValidationError", "HITId")


def test_list_hits_is_read_to_the_end_by_the_cli(scene: Scene) -> None:
    """Pages of two, five HITs: the CLI's own paging finds each once, newest first."""
    ids = [scene.hit(RequesterAnnotation=f"n{n}")["HITId"] for n in range(5)]
    listed = scene.aws("list-hits --page-size 2").document["HITs"]
    assert [hit["HITId"] for hit in listed] == ids[::-1]


def test_list_hits_goes_on_where_the_cli_stopped(scene: Scene) -> None:
    """--max-items and --starting-token share out four HITs without loss."""
    ids = {scene.hit(RequesterAnnotation=f"n{n}")["HITId"] for n in range(4)}
    first = scene.aws("list-hits --max-items 3").document
    assert len(first["HITs"]) == 3
    rest = scene.aws("list-hits --starting-token {token}", token=first["NextToken"])
    listed_ids = {hit["HITId"] for hit in first["HITs"] + rest.document["HITs"]}
    assert listed_ids == ids


def test_list_reviewable_hits_shows_what_is_done(scene: Scene) -> None:
    """Of a done and an open HIT, the done one, as the --query asks."""
    done, _worker, _assignment = scene.done_hit()
    scene.hit(Title="Still open")
    reply = scene.aws(
        "list-reviewable-hits --hit-type-id {type} --query HITs[].HITId --output text",
        type=done["HITTypeId"],
    )
    assert (reply.exit_code, reply.printed.split()) == (0, [done["HITId"]])


def test_update_expiration_for_hit_ends_it_now(scene: Scene) -> None:
    """A moment in the past expires it: nobody can take it, nothing is held."""
    hit_id = scene.hit()["HITId"]
    command = "update-expiration-for-hit --hit-id {hit} --expire-at 2015-01-01"
    assert scene.aws(command, hit=hit_id).document == {}
    hit = scene.boto.get_hit(HITId=hit_id)["HIT"]
    assert (hit["HITStatus"], hit["NumberOfAssignmentsAvailable"]) == ("Reviewable", 0)
    assert scene.held_dollars() == "0.00"
    again = scene.aws(command, hit=hit_id)
    assert again.is_refused("idempotency token", "already been processed")


def test_update_expiration_for_hit_takes_a_later_moment(scene: Scene) -> None:
    """An ISO moment without a zone is UTC, as the CLI reads it."""
    hit_id = scene.hit()["HITId"]
    later = "2026-02-01T12:00:00"
    scene.aws("update-expiration-for-hit --hit-id {hit} --expire-at {at}", hit=hit_id, at=later)
    expiration = scene.boto.get_hit(HITId=hit_id)["HIT"]["Expiration"]
    assert expiration == datetime.fromisoformat(f"{later}+00:00")


def test_create_additional_assignments_for_hit_never_reaches_ten(scene: Scene) -> None:
    """One and eight are nine; one more would have changed the fee."""
    hit_id = scene.hit()["HITId"]
    command = (
        "create-additional-assignments-for-hit --hit-id {hit} --number-of-additional-assignments"
    )
    assert scene.aws(f"{command} 8", hit=hit_id).document == {}
    assert scene.boto.get_hit(HITId=hit_id)["HIT"]["MaxAssignments"] == 9
    refused = scene.aws(f"{command} 1 --debug", hit=hit_id)
    assert refused.is_refused("AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease")


def test_update_hit_review_status_puts_aside_and_back(scene: Scene) -> None:
    """Reviewable to Reviewing; a repeat says in which state it is; --revert undoes."""
    hit, _worker, _assignment = scene.done_hit()
    command = "update-hit-review-status --hit-id {hit}"
    assert scene.aws(command, hit=hit["HITId"]).document == {}
    assert scene.boto.get_hit(HITId=hit["HITId"])["HIT"]["HITStatus"] == "Reviewing"
    again = scene.aws(command, hit=hit["HITId"])
    assert again.is_refused("RequestError", "with a status of: Reviewable", "Reviewing")
    assert scene.aws(f"{command} --revert", hit=hit["HITId"]).document == {}
    assert scene.boto.get_hit(HITId=hit["HITId"])["HIT"]["HITStatus"] == "Reviewable"


def test_update_hit_type_of_hit_moves_an_untouched_hit(scene: Scene) -> None:
    """It has the new type's reward, and 0.60 with its fee (0.12) is held."""
    hit_id = scene.hit()["HITId"]
    made = scene.boto.create_hit_type(
        Title="Another", Description="Dearer.", Reward="0.60", AssignmentDurationInSeconds=60
    )
    command = "update-hit-type-of-hit --hit-id {hit} --hit-type-id {type}"
    moved = scene.aws(command, hit=hit_id, type=made["HITTypeId"])
    assert moved.document == {}
    assert scene.boto.get_hit(HITId=hit_id)["HIT"]["Reward"] == "0.60"
    assert scene.held_dollars() == "0.72"


def test_delete_hit_waits_for_the_verdict(scene: Scene) -> None:
    """Refused while an answer waits; after approval it is gone from the list."""
    hit, _worker, assignment_id = scene.done_hit()
    command = "delete-hit --hit-id {hit}"
    assert scene.aws(command, hit=hit["HITId"]).is_refused("RequestError", "DeleteHIT")
    scene.boto.approve_assignment(AssignmentId=assignment_id)
    assert scene.aws(command, hit=hit["HITId"]).document == {}
    assert scene.boto.list_hits()["HITs"] == []


def test_list_review_policy_results_for_hit_is_about_that_hit(scene: Scene) -> None:
    """A HIT without policies has no report; while absent, the command fails by name."""
    hit_id = scene.hit()["HITId"]
    reply = scene.aws(
        "list-review-policy-results-for-hit --hit-id {hit} --policy-levels HIT",
        hit=hit_id,
    )
    assert reply.document["HITId"] == hit_id
    assert not reply.document.get("HITReviewReport", {}).get("ReviewResults")


NOTIFICATION = (
    "--notification 'Destination=arn:aws:sns:us-east-1:123456789012:birds,"
    "Transport=SNS,Version=2006-05-05,EventTypes=AssignmentSubmitted'"
)


def test_update_notification_settings_is_set_or_refused(scene: Scene) -> None:
    """It answers nothing when it did it."""
    type_id = scene.hit()["HITTypeId"]
    reply = scene.aws(
        f"update-notification-settings --hit-type-id {{type}} --active {NOTIFICATION}",
        type=type_id,
    )
    assert reply.document == {}


def test_send_test_event_notification_is_sent_or_refused(scene: Scene) -> None:
    """It answers nothing when it did it."""
    reply = scene.aws(
        f"send-test-event-notification --test-event-type Ping {NOTIFICATION}",
    )
    assert reply.document == {}


KNOWN_ANSWERS = (
    "--assignment-review-policy PolicyName=ScoreMyKnownAnswers/2011-09-01,"
    "Parameters=[{{Key=AnswerKey,MapEntries=[{{Key=caption,Values=[bird]}}]}},"
    "{{Key=ApproveIfKnownAnswerScoreIsAtLeast,Values=[80]}}]"
)
PLURALITY = (
    "--hit-review-policy PolicyName=SimplePlurality/2011-09-01,"
    "Parameters=[{{Key=QuestionIds,Values=[caption]}},"
    "{{Key=QuestionAgreementThreshold,Values=[50]}}]"
)


@pytest.mark.parametrize("policy", [KNOWN_ANSWERS, PLURALITY], ids=["known", "plural"])
def test_create_hit_never_swallows_a_review_policy(
    scene: Scene, question_file: str, policy: str
) -> None:
    """A policy is either reported afterwards or refused by its parameter's name."""
    reply = scene.aws(
        f"create-hit {WHAT} --lifetime-in-seconds 3600 --question file://{{file}} {policy}",
        file=question_file,
    )
    if reply.exit_code:
        assert reply.is_refused("ParameterValidationError", "ReviewPolicy")
        return
    report = scene.boto.list_review_policy_results_for_hit(HITId=reply.document["HIT"]["HITId"])
    assert any(name.endswith("ReviewPolicy") for name in report)
