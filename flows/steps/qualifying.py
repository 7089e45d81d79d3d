"""The test before the work: made once, required of workers, and its scores kept."""

from domain.hit import PostableTest, QualificationRequirement
from domain.ids import QualificationTypeId
from domain.qualification import QualificationTest
from flows.workplace import Workplace
from hit_templates.qualification import answer_key, question_form
from store import scores
from store.database import about, fix

_KNOWN = "qualification"


def requirements(place: Workplace) -> tuple[QualificationRequirement, ...]:
    """What the campaign's test demands of workers; nothing if it has none."""
    test = place.campaign.qualification
    if test is None:
        return ()
    return (
        QualificationRequirement(
            qualification_type_id=_type_id(place, test),
            comparator="GreaterThanOrEqualTo",
            integer_values=(test.least_passing,),
            lets_look=True,
        ),
    )


def keep_scores(place: Workplace) -> None:
    """Write down who has taken the test by now, and how; workers may take it again."""
    known = about(place.store, _KNOWN)
    if place.campaign.qualification is not None and known is not None:
        found = dict(place.platform.scores(QualificationTypeId(known)))
        scores.keep(place.store, found, at=place.clock.now())


def _type_id(place: Workplace, test: QualificationTest) -> QualificationTypeId:
    # Making it twice makes it once: it is found again by its name.
    if (known := about(place.store, _KNOWN)) is not None:
        return QualificationTypeId(known)
    found = place.platform.qualification(
        PostableTest(
            name=test.name,
            description=test.task.description,
            question_form=question_form(test, site=place.platform.endpoint),
            answer_key=answer_key(test),
            duration_seconds=test.duration_seconds,
            retry_seconds=test.retry_seconds,
        )
    )
    fix(place.store, _KNOWN, found)
    return found
