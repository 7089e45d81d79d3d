"""A marketplace's refusals arrive with a kind that callers decide by."""

from collections.abc import Callable, Iterator
from dataclasses import replace
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


def test_a_name_with_another_test_exists_already(platform: MTurk) -> None:
    """The second test of one name is refused, as a thing that is there."""
    test = posted_test("A")
    platform.qualification(test)
    for other in (
        posted_test("B"),
        # A key names the right option, and no words of the question.
        replace(test, question_form=test.question_form.replace("Which?", "Who?")),
        replace(test, duration_seconds=601),
        replace(test, retry_seconds=60),
    ):
        with pytest.raises(PlatformRefused, match="another test") as refused:
            platform.qualification(other)
        assert refused.value.kind == "already_exists"


def test_a_test_stays_the_same_at_another_address_of_the_site(platform: MTurk) -> None:
    """White space does not count either; another picture does."""
    first, moved, other = (
        replace(posted_test("A", f"http://{picture}.png"), name="A picture")
        for picture in ("a.org/pictures/1", "b.org:81/m/pictures/1", "a.org/pictures/2")
    )
    kept = platform.qualification(first)
    assert platform.qualification(moved) == kept
    assert platform.qualification(replace(moved, answer_key=f"{moved.answer_key}\n")) == kept
    with pytest.raises(PlatformRefused, match="another test"):
        platform.qualification(other)


def posted_test(right: str, picture: str = "http://a.org/pictures/a.png") -> PostableTest:
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
        "<QuestionContent><Text>Which?</Text><Binary><MimeType><Type>image</Type></MimeType>"
        f"<DataURL>{picture}</DataURL><AltText>A</AltText></Binary></QuestionContent>"
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
