"""A marketplace's refusals arrive with a kind that callers decide by."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import get_args

import pytest

from piecework.domain.errors import PlatformRefused, RefusalKind
from piecework.domain.hit import PostableTest
from piecework.domain.ids import AssignmentId, HitId, HitTypeId, QualificationTypeId, WorkerId
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.calling import _KINDS
from piecework.platforms.mturk import MTurk

_NO_ID = "3" + "A" * 29
_XSD = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MTurk]:
    """The adapter before a marketplace that holds nothing."""
    with serve(
        Marketplace(
            tmp_path_factory.mktemp("refusals") / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
        )
    ) as running:
        yield MTurk(running.endpoint_url, access_key="R", secret_key="none")  # noqa: S106


@pytest.mark.parametrize(
    ("call", "kind", "code"),
    [
        (lambda turk: turk.hit_status(HitId(_NO_ID)), "hit_unknown", "HITDoesNotExist"),
        (
            lambda turk: list(turk.reviewable_hits([HitTypeId(_NO_ID)])),
            "hit_type_unknown",
            "HITTypeDoesNotExist",
        ),
        (
            lambda turk: turk.exclude(WorkerId("A1"), QualificationTypeId(_NO_ID)),
            "qualification_type_unknown",
            "QualificationTypeDoesNotExist",
        ),
        (lambda turk: turk.approve(AssignmentId(_NO_ID)), "other", "AssignmentDoesNotExist"),
    ],
)
def test_what_is_unknown_is_told_by_its_kind(
    platform: MTurk, call: Callable[[MTurk], object], kind: RefusalKind, code: str
) -> None:
    """The marketplace's own code stays, for the message."""
    with pytest.raises(PlatformRefused) as refused:
        call(platform)
    assert (refused.value.kind, refused.value.code) == (kind, code)


def test_a_name_with_another_answer_key_exists_already(platform: MTurk) -> None:
    """The second test of one name is refused, as a thing that is there."""
    platform.qualification(posted_test("A"))
    with pytest.raises(PlatformRefused, match="another test") as refused:
        platform.qualification(posted_test("B"))
    assert refused.value.kind == "already_exists"


def posted_test(right: str) -> PostableTest:
    """A test of one question, with the option that is right."""
    options = "".join(
        f"<Selection><SelectionIdentifier>{name}</SelectionIdentifier>"
        f"<Text>{name}</Text></Selection>"
        for name in "AB"
    )
    return PostableTest(
        name="One question",
        description="A or B",
        question_form=f'<QuestionForm xmlns="{_XSD}QuestionForm.xsd"><Question>'
        "<QuestionIdentifier>q</QuestionIdentifier><IsRequired>true</IsRequired>"
        "<QuestionContent><Text>Which?</Text></QuestionContent>"
        "<AnswerSpecification><SelectionAnswer>"
        f"<Selections>{options}</Selections>"
        "</SelectionAnswer></AnswerSpecification></Question></QuestionForm>",
        answer_key=f'<AnswerKey xmlns="{_XSD}AnswerKey.xsd"><Question>'
        "<QuestionIdentifier>q</QuestionIdentifier><AnswerOption>"
        f"<SelectionIdentifier>{right}</SelectionIdentifier>"
        "<AnswerScore>1</AnswerScore></AnswerOption></Question></AnswerKey>",
        duration_seconds=600,
    )


def test_every_kind_has_a_code() -> None:
    """No kind is one that no refusal can have."""
    assert {*_KINDS.values(), "other"} == set(get_args(RefusalKind))
