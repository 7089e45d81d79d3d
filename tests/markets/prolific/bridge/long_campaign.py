"""A campaign that makes the bridge use every call that changes something at Prolific.

People do what people do: finish, forget the code, enter a wrong one, leave, run out of
time, take a place and never come, come and find no work; the requester approves,
rejects, takes a rejection back, pays bonuses, writes, grants, blocks, posts more and
stops. Nobody waits for the bridge but by time, so all of it can be run under any
fault.
"""

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from piecework.markets.prolific.bridge.bonuses import settle_unknown
from piecework.markets.prolific.bridge.serving import step
from tests.markets.prolific.bridge.disturbed import Call, Fault, Lives
from tests.markets.prolific.bridge.town import Town, Visitor, a_town

MOST_DAYS = 40
SCREEN_OUT_CENTS = 20
LATER = 20 * 24 * 3600
LONG_AGO = datetime(2015, 1, 1, tzinfo=UTC)
REASON = "[LOW_EFFORT] Each caption was a single word, though a sentence was asked for."


class LongCampaign:
    """The campaign, from the first HIT to the last payment."""

    def __init__(self, town: Town, lives: Lives) -> None:
        self.town, self.lives = town, lives
        self.requester = town.requester
        self.people: dict[str, Visitor] = {}
        self.messages: Counter[tuple[str, str]] = Counter()
        self.trained = ""
        self._hits: list[str] = []

    def run(self) -> None:
        """From its beginning to its end."""
        self._recruit()
        self._change_groups()
        self._raise_places()
        self._let_only_the_trained_in()
        self._want_what_is_too_dear()
        self._stop()
        self._decide()
        self._let_days_pass()

    def person(self, name: str) -> Visitor:
        """Somebody, by a name of ours."""
        if name not in self.people:
            self.people[name] = self.town.visitor()
        return self.people[name]

    def submission(self, name: str) -> dict[str, Any]:
        """What became of somebody's last submission at Prolific."""
        submission: dict[str, Any] = self.town.researcher.submission(
            self.person(name).submission_id
        )
        return submission

    def study(self) -> str:
        """The one study that recruits; not from a list, since those may lag."""
        [study_id] = self._recruiting()
        return study_id

    def _recruiting(self) -> list[str]:
        ids = self.town.rows("SELECT study_id FROM studies WHERE stage = 'Published'")
        return [
            row["study_id"]
            for row in ids
            if self.town.researcher.status(row["study_id"]) == "ACTIVE"
        ]

    def _post(self, hits: int, assignments: int = 1, **changes: object) -> list[str]:
        parameters = {"AutoApprovalDelayInSeconds": LATER, **changes}
        posted = self.town.post(hits, assignments, **parameters)
        self.lives.settle()
        return posted

    def _recruit(self) -> None:
        made = self.requester.create_qualification_type(
            Name="Trained", Description="Was trained.", QualificationTypeStatus="Active"
        )
        self.trained = made["QualificationType"]["QualificationTypeId"]
        untrained = {"QualificationTypeId": self.trained, "Comparator": "DoesNotExist"}
        self._hits = self._post(
            6, assignments=2, QualificationRequirements=[untrained], Title="Captions"
        )
        study = self.study()
        assert self.person("eve").arrive(study).status_code == 201  # and never moves
        dan = self.person("dan")
        assert dan.arrive(study).status_code == 201
        dan.http.post("/visit/leave")
        dan.give_back(dan.submission_id)
        self.person("ann").work(study)
        self.lives.settle()
        self._answer_all("bob", study)  # and forgets the code
        self._answer_all("cat", study)
        self.person("cat").complete(self.person("cat").submission_id, "WR0NG")
        self.lives.settle()

    def _answer_all(self, name: str, study: str) -> None:
        visitor = self.person(name)
        assert visitor.arrive(study).status_code == 201
        while visitor.visit()["stage"] == "Open":
            visitor.answer()

    def _change_groups(self) -> None:
        worker = {name: person.worker_id for name, person in self.people.items()}
        for name in ("ann", "cat"):
            self.requester.associate_qualification_with_worker(
                QualificationTypeId=self.trained, WorkerId=worker[name], IntegerValue=1
            )
        self.requester.create_worker_block(WorkerId=worker["dan"], Reason="Spam")
        self.lives.settle()
        self.requester.disassociate_qualification_from_worker(
            QualificationTypeId=self.trained, WorkerId=worker["cat"]
        )
        self.requester.delete_worker_block(WorkerId=worker["dan"])
        self.lives.settle()
        self.town.wait(minutes=5)
        self.lives.settle()  # bob is helped
        self.town.wait(minutes=20)
        self.lives.settle()  # eve is too late
        study = self.study()
        for name in ("fay", "gus", "hal"):
            self.person(name).work(study)
        self.lives.settle()

    def _raise_places(self) -> None:
        for number, hit_id in enumerate(self._hits[:2]):
            self.requester.create_additional_assignments_for_hit(
                HITId=hit_id, NumberOfAdditionalAssignments=1, UniqueRequestToken=f"more {number}"
            )
        self.lives.settle()
        study = self.study()
        code = self.town.rows("SELECT code FROM studies WHERE study_id = ?", study)
        # The code is the same for all; somebody may have told it.
        ida = self.person("ida")
        ida.open(study)
        ida.complete(ida.submission_id, code[0]["code"])
        self.town.wait(hours=2)  # Lists that lag show her by then.
        self.lives.settle()
        self.person("jon").work(self.study())
        self.lives.settle()

    def _let_only_the_trained_in(self) -> None:
        only = {"QualificationTypeId": self.trained, "Comparator": "Exists"}
        self._post(2, QualificationRequirements=[only], Title="For the trained")
        study = self.study()
        assert study not in self.person("bob").studies()
        self.person("ann").work(study)
        self.lives.settle()

    def _want_what_is_too_dear(self) -> None:
        dear = self._post(2, Reward="400.00", Title="Too dear")
        assert not self._recruiting()
        self._expire(dear)
        self.lives.settle()

    def _stop(self) -> None:
        hits = self._post(4, Title="Stopped early")
        self.person("kim").work(self.study())
        self.lives.settle()
        study = self.study()
        self._expire(hits)
        # Before the bridge has stopped the study, somebody comes who finds no work.
        assert self.person("lea").arrive(study).status_code == 201
        assert self.person("lea").visit()["stage"] == "TurnedAway"
        self.lives.settle()

    def _expire(self, hits: list[str]) -> None:
        for hit_id in hits:
            self.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)

    def assignments(self, name: str) -> list[str]:
        """The assignments of somebody's that were submitted."""
        return [
            row["assignment_id"]
            for row in self.town.rows(
                "SELECT assignment_id FROM assignments JOIN workers "
                "ON workers.id = assignments.worker WHERE worker_id = ? "
                "AND submitted_ms IS NOT NULL ORDER BY assignments.id",
                self.person(name).worker_id,
            )
        ]

    def _decide(self) -> None:
        for name in ("ann", "bob", "cat", "jon", "kim"):
            for assignment_id in self.assignments(name):
                self.requester.approve_assignment(AssignmentId=assignment_id)
        for name in ("fay", "gus", "hal"):
            for assignment_id in self.assignments(name):
                self.requester.reject_assignment(
                    AssignmentId=assignment_id, RequesterFeedback=REASON
                )
        for name, amount in (("ann", "0.25"), ("ann", "0.25"), ("cat", "0.10")):
            self.requester.send_bonus(
                WorkerId=self.person(name).worker_id,
                AssignmentId=self.assignments(name)[0],
                BonusAmount=amount,
                Reason="Thank you",
            )
        self._write("Hello", ["ann"])
        self._write("Thanks", ["ann", "bob", "cat"])
        self.lives.settle()

    def _write(self, subject: str, names: list[str]) -> None:
        self.requester.notify_workers(
            Subject=subject,
            MessageText="We write about your answers.",
            WorkerIds=[self.person(name).worker_id for name in names],
        )
        for name in names:
            self.messages[name, subject] += 1

    def _let_days_pass(self) -> None:
        """Each day people look at what they were told, until nobody waits."""
        is_overturned = False
        for _ in range(MOST_DAYS):
            if self.submission("fay")["return_requested"] and (
                self.submission("fay")["status"] == "AWAITING REVIEW"
            ):
                self.person("fay").give_back(self.person("fay").submission_id)
            if self.submission("gus")["status"] == "REJECTED" and not is_overturned:
                for assignment_id in self.assignments("gus"):
                    self.requester.approve_assignment(
                        AssignmentId=assignment_id, OverrideRejection=True
                    )
                    self.lives.settle()
                is_overturned = True
            self._say_what_was_paid()
            self.town.wait(days=1)
            self.lives.settle()
            if is_overturned and not self._waiting():
                return
        raise AssertionError(f"after {MOST_DAYS} days there wait {self._waiting()}")

    def _say_what_was_paid(self) -> None:
        """A person looks at Prolific, and says what the bridge cannot know."""
        unknown = self.town.rows("SELECT * FROM bonus_batches WHERE trouble LIKE '%is not known%'")
        if unknown:
            self.lives.wait_for_slow()
        paid = {bonus["batch"] for bonus in self.town.researcher.books()["bonus_payments"]}
        for batch in unknown:
            with self.town.bridge.backend.transaction() as transaction:
                settle_unknown(transaction, batch["batch_id"], is_paid=batch["batch_id"] in paid)

    def _waiting(self) -> list[dict[str, Any]]:
        return (
            self.town.rows("SELECT * FROM visits WHERE outcome IS NULL")
            + self.town.rows("SELECT * FROM bonus_batches WHERE stage <> 'Paid'")
            + self.town.rows("SELECT * FROM bonus_lines WHERE batch IS NULL")
            + self.town.rows("SELECT * FROM studies WHERE stage <> 'Retired'")
            + self.town.rows("SELECT * FROM messages WHERE sent_there IS NULL")
        )


def campaign_to_its_end(
    folder: Path,
    fault: Fault | None = None,
    call: Call | None = None,
    *,
    switches: Mapping[str, object] | None = None,
) -> Lives:
    """Run the campaign under a fault, and check all that must be true then."""
    with (
        a_town(folder, screen_out_cents=SCREEN_OUT_CENTS) as town,
        closing(Lives(town, fault, call)) as lives,
    ):
        if switches:
            town.researcher.control("PUT", "/switches", dict(switches))
        campaign = LongCampaign(town, lives)
        campaign.run()
        check(campaign)
    return lives


def check(campaign: LongCampaign) -> None:
    """Nothing twice, nothing lost, and all books alike."""
    town = campaign.town
    campaign.lives.settle()
    assert not step(town.bridge)
    town.check_books()
    check_studies(town)
    check_answers(town)
    check_pay(town)
    _check_people(campaign)
    _check_messages(campaign)


def check_studies(town: Town) -> None:
    """No study was published twice, and nothing beyond the cap was spent."""
    published = Counter(
        study["internal_name"]
        for study in town.studies()
        if study["status"] not in ("UNPUBLISHED", "SCHEDULED")
    )
    assert set(published.values()) <= {1}, published
    accounts = town.researcher.books()["accounts"]
    spent = ("rewards", "bonuses", "fees", "vat")
    assert sum(accounts.get(name, 0) for name in spent) <= (town.bridge.terms.spend_at_most_cents)


def check_answers(town: Town) -> None:
    """No submission that is paid for answers is without them, and none is beside it."""
    rows = town.rows(
        "SELECT visits.submission_id, visits.stage, studies.hits_per_visit, "
        "count(assignments.answer) AS answers FROM visits "
        "JOIN studies ON studies.id = visits.study "
        "LEFT JOIN assignments ON assignments.visit = visits.id GROUP BY visits.id"
    )
    for row in rows:
        whole = row["hits_per_visit"] if row["stage"] == "Done" else 0
        assert row["answers"] == whole, row
    here = {row["submission_id"] for row in rows}
    books = town.researcher.books()["submissions"]
    paid = {submission["id"] for submission in books if submission["reward_paid"]}
    assert paid <= here
    assert here <= {submission["id"] for submission in books}


def check_pay(town: Town) -> None:
    """Each approved assignment was paid once, each bonus too, and nothing else."""
    books = town.researcher.books()
    reward_paid = {
        submission["id"]: submission["reward_paid"] for submission in books["submissions"]
    }
    bonuses: dict[str, list[int]] = {}
    for bonus in books["bonus_payments"]:
        bonuses.setdefault(bonus["submission"], []).append(bonus["amount"])
    for visit in town.rows(
        "SELECT visits.*, studies.reward_cents, (SELECT coalesce(sum(paid_cents), 0) "
        "FROM assignments WHERE visit = visits.id) AS earned FROM visits "
        "JOIN studies ON studies.id = visits.study"
    ):
        sent = [
            row["cents"]
            for row in town.rows(
                "SELECT bonuses.cents FROM bonuses JOIN assignments "
                "ON assignments.id = bonuses.assignment WHERE assignments.visit = ?",
                visit["id"],
            )
        ]
        got = reward_paid.get(visit["submission_id"], 0)
        more = sum(bonuses.get(visit["submission_id"], [])) - sum(sent)
        where = (visit, got, more)
        promised = visit["screen_out_cents"]
        if visit["outcome"] == "PaidByBonus":
            assert (got, more) == (0, visit["earned"] + promised), where
        elif promised:
            assert (got, more) == (promised, 0), where
        elif visit["earned"]:
            assert (got, more) == (visit["reward_cents"], 0), where
        else:
            assert (got, more) == (0, 0), where


def _check_people(campaign: LongCampaign) -> None:
    status = {name: campaign.submission(name)["status"] for name in campaign.people}
    can_unreject = campaign.town.researcher.control("GET", "/switches")["unreject"]
    assert status == {
        **dict.fromkeys(("ann", "bob", "cat", "jon", "kim"), "APPROVED"),
        "dan": "RETURNED",
        "eve": "TIMED-OUT",
        "fay": "RETURNED",
        "gus": "APPROVED" if can_unreject else "REJECTED",
        "hal": "REJECTED",
        "ida": "REJECTED",
        "lea": "SCREENED OUT",
    }, json.dumps(status)


def _check_messages(campaign: LongCampaign) -> None:
    unknown = campaign.town.rows("SELECT 1 FROM messages WHERE sent_there = 'Unknown'")
    got: Counter[tuple[str, str]] = Counter()
    for name, person in campaign.people.items():
        for message in person.ask("GET", "/messages")["results"]:
            subject = message["body"].split("\n", 1)[0]
            if subject in ("Hello", "Thanks"):
                got[name, subject] += 1
    assert got <= campaign.messages
    if not unknown:
        assert got == campaign.messages
