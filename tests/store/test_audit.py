"""The audit trail in stores of each kind: nothing of it changes or disappears."""

from datetime import timedelta

import pytest

from piecework.domain.clock import FixedClock
from piecework.domain.verdicts import Decision
from piecework.store import decisions, reviews
from piecework.store.database import Store, writing
from piecework.store.reviews import Identity

ADA = Identity(name="Ada", role="requester", issuer="https://login.x", subject="42")


def _keep(answer_id: str, by: str, clock: FixedClock) -> Decision:
    return Decision(
        subject_kind="answer",
        subject_id=answer_id,
        verdict="keep",
        decided_by=by,
        decided_at=clock.now(),
        because="looked at",
    )


def test_the_trail_is_in_order_and_knows_who_signed_in(store: Store, clock: FixedClock) -> None:
    """Decisions of the page, of a file, and of the policy, which is no person."""
    with writing(store):
        reviews.add_event(store, "signed in", ADA, at=clock.now())
        reviews.add_event(store, "signed in", Identity(name="grace"), at=clock.now())
    clock.moment += timedelta(minutes=1)
    with writing(store):
        act = reviews.add_reviews(
            store, [_keep("a", "Ada", clock), _keep("b", "Ada", clock)], along=[]
        )
    clock.moment += timedelta(minutes=1)
    with writing(store):
        reviews.take_back(store, act, at=clock.now(), by="grace")
        reviews.add_second_opinions(store, [_keep("d", "Ada", clock)])
    clock.moment += timedelta(minutes=1)
    decisions.keep_decisions(store, [_keep("c", "kay", clock), _keep("e", "policy:birds", clock)])
    assert [
        (entry.event, entry.identity.name, entry.identity.subject, entry.about)
        for entry in reviews.trail(store)
    ] == [
        ("signed in", "Ada", "42", ""),
        ("signed in", "grace", "", ""),
        ("decided", "Ada", "42", "act 1: keep answer (2)"),
        ("second opinion", "Ada", "42", "act 2: keep answer d"),
        ("undone", "grace", "", "act 1 of Ada"),
        ("decided by a command", "kay", "", "keep answer c"),
    ]


def test_a_second_opinion_decides_nothing(store: Store, clock: FixedClock) -> None:
    """So it is not the act that has to be undone, and counts as no further subject."""
    first = _keep("a", "Ada", clock)
    with writing(store):
        act = reviews.add_reviews(store, [first], along=[_keep("b", "Ada", clock)])
        opinion = reviews.add_second_opinions(store, [_keep("a", "grace", clock)])
    assert reviews.last_act_about(store, [("answer", "a")]) == act
    assert reviews.last_act(store, "grace") == opinion
    assert reviews.number_reviewed(store, "answer") == 1
    with writing(store):
        reviews.take_back(store, act, at=clock.now(), by="Ada")
    assert reviews.last_act_about(store, [("answer", "a"), ("answer", "b")]) is None
    assert reviews.number_reviewed(store, "answer") == 0
    assert decisions.load_decisions(store) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE review_events SET name = 'eve'",
        "DELETE FROM review_events",
        "UPDATE reviews SET undone_by = 'eve'",
        "UPDATE reviews SET undone_at = NULL",
        "UPDATE reviews SET because = 'x', undone_at = 'x' WHERE undone_at IS NULL",
        "DELETE FROM reviews",
    ],
)
def test_no_row_is_changed_or_deleted(store: Store, clock: FixedClock, statement: str) -> None:
    """The database refuses it, whatever program asks."""
    with writing(store):
        reviews.add_event(store, "signed in", ADA, at=clock.now())
        act = reviews.add_reviews(store, [_keep("a", "Ada", clock)], along=[])
        reviews.take_back(store, act, at=clock.now(), by="Ada")
        reviews.add_reviews(store, [_keep("b", "Ada", clock)], along=[])
    before = list(reviews.trail(store))
    with pytest.raises(Exception, match=r"undone|audit trail|not deleted"):  # noqa: SIM117 - of either database
        with store.db.atomic():
            store.db.execute(statement)
    assert list(reviews.trail(store)) == before


def test_a_name_stays_with_the_person_who_had_it_first(store: Store, clock: FixedClock) -> None:
    """Also if it is a link's, or in reviews; the same person keeps theirs."""

    def named(subject: str, wanted: str, *, issuer: str = "i") -> str:
        with writing(store):
            return reviews.name_of(store, issuer, subject, wanted=wanted, taken=("bob",))

    with writing(store):
        reviews.add_reviews(store, [_keep("a", "ada", clock)], along=[])
        reviews.add_event(store, "signed in", Identity(name="kay"), at=clock.now())
    assert named("1", "ada") == "ada (2)"
    assert named("2", "ada") == "ada (3)"
    assert named("1", "another") == "ada (2)"
    assert named("1", "ada", issuer="j") == "ada (4)"
    assert named("3", "bob") == "bob (2)"
    assert named("4", "kay") == "kay (2)"
    assert named("5", "new") == "new"
    assert reviews.belongs_to_a_person(store, "new")
    assert not reviews.belongs_to_a_person(store, "bob")
