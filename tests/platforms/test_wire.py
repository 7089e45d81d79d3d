"""MTurk's structures, translated once: requirements out, assignments and bonuses in."""

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from piecework.domain.hit import QualificationRequirement
from piecework.domain.ids import AssignmentId, QualificationTypeId, WorkerId
from piecework.domain.money import Bonus
from piecework.platforms.wire import assignment_from_wire, bonus_from_wire, requirement_to_wire

if TYPE_CHECKING:
    from mypy_boto3_mturk.type_defs import AssignmentTypeDef

TYPE_ID = QualificationTypeId("3TYPE")
SEATTLE = timezone(timedelta(hours=-8))
ANSWER = (
    '<QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/'
    'AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"><Answer>'
    "<QuestionIdentifier>caption.1</QuestionIdentifier><FreeText>a dog</FreeText>"
    "</Answer></QuestionFormAnswers>"
)


@pytest.mark.parametrize(
    ("requirement", "wire"),
    [
        (
            QualificationRequirement(qualification_type_id=TYPE_ID, comparator="DoesNotExist"),
            {"ActionsGuarded": "DiscoverPreviewAndAccept"},
        ),
        (
            QualificationRequirement(
                qualification_type_id=TYPE_ID,
                comparator="GreaterThan",
                integer_values=(0, 5),
                lets_look=True,
            ),
            {"ActionsGuarded": "Accept", "IntegerValues": [0, 5]},
        ),
        (
            QualificationRequirement(
                qualification_type_id=TYPE_ID, comparator="In", locales=("US", "CA-ON")
            ),
            {
                "ActionsGuarded": "DiscoverPreviewAndAccept",
                "LocaleValues": [{"Country": "US"}, {"Country": "CA", "Subdivision": "ON"}],
            },
        ),
    ],
)
def test_a_requirement_names_only_what_it_has(
    requirement: QualificationRequirement, wire: dict[str, object]
) -> None:
    """MTurk refuses empty lists of values; a HIT that nobody may take is hidden."""
    assert requirement_to_wire(requirement) == {
        "QualificationTypeId": "3TYPE",
        "Comparator": requirement.comparator,
        **wire,
    }


def test_an_assignment_keeps_its_document_and_its_moments_in_utc() -> None:
    """boto3 gives times in the zone of the machine: noon in Seattle is 20:00 UTC."""
    wire: AssignmentTypeDef = {
        "AssignmentId": "3A",
        "HITId": "3H",
        "WorkerId": "AW",
        "AssignmentStatus": "Approved",
        "AcceptTime": datetime(2026, 1, 5, 12, tzinfo=SEATTLE),
        "SubmitTime": datetime(2026, 1, 5, 12, 10, tzinfo=SEATTLE),
        "Answer": ANSWER,
    }
    assignment = assignment_from_wire(wire)
    assert (assignment.assignment_id, assignment.hit_id, assignment.worker_id) == ("3A", "3H", "AW")
    assert assignment.status == "Approved"
    assert assignment.accepted_at.isoformat() == "2026-01-05T20:00:00+00:00"
    assert assignment.submitted_at == datetime(2026, 1, 5, 20, 10, tzinfo=UTC)
    assert assignment.submitted_at.tzinfo is UTC
    assert (assignment.raw, assignment.fields) == (ANSWER, {"caption.1": "a dog"})


def test_an_assignment_without_an_answer_has_no_fields() -> None:
    """MTurk leaves the key out where a worker sent nothing."""
    wire: AssignmentTypeDef = {
        "AssignmentId": "3A",
        "HITId": "3H",
        "WorkerId": "AW",
        "AssignmentStatus": "Submitted",
        "AcceptTime": datetime(2026, 1, 5, tzinfo=UTC),
        "SubmitTime": datetime(2026, 1, 5, tzinfo=UTC),
    }
    assignment = assignment_from_wire(wire)
    assert (assignment.raw, assignment.fields) == ("", {})


def test_a_bonus_is_whole_cents_with_the_reason_that_is_listed() -> None:
    """A listing without a reason is a bonus with an empty one."""
    bonus = Bonus(
        assignment_id=AssignmentId("3A"), worker_id=WorkerId("AW"), cents=75, reason="Thanks!"
    )
    assert bonus == bonus_from_wire(
        {"AssignmentId": "3A", "WorkerId": "AW", "BonusAmount": "0.75", "Reason": "Thanks!"}
    )
    bare = bonus_from_wire({"AssignmentId": "3A", "WorkerId": "AW", "BonusAmount": "1.00"})
    assert (bare.cents, bare.reason) == (100, "")
