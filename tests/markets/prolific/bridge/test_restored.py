"""A file that is brought back from a copy pays nothing and publishes nothing twice.

The copy is a real file, put in the place of the marketplace's while nothing is served.
What happened since is at Prolific alone; a person decides what it means.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.markets.prolific.bridge.deciding import LAST_DAY
from piecework.markets.prolific.bridge.serving import step
from piecework.markets.prolific.bridge.status import committed_cents, last_start
from tests.markets.prolific.bridge.test_by_hand import Telling
from tests.markets.prolific.bridge.test_pay import LATER, answer_all, decide, pass_days
from tests.markets.prolific.bridge.town import Town, Visitor, a_town

COST = 110 + 36 + 7
"""A visit of two HITs of 55 pence: a fee of 36.3 and a tax of 7.2 on it."""


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    """A town whose file says how it is served, for commands."""
    with a_town(tmp_path) as town:
        with town.bridge.backend.transaction() as transaction:
            last_start(town.researcher.url, town.bridge.terms).keep(transaction)
        yield town


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROLIFIC_TOKEN", "rehearsal-token")


def _prolific(town: Town, *words: str) -> Result:
    command = ["market", "prolific", *words, "--database", str(town.machine.database)]
    if words[0] == "reconcile":
        command += ["--url", town.researcher.url]
    return CliRunner().invoke(main, command)


def _send_bonus(town: Town, visitor: Visitor, amount: str, number: int = 0) -> None:
    rows = town.rows(
        "SELECT assignment_id FROM assignments JOIN workers ON workers.id = worker "
        "WHERE worker_id = ? ORDER BY assignments.id",
        visitor.worker_id,
    )
    town.requester.send_bonus(
        WorkerId=visitor.worker_id,
        AssignmentId=rows[number]["assignment_id"],
        BonusAmount=amount,
        Reason="Thank you",
    )


def _bonuses(town: Town, visitor: Visitor) -> list[int]:
    paid: list[int] = town.researcher.submission(visitor.submission_id)["bonus_payments"]
    return paid


def _approved(town: Town, people: int, **changes: object) -> list[Visitor]:
    """Participants whose work was approved and paid."""
    town.post(hits=2, assignments=people, **{**LATER, **changes})
    town.settle()
    study = town.study()
    visitors = [town.visitor() for _ in range(people)]
    for visitor in visitors:
        visitor.work(study)
        decide(town, visitor, "approve", 0, 1)
    town.settle()
    return visitors


def _committed(town: Town) -> int:
    with town.bridge.backend.transaction() as transaction:
        return committed_cents(transaction)


def _taken(town: Town) -> int:
    """What Prolific took and holds, by its own books."""
    accounts = town.researcher.books()["accounts"]
    taken = ("rewards", "bonuses", "fees", "vat", "held")
    return sum(accounts.get(name, 0) for name in taken)


def test_bonuses_that_the_copy_lacks_are_not_paid_again(town: Town) -> None:
    """The requester's program sends them again; a person says that they are those."""
    ann, bob, cat = _approved(town, 3)
    copy = town.copy()
    _send_bonus(town, ann, "0.51")
    _send_bonus(town, bob, "0.20")
    town.settle()
    town.restore(copy)
    for visitor, amount in ((ann, "0.51"), (bob, "0.20"), (cat, "0.10")):
        _send_bonus(town, visitor, amount)
    town.settle()
    assert [_bonuses(town, each) for each in (ann, bob, cat)] == [[51], [20], [10]]
    assert _committed(town) >= _taken(town)

    waiting = town.rows("SELECT * FROM bonus_batches WHERE stage <> 'Paid'")
    shown = _prolific(town, "status").stdout
    for batch, visitor in zip(waiting, (ann, bob), strict=True):
        assert f"`piecework market prolific settle {batch['batch_id']}`" in shown
        assert f"the submission {visitor.submission_id} has bonuses" in shown
    looked = _prolific(town, "reconcile")
    assert looked.exit_code == 1
    assert f"bonuses of the submission {ann.submission_id}: £0.51" in looked.stdout

    batches = [batch["batch_id"] for batch in waiting]
    assert _prolific(town, "settle", *batches, "--paid").exit_code == 0
    town.settle()
    assert [_bonuses(town, each) for each in (ann, bob, cat)] == [[51], [20], [10]]
    assert _committed(town) == _taken(town)
    town.check_books()
    assert "no difference" in _prolific(town, "reconcile").stdout


def test_a_bonus_that_prolific_does_not_show_yet_is_not_paid_again(town: Town) -> None:
    """After a start none is paid for as long as one may be on its way."""
    town.bridge.terms = replace(town.bridge.terms, bonus_pause_seconds=600)
    [ann] = _approved(town, 1)
    town.wait(minutes=11)
    copy = town.copy()
    town.researcher.control("PUT", "/switches", {"settling_seconds": 300})
    _send_bonus(town, ann, "0.51")
    town.settle()
    town.restore(copy)
    _send_bonus(town, ann, "0.51")
    town.settle()
    assert "wait for a few minutes after the start" in _prolific(town, "status").stdout
    assert _bonuses(town, ann) == []
    town.wait(minutes=11)
    town.settle()
    [batch] = town.rows("SELECT * FROM bonus_batches")
    assert f"piecework market prolific settle {batch['batch_id']}" in batch["trouble"]
    assert _bonuses(town, ann) == [51]


def test_a_batch_of_the_copy_that_was_paid_since_is_not_paid_again(tmp_path: Path) -> None:
    """It was set up when the copy was made, and waited for `--live`."""
    with a_town(tmp_path) as town:
        [ann] = _approved(town, 1)
        _send_bonus(town, ann, "0.51")
        live = town.bridge.terms
        town.bridge.terms = replace(live, is_live=False)
        town.settle()
        assert [row["stage"] for row in town.rows("SELECT * FROM bonus_batches")] == ["Made"]
        copy = town.copy()
        town.bridge.terms = live
        town.settle()
        assert _bonuses(town, ann) == [51]
        town.restore(copy)
        town.settle()
        assert _bonuses(town, ann) == [51]
        [batch] = town.rows("SELECT * FROM bonus_batches")
        assert _prolific(town, "settle", batch["batch_id"], "--paid").exit_code == 0
        town.settle()
        town.check_books()


def test_a_bonus_beside_those_that_the_copy_lacks_is_paid_on_a_persons_word(town: Town) -> None:
    """Another amount cannot be taken for it; what is decided is not asked again."""
    [ann] = _approved(town, 1)
    copy = town.copy()
    _send_bonus(town, ann, "0.51")
    town.settle()
    town.restore(copy)
    _send_bonus(town, ann, "0.20")
    town.settle()
    [batch] = town.rows("SELECT * FROM bonus_batches")
    refused = _prolific(town, "settle", batch["batch_id"], "--paid")
    assert refused.exit_code == 2
    assert "shows no bonus of £0.20" in refused.stderr
    assert _prolific(town, "settle", batch["batch_id"], "--unpaid").exit_code == 0
    town.settle()
    assert _bonuses(town, ann) == [51, 20]
    assert _committed(town) == _taken(town)
    town.settle()
    assert _bonuses(town, ann) == [51, 20]


def test_a_bonus_that_is_not_among_those_of_prolific_says_nothing_of_the_next(town: Town) -> None:
    """Two of three equal bonuses were paid after the copy; the third comes first."""
    [ann] = _approved(town, 1)
    copy = town.copy()
    for _ in range(2):
        _send_bonus(town, ann, "0.51")
        town.settle()
    town.restore(copy)
    for number, word in enumerate(("--unpaid", "--paid", "--paid")):
        _send_bonus(town, ann, "0.51")
        town.settle()
        [batch] = town.rows("SELECT * FROM bonus_batches WHERE stage <> 'Paid'")
        assert "(£0.51, £0.51)" in batch["trouble"] or number == 2
        assert _prolific(town, "settle", batch["batch_id"], word).exit_code == 0
        town.settle()
        assert _bonuses(town, ann) == [51, 51, 51]
    assert _committed(town) == _taken(town)
    _send_bonus(town, ann, "0.51")
    town.settle()
    assert _bonuses(town, ann) == [51, 51, 51, 51]
    town.check_books()


def test_a_reward_that_a_bonus_paid_since_is_not_paid_by_taking_a_rejection_back(
    town: Town,
) -> None:
    """The copy knows the rejection alone; Prolific takes rejections back meanwhile."""
    town.post(hits=2, **LATER)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    decide(town, ann, "reject", 0, 1)
    pass_days(town, 9)
    copy = town.copy()
    town.researcher.control("PUT", "/switches", {"unreject": False})
    decide(town, ann, "take back", 0, 1)
    town.settle()
    assert _bonuses(town, ann) == [110]
    town.researcher.control("PUT", "/switches", {"unreject": True})
    town.restore(copy)
    decide(town, ann, "take back", 0, 1)
    town.settle()
    submission = town.researcher.submission(ann.submission_id)
    assert (submission["status"], submission["bonus_payments"]) == ("REJECTED", [110])
    [batch] = town.rows("SELECT * FROM bonus_batches")
    assert _prolific(town, "settle", batch["batch_id"], "--paid").exit_code == 0
    town.settle()
    town.check_books()


def _lose_a_study(town: Town) -> tuple[str, Visitor, Visitor]:
    """A study that the restored file lacks: one has done it, one is at work there."""
    town.post(hits=2, assignments=3, **LATER)
    copy = town.copy()
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    ann.work(study)
    answer_all(bob, study)  # and has not entered the code yet
    town.wait(minutes=1)
    town.restore(copy)
    return study, ann, bob


def test_a_study_that_the_copy_lacks_is_not_published_again(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    """Log, `status` and `reconcile` say so; the cap counts it; adopted, it goes on."""
    study, ann, bob = _lose_a_study(town)
    town.settle()
    assert [each["id"] for each in town.studies()] == [study]
    assert _committed(town) == _taken(town) == 3 * COST
    sentence = f"3 places, 2 submissions, £0.00 spent, £{3 * COST / 100} held"
    assert study in caplog.text
    assert sentence in caplog.text
    shown = _prolific(town, "status").stdout
    assert f"piecework market prolific reconcile --adopt {study}" in shown
    assert f"3 places, 2 submissions; £0.00 spent, £{3 * COST / 100} held" in shown
    looked = _prolific(town, "reconcile")
    assert looked.exit_code == 1
    assert sentence in looked.stdout
    # Whoever comes meanwhile is told to wait, and nobody is turned away.
    cat = town.visitor()
    link = cat.open(study)
    page = cat.http.post("/visit/arrive", data={**link, "agreed": "1"})
    assert page.status_code == 503
    assert "Your place is kept" in page.text

    adopted = _prolific(town, "reconcile", "--adopt", study)
    assert "adopted; 1 submissions are paid without answers" in adopted.stdout
    town.settle()
    assert [each["id"] for each in town.studies()] == [study]
    assert town.researcher.submission(ann.submission_id)["status"] == "APPROVED"
    # Bob's answers are lost too, but he has the code; cat begins.
    bob.complete(bob.submission_id, town.rows("SELECT code FROM studies")[0]["code"])
    assert cat.http.post("/visit/arrive", data={**link, "agreed": "1"}).is_success
    while cat.visit()["stage"] == "Open":
        cat.answer()
    cat.complete(cat.submission_id, cat.visit()["code"])
    town.settle()
    there = town.researcher.submission(bob.submission_id)
    assert there["return_requested"] is None
    assert _prolific(town, "reconcile", "--pay-lost", study).exit_code == 0
    [row] = town.rows(
        "SELECT worker_id FROM workers JOIN participants ON worker = workers.id "
        "WHERE participant_id = ?",
        cat.participant_id,
    )
    cat.worker_id = row["worker_id"]
    decide(town, cat, "approve", 0, 1)
    town.settle()
    for visitor in (ann, bob, cat):
        submission = town.researcher.submission(visitor.submission_id)
        assert submission["status"] == "APPROVED"
    town.check_books()
    assert _committed(town) >= _taken(town)


def test_a_study_that_is_adopted_while_a_step_looks_at_it_is_known(town: Town) -> None:
    """A person's command runs beside the server; its step has listed the study."""
    study, *_ = _lose_a_study(town)
    town.settle()

    def adopt_it() -> None:
        assert "adopted" in _prolific(town, "reconcile", "--adopt", study).stdout

    with Telling(town, "get-study-cost", adopt_it) as bridge:
        for _ in range(4):
            step(bridge)
    assert town.rows("SELECT * FROM unknown_studies") == []
    assert [each["id"] for each in town.studies()] == [study]


def test_a_study_that_is_left_counts_and_another_is_published(tmp_path: Path) -> None:
    """It is stopped; what Prolific takes for it counts for the cap in the end too."""
    with a_town(tmp_path, spend_at_most_cents=5 * COST) as town:
        study, ann, _ = _lose_a_study(town)
        town.settle()
        with town.bridge.backend.transaction() as transaction:
            last_start(town.researcher.url, town.bridge.terms).keep(transaction)
        assert _prolific(town, "reconcile", "--leave", study).exit_code == 0
        assert town.researcher.status(study) == "COMPLETED"
        assert _committed(town) == 2 * COST
        town.settle()
        [other] = [each for each in town.studies() if each["id"] != study]
        assert other["status"] == "ACTIVE"
        assert _committed(town) == _taken(town) == 5 * COST
        shown = _prolific(town, "status").stdout
        assert "left to Prolific, which pays the participants" in shown
        town.wait(days=22)
        town.settle()
        submission = town.researcher.submission(ann.submission_id)
        assert submission["status"] == "APPROVED"


def test_a_program_that_posts_its_hits_again_publishes_nothing_again(town: Town) -> None:
    """The copy lacks the HIT type too; a person names the one that stands for it."""
    copy = town.copy()
    town.post(hits=2, assignments=2, Title="Once", **LATER)
    town.settle()
    study, ann = town.study(), town.visitor()
    ann.work(study)
    town.restore(copy)
    # Live, the same type has another id; here, another type has.
    town.post(hits=2, assignments=2, Title="Once", Keywords="other", **LATER)
    town.settle()
    assert [each["id"] for each in town.studies()] == [study]
    refused = _prolific(town, "reconcile", "--adopt", study)
    assert refused.exit_code == 2
    [row] = town.rows("SELECT hit_type_id FROM hit_types WHERE title = 'Once'")
    words = ("--adopt", study, "--hit-type", row["hit_type_id"])
    assert _prolific(town, "reconcile", *words).exit_code in (0, 1)
    town.settle()
    assert town.researcher.submission(ann.submission_id)["status"] == "APPROVED"
    assert [each["id"] for each in town.studies()] == [study]
    town.visitor().work(study)
    town.check_books()


def test_a_study_that_is_still_being_published_is_left_once_it_is_active(town: Town) -> None:
    """Prolific stops none that is PUBLISHING; a person reads so, and when to ask."""
    town.researcher.control("PUT", "/switches", {"publishing_seconds": 600})
    copy = town.copy()
    town.post(hits=2, assignments=1, **LATER)
    for _ in range(4):
        step(town.bridge)
    [study] = [each["id"] for each in town.studies()]
    assert town.researcher.status(study) == "PUBLISHING"
    town.restore(copy)
    town.settle()
    refused = _prolific(town, "reconcile", "--leave", study)
    assert refused.exit_code == 2
    sentence = f"the study {study} is PUBLISHING at Prolific"
    assert sentence in " ".join(refused.stderr.split())
    assert f"piecework market prolific reconcile --leave {study}" in refused.stderr
    [waiting] = town.rows("SELECT is_left FROM unknown_studies")
    assert not waiting["is_left"]
    town.wait(minutes=11)
    assert _prolific(town, "reconcile", "--leave", study).exit_code == 0
    assert town.researcher.status(study) == "COMPLETED"


@pytest.mark.parametrize("minutes", [1, 60], ids=["at once", "when time is over"])
def test_who_did_a_known_study_after_the_copy_is_paid_on_a_persons_word(
    town: Town, minutes: int
) -> None:
    """`reconcile` says how many ended it by its code and have no answers here."""
    town.post(hits=2, assignments=3, **LATER)
    town.settle()
    study, ann, bob = town.study(), town.visitor(), town.visitor()
    assert bob.arrive(study).status_code == 201
    copy = town.copy()
    ann.work(study)
    while bob.visit()["stage"] == "Open":
        bob.answer()
    bob.complete(bob.submission_id, bob.visit()["code"])
    town.wait(minutes=minutes)
    town.restore(copy)
    town.settle()
    shown = _prolific(town, "status").stdout
    for visitor in (ann, bob):
        assert f"the submission {visitor.submission_id} has ended, but its" in shown
        there = town.researcher.submission(visitor.submission_id)
        assert there["return_requested"] is None
    looked = _prolific(town, "reconcile")
    assert "2 submissions have ended, but their answers are not" in looked.stdout
    assert f"--pay-lost {study}" in looked.stdout
    assert _prolific(town, "reconcile", "--pay-lost", study).exit_code == 0
    town.settle()
    for visitor in (ann, bob):
        submission = town.researcher.submission(visitor.submission_id)
        assert submission["status"] == "APPROVED"
    town.check_books()


@pytest.mark.parametrize("code", ["NOCODE", "AN0THER"])
def test_who_ended_without_the_code_after_the_copy_is_not_rejected(town: Town, code: str) -> None:
    """The campaign's store may have the answers, so a person decides."""
    town.post(hits=2, assignments=3, **LATER)
    town.settle()
    study, ann, bob = town.study(), town.visitor(), town.visitor()
    assert bob.arrive(study).status_code == 201
    copy = town.copy()
    town.wait(minutes=1)
    for person in (ann, bob):
        if person is ann:
            assert person.arrive(study).status_code == 201
        while person.visit()["stage"] == "Open":
            person.answer()
        person.complete(person.submission_id, code)
    town.restore(copy)
    town.settle()
    town.wait(days=LAST_DAY - 1)
    town.settle()
    for person in (ann, bob):
        there = town.researcher.submission(person.submission_id)
        assert there["status"] == "AWAITING REVIEW"
        assert there["return_requested"] is None
    assert f"--pay-lost {study}" in _prolific(town, "status").stdout
    done = _prolific(town, "reconcile", "--pay-lost", study)
    assert done.exit_code == 0, done.output
    town.settle()
    town.check_books()


def test_who_ended_without_answers_after_the_start_is_asked_to_return(town: Town) -> None:
    """All that came in since this start of the server is in its file."""
    town.post(hits=2, assignments=3, **LATER)
    town.settle()
    copy = town.copy()
    town.wait(minutes=1)
    town.restore(copy)
    town.settle()
    town.wait(minutes=1)
    eve = town.visitor()
    eve.open(town.study())
    eve.complete(eve.submission_id, "NOCODE")
    town.settle()
    there = town.researcher.submission(eve.submission_id)
    assert there["return_requested"] is not None


def test_a_message_that_was_sent_after_the_copy_is_not_sent_again(town: Town) -> None:
    """It waits in the copy; the same words once more are another message."""
    [ann] = _approved(town, 1)
    town.wait(minutes=1)
    for _ in range(2):
        town.requester.notify_workers(
            Subject="Hello", MessageText="Thank you.", WorkerIds=[ann.worker_id]
        )
    copy = town.copy()
    town.settle()
    town.restore(copy)
    town.settle()
    town.wait(minutes=1)
    assert len(ann.ask("GET", "/messages")["results"]) == 2
    town.requester.notify_workers(
        Subject="Hello", MessageText="Thank you.", WorkerIds=[ann.worker_id]
    )
    town.settle()
    assert len(ann.ask("GET", "/messages")["results"]) == 3
