"""The test before the work: post it once, require it of workers, keep its scores."""

from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.domain.hit import PostableTest, QualificationRequirement
from piecework.domain.ids import QualificationTypeId
from piecework.domain.qualification import QualificationTest
from piecework.hit_templates.qualification import answer_key, question_form
from piecework.store import platform_types, qualification_scores


def requirements(run: CampaignRun) -> tuple[QualificationRequirement, ...]:
    """Return what the campaign's test demands of workers; empty without a test."""
    test = run.campaign.qualification
    if test is None:
        return ()
    return (
        QualificationRequirement(
            qualification_type_id=post_test(run, test),
            comparator="GreaterThanOrEqualTo",
            integer_values=(test.least_passing,),
            lets_look=True,
        ),
    )


def is_posted(opened: OpenedCampaign) -> bool:
    """Return whether the campaign has a test that workers may have taken."""
    return (
        opened.campaign.qualification is not None
        and platform_types.get(opened.store, "test") is not None
    )


def keep_scores(run: CampaignRun) -> None:
    """Record who has taken the test so far and their scores; they may take it again."""
    type_id = QualificationTypeId(str(platform_types.get(run.store, "test")))
    scores = dict(run.platform.scores(type_id))
    qualification_scores.keep(run.store, scores, at=run.clock.now())


def post_test(run: CampaignRun, test: QualificationTest) -> QualificationTypeId:
    """Create the test's qualification type once, and return its id."""
    # Creating it twice has no further effect: it is found by its name.
    if (known := platform_types.get(run.store, "test")) is not None:
        return QualificationTypeId(known)
    type_id = run.platform.qualification(
        PostableTest(
            name=test.name,
            description=test.task.description,
            question_form=question_form(test, site=run.platform.endpoint),
            answer_key=answer_key(test),
            duration_seconds=test.duration_seconds,
            retry_seconds=test.retry_seconds,
        )
    )
    platform_types.keep(run.store, "test", type_id)
    return type_id
