"""Review policies over the wire: known answers on submission, plurality at the end."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.state.ledger import LAWS
from piecework.marketplace.state.review_policies import (
    Agreement,
    score_agreement,
    score_known_answers,
)
from tests.for_each import for_each
from tests.marketplace.documents import choice, form, question
from tests.marketplace.market import Market, Worker, expire, post, refusal

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

KNOWN = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"


@pytest.fixture(autouse=True)
def balanced(tmp_path: Path) -> Iterator[None]:
    """Whatever a policy did, the books balance afterwards."""
    yield
    if (tmp_path / "market.db").exists():
        with closing(sqlite3.connect(tmp_path / "market.db")) as connection:
            for law, query in LAWS.items():
                assert connection.execute(query).fetchone() is None, law


def policy(name: str, **parameters: object) -> dict[str, Any]:
    """A policy; dicts become MapEntries, lists Values."""
    policy_parameters: list[dict[str, Any]] = []
    for key, value in parameters.items():
        if isinstance(value, dict):
            entries = [{"Key": k, "Values": v} for k, v in value.items()]
            policy_parameters.append({"Key": key, "MapEntries": entries})
        else:
            values = value if isinstance(value, list) else [value]
            policy_parameters.append({"Key": key, "Values": [str(entry) for entry in values]})
    return {"PolicyName": name, "Parameters": policy_parameters}


def known(**parameters: object) -> dict[str, Any]:
    """Two known answers, and what else is given."""
    key = {"q1": ["a"], "q2": ["b", "c"]}
    return policy(KNOWN, **{"AnswerKey": key, **parameters})


def plurality(*questions: str, **parameters: object) -> dict[str, Any]:
    """Agreement on questions above one half, and what else is given."""
    settings = {"QuestionIds": list(questions), "QuestionAgreementThreshold": 50, **parameters}
    return policy(PLURALITY, **settings)


def report(client: "MTurkClient", hit_id: str, **parameters: object) -> Any:  # noqa: ANN401 - as the wire has it
    """What came of a HIT's policies."""
    wanted: dict[str, Any] = {"HITId": hit_id, "MaxResults": 100, **parameters}
    return client.list_review_policy_results_for_hit(**wanted)


def results(review_report: Any) -> set[tuple[str, str | None, str, str]]:  # noqa: ANN401 - a report
    """Results as subject, question, key and value."""
    return {
        (result["SubjectId"], result.get("QuestionId"), result["Key"], result["Value"])
        for result in review_report["ReviewResults"]
    }


def actions(review_report: Any) -> list[tuple[str, str, str, str | None]]:  # noqa: ANN401 - a report
    """Actions as name, target, status and error code."""
    return [
        (action["ActionName"], action["TargetId"], action["Status"], action.get("ErrorCode"))
        for action in review_report["ReviewActions"]
    ]


def status(client: "MTurkClient", assignment: str) -> str:
    """The state of an assignment."""
    details = client.get_assignment(AssignmentId=assignment)["Assignment"]
    return details["AssignmentStatus"]


def test_known_answers_are_scored_and_acted_on_at_submission(market: Market) -> None:
    """2 of 2 approved, 0 of 2 rejected with the reason, 1 of 2 left alone."""
    client = market.requester()
    made = post(
        client,
        MaxAssignments=3,
        AssignmentReviewPolicy=known(
            ApproveIfKnownAnswerScoreIsAtLeast=100,
            ApproveReason="All right.",
            RejectIfKnownAnswerScoreIsLessThan=50,
            RejectReason="None right.",
        ),
    )
    group = made["HITGroupId"]
    good = market.worker().do(group, q1=" a ", q2="c|b", other="x")
    half = market.worker().do(group, q1="a", q2="b")
    bad = market.worker().do(group, q1="A", q2="")
    states = [status(client, assignment) for assignment in (good, half, bad)]
    assert states == ["Approved", "Submitted", "Rejected"]
    details = client.get_assignment(AssignmentId=bad)["Assignment"]
    assert details["RequesterFeedback"] == "None right."
    shown = report(client, made["HITId"])
    assert shown["AssignmentReviewPolicy"]["PolicyName"] == KNOWN
    assert "HITReviewPolicy" not in shown
    assert results(shown["AssignmentReviewReport"]) == {
        (good, "q1", "KnownAnswerCorrect", "1"),
        (good, "q2", "KnownAnswerCorrect", "1"),
        (good, None, "KnownAnswerScore", "100"),
        (half, "q1", "KnownAnswerCorrect", "1"),
        (half, "q2", "KnownAnswerCorrect", "0"),
        (half, None, "KnownAnswerScore", "50"),
        (bad, "q1", "KnownAnswerCorrect", "0"),
        (bad, "q2", "KnownAnswerCorrect", "0"),
        (bad, None, "KnownAnswerScore", "0"),
    }
    assert actions(shown["AssignmentReviewReport"]) == [
        ("review", good, "Succeeded", None),
        ("approve", good, "Succeeded", None),
        ("review", half, "Succeeded", None),
        ("review", bad, "Succeeded", None),
        ("reject", bad, "Succeeded", None),
    ]
    assert shown["HITReviewReport"] == {"ReviewResults": [], "ReviewActions": []}


def test_a_policy_comes_before_auto_approval(market: Market) -> None:
    """With no delay at all, a bad answer is rejected and not paid."""
    client = market.requester()
    made = post(
        client,
        AutoApprovalDelayInSeconds=0,
        AssignmentReviewPolicy=known(RejectIfKnownAnswerScoreIsLessThan=100),
    )
    bad = market.worker().do(made["HITGroupId"], q1="x")
    market.wait(days=40)
    assert status(client, bad) == "Rejected"
    assert market.books()["assignments"][0]["paid_cents"] == 0


def test_a_bad_answer_brings_another_worker_up_to_the_policys_limit(market: Market) -> None:
    """One more each time, held for at once, while the HIT has fewer than the limit."""
    client = market.requester()
    made = post(
        client,
        Reward="1.00",
        AssignmentReviewPolicy=known(
            ExtendIfKnownAnswerScoreIsLessThan=100, ExtendMaximumAssignments=2
        ),
    )
    for expected, held in ((2, "2.40"), (2, "2.40")):  # (1.00 + 0.20) each
        market.worker().do(made["HITGroupId"], q1="x")
        hit = client.get_hit(HITId=made["HITId"])["HIT"]
        assert hit["MaxAssignments"] == expected
        assert client.get_account_balance()["OnHoldBalance"] == held
    shown = report(client, made["HITId"])["AssignmentReviewReport"]
    extends = [action for action in shown["ReviewActions"] if action["ActionName"] == "extend"]
    assert [action["Status"] for action in extends] == ["Succeeded", "Succeeded"]
    assert extends[1]["Result"] == "The HIT has 2 assignments already"


def test_no_extension_makes_nine_into_ten(market: Market) -> None:
    """Failed with InvalidMaximumAssignmentsIncrease; the HIT stays as it was."""
    client = market.requester()
    made = post(
        client,
        MaxAssignments=9,
        AssignmentReviewPolicy=known(
            ExtendIfKnownAnswerScoreIsLessThan=100, ExtendMaximumAssignments=25
        ),
    )
    market.worker().do(made["HITGroupId"], q1="x")
    (extend,) = [
        action
        for action in actions(report(client, made["HITId"])["AssignmentReviewReport"])
        if action[0] == "extend"
    ]
    assert extend[2:] == ("Failed", "AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease")
    assert client.get_hit(HITId=made["HITId"])["HIT"]["MaxAssignments"] == 9


def test_an_extension_that_cannot_be_paid_for_fails_alone(market: Market) -> None:
    """InsufficientFunds; what else the policy did stands, and the books balance."""
    client = market.requester()
    # Of $10,000.00, a HIT with a reward of $4,000.00 holds $4,800.00 at a time.
    made = post(
        client,
        Reward="4000",
        MaxAssignments=2,
        AssignmentReviewPolicy=known(
            ExtendIfKnownAnswerScoreIsLessThan=100, ApproveIfKnownAnswerScoreIsAtLeast=0
        ),
    )
    worker = market.worker()
    assignment = worker.do(made["HITGroupId"], q1="x")
    listed_actions = actions(report(client, made["HITId"])["AssignmentReviewReport"])
    assert listed_actions == [
        ("review", assignment, "Succeeded", None),
        ("approve", assignment, "Succeeded", None),
        ("extend", made["HITId"], "Failed", "AWS.MechanicalTurk.InsufficientFunds"),
    ]
    assert status(client, assignment) == "Approved"
    books = market.books()
    assert (books["balance_cents"], books["held_cents"]) == (40_000, 480_000)


def answer_all(group: str, workers: list[Worker], *answers: dict[str, str]) -> list[str]:
    """Each worker submits his answers; the assignments."""
    return [worker.do(group, **answer) for worker, answer in zip(workers, answers, strict=True)]


def test_plurality_as_in_the_manuals_example(market: Market) -> None:
    """Three workers, four questions: 66, 66, 100 %, none; workers 100, 66, 66 %."""
    client = market.requester()
    made = post(
        client,
        MaxAssignments=3,
        HITReviewPolicy=plurality(
            *"ABCD",
            ApproveIfWorkerAgreementScoreIsAtLeast=100,
            RejectIfWorkerAgreementScoreIsLessThan=67,
            RejectReason="Others saw something else.",
        ),
    )
    first, second, third = answer_all(
        made["HITGroupId"],
        [market.worker() for _ in range(3)],
        {"A": "coat", "B": "blue", "C": "large", "D": "Furry"},
        {"A": "sweater", "B": "blue", "C": " large", "D": "fur"},
        {"A": "coat", "B": "green", "C": "large", "D": "furr"},
    )
    hit = made["HITId"]
    shown = report(client, hit)["HITReviewReport"]
    assert results(shown) == {
        (hit, "A", "AgreedAnswerFound", "true"),
        (hit, "A", "AgreedAnswer", "coat"),
        (hit, "A", "AnswerAgreementScore", "66"),
        (hit, "B", "AgreedAnswerFound", "true"),
        (hit, "B", "AgreedAnswer", "blue"),
        (hit, "B", "AnswerAgreementScore", "66"),
        (hit, "C", "AgreedAnswerFound", "true"),
        (hit, "C", "AgreedAnswer", "large"),
        (hit, "C", "AnswerAgreementScore", "100"),
        (hit, "D", "AgreedAnswerFound", "false"),
        (hit, None, "HitAgreementScore", "75"),
        (first, None, "WorkerAgreementScore", "100"),
        (first, None, "PluralityAnswersCorrect", "3"),
        (first, None, "PluralityAnswersIncorrect", "0"),
        (second, None, "WorkerAgreementScore", "66"),
        (second, None, "PluralityAnswersCorrect", "2"),
        (second, None, "PluralityAnswersIncorrect", "1"),
        (third, None, "WorkerAgreementScore", "66"),
        (third, None, "PluralityAnswersCorrect", "2"),
        (third, None, "PluralityAnswersIncorrect", "1"),
    }
    states = [status(client, each) for each in (first, second, third)]
    assert states == ["Approved", "Rejected", "Rejected"]


def test_plurality_compares_selections_and_says_what_it_could_not_do(market: Market) -> None:
    """Sets of boxes; an approved assignment cannot be rejected any more."""
    client = market.requester()
    made = post(
        client,
        MaxAssignments=3,
        Question=form(question("q", choice("x", "y", most=2))),
        HITReviewPolicy=plurality("q", RejectIfWorkerAgreementScoreIsLessThan=100),
    )
    group, workers = made["HITGroupId"], [market.worker() for _ in range(3)]
    odd = workers[0].accept(group).json()["assignment_id"]
    assert workers[0].submit(odd, q="x").status_code == 200
    client.approve_assignment(AssignmentId=odd)
    for worker in workers[1:]:
        assignment = worker.accept(group).json()["assignment_id"]
        assert worker.submit(assignment, q=["y", "x"]).status_code == 200
    shown = report(client, made["HITId"])["HITReviewReport"]
    assert (made["HITId"], "q", "AgreedAnswer", "x|y") in results(shown)
    assert actions(shown) == [
        ("reject", odd, "Failed", "AWS.MechanicalTurk.InvalidAssignmentState")
    ]


def test_disagreement_brings_another_worker_and_another_review(market: Market) -> None:
    """1 to 1 is no agreement; the third decides, and both reviews are in the report."""
    client = market.requester()
    made = post(
        client,
        MaxAssignments=2,
        LifetimeInSeconds=60,
        HITReviewPolicy=plurality(
            "q",
            ExtendIfHITAgreementScoreIsLessThan=100,
            ExtendMaximumAssignments=3,
            ExtendMinimumTimeInSeconds=3600,
            ApproveIfWorkerAgreementScoreIsAtLeast=100,
        ),
    )
    group = made["HITGroupId"]
    yes = market.worker().do(group, q="yes")
    no = market.worker().do(group, q="no")
    hit = client.get_hit(HITId=made["HITId"])["HIT"]
    assert (hit["HITStatus"], hit["MaxAssignments"]) == ("Assignable", 3)
    assert hit["Expiration"] == market.now().replace(hour=10)
    market.wait(seconds=3000)  # beyond the first expiry
    also = market.worker().do(group, q="yes")
    assert [status(client, assignment) for assignment in (yes, no, also)] == [
        "Approved",
        "Submitted",
        "Approved",
    ]
    shown = report(client, made["HITId"])["HITReviewReport"]
    scores = [
        result["Value"] for result in shown["ReviewResults"] if result["Key"] == "HitAgreementScore"
    ]
    assert scores == ["0", "100"]
    assert client.get_hit(HITId=made["HITId"])["HIT"]["HITStatus"] == "Reviewable"


def test_an_expired_hit_is_reviewed_as_of_its_expiry(market: Market) -> None:
    """Before what comes later in the same jump of the clock: auto-approval."""
    client = market.requester()
    made = post(
        client,
        MaxAssignments=3,
        LifetimeInSeconds=600,
        HITReviewPolicy=plurality("q", RejectIfWorkerAgreementScoreIsLessThan=100),
    )
    answers = ["x", "x"]
    same = [market.worker().do(made["HITGroupId"], q=answer) for answer in answers]
    market.wait(days=1)
    shown = report(client, made["HITId"])["HITReviewReport"]
    assert (made["HITId"], None, "HitAgreementScore", "100") in results(shown)
    assert [status(client, assignment) for assignment in same] == ["Approved", "Approved"]


@pytest.mark.parametrize(
    ("parameters", "considered"),
    [
        ({}, 3),
        ({"DisregardAssignmentIfRejected": "T"}, 2),
        ({"DisregardAssignmentIfKnownAnswerScoreIsLessThan": 1}, 1),
    ],
)
def test_some_assignments_can_be_left_out(
    market: Market, parameters: dict[str, Any], considered: int
) -> None:
    """The rejected one; those whose known answers were worse (0, 0 and 100 %)."""
    client = market.requester()
    made = post(
        client,
        MaxAssignments=3,
        AssignmentReviewPolicy=policy(KNOWN, AnswerKey={"k": ["right"]}),
        HITReviewPolicy=plurality("q", **parameters),
    )
    group = made["HITGroupId"]
    first = market.worker().do(group, q="x", k="wrong")
    client.reject_assignment(AssignmentId=first, RequesterFeedback="No.")
    market.worker().do(group, q="x", k="wrong")
    market.worker().do(group, q="x", k="right")
    shown = report(client, made["HITId"], PolicyLevels=["HIT"])
    keys = [result["Key"] for result in shown["HITReviewReport"]["ReviewResults"]]
    assert keys.count("WorkerAgreementScore") == considered
    assert "AssignmentReviewReport" not in shown


def test_the_report_comes_in_pages_by_level_and_kind(market: Market) -> None:
    """Each line once, in order, whatever the size of a page."""
    client = market.requester()
    made = post(
        client,
        AssignmentReviewPolicy=known(ApproveIfKnownAnswerScoreIsAtLeast=0),
        HITReviewPolicy=plurality("q1", ApproveIfWorkerAgreementScoreIsAtLeast=0),
    )
    market.worker().do(made["HITGroupId"], q1="a")
    # 2 questions, a score, review, approve; 3 of q1, a HIT's, 3 a worker's, approve.
    wanted: dict[str, Any] = {"HITId": made["HITId"], "MaxResults": 3}
    lines: list[str] = []
    while True:
        page = client.list_review_policy_results_for_hit(**wanted)
        for level in ("Assignment", "HIT"):
            shown: Any = page[f"{level}ReviewReport"]  # type: ignore[literal-required] # either of two
            lines += [result["ActionId"] for result in shown["ReviewResults"]]
            lines += [action["ActionId"] for action in shown["ReviewActions"]]
        if "NextToken" not in page:
            break
        wanted["NextToken"] = page["NextToken"]
    assert len(lines) == len(set(lines)) == 13
    only = report(client, made["HITId"], RetrieveResults=False)
    assert actions(only["HITReviewReport"])[0][0] == "approve"
    assert only["HITReviewReport"]["ReviewResults"] == []
    only = report(client, made["HITId"], RetrieveActions=False)
    assert only["AssignmentReviewReport"]["ReviewActions"] == []
    with pytest.raises(ClientError) as caught:
        market.requester().list_review_policy_results_for_hit(HITId=made["HITId"])
    assert refusal(caught.value)[1] == "HITDoesNotExist"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"AssignmentReviewPolicy": plurality("q")}, f"must be {KNOWN}"),
        ({"HITReviewPolicy": known()}, f"must be {PLURALITY}"),
        ({"AssignmentReviewPolicy": policy(KNOWN)}, "needs an AnswerKey"),
        ({"AssignmentReviewPolicy": known(Colour="red")}, "no parameter 'Colour'"),
        (
            {"AssignmentReviewPolicy": known(ApproveIfKnownAnswerScoreIsAtLeast=102)},
            "takes 0 to 101",
        ),
        (
            {"AssignmentReviewPolicy": known(ApproveIfKnownAnswerScoreIsAtLeast="x")},
            "takes 0 to 101",
        ),
        ({"AssignmentReviewPolicy": known(ExtendMaximumAssignments=26)}, "takes 2 to 25"),
        ({"AssignmentReviewPolicy": known(RejectReason=["a", "b"])}, "one value for RejectReason"),
        ({"HITReviewPolicy": plurality()}, "needs 1 to 100 QuestionIds"),
        (
            {"HITReviewPolicy": policy(PLURALITY, QuestionIds=["q"])},
            "needs 1 to 100 QuestionIds and a QuestionAgreementThreshold",
        ),
        (
            {"HITReviewPolicy": plurality("q", ExtendIfHITAgreementScoreIsLessThan=50)},
            "cannot extend without ExtendMaximumAssignments",
        ),
        (
            {"HITReviewPolicy": plurality("q", DisregardAssignmentIfRejected="maybe")},
            "true or false",
        ),
    ],
)
def test_a_policy_that_cannot_be_is_refused(
    standing: Market, parameters: dict[str, Any], words: str
) -> None:
    """ParameterValidationError, and no HIT is made."""
    client = standing.requester()
    with pytest.raises(ClientError) as caught:
        post(client, **parameters)
    assert refusal(caught.value)[0] == "ParameterValidationError"
    assert words in refusal(caught.value)[2]
    assert client.list_hits()["HITs"] == []


def test_a_hit_reviewed_by_hand_first_is_let_alone(market: Market) -> None:
    """An expiry after the HIT was put aside or deleted brings no review."""
    client = market.requester()
    made = post(client, HITReviewPolicy=plurality("q"))
    expire(client, made["HITId"])
    client.delete_hit(HITId=made["HITId"])
    market.wait(days=1)
    shown = report(client, made["HITId"])["HITReviewReport"]
    keys = [result["Key"] for result in shown["ReviewResults"]]
    assert keys.count("HitAgreementScore") == 1  # when it expired, with no answers
    assert "WorkerAgreementScore" not in keys


def values(**texts: str) -> dict[str, frozenset[str]]:
    """Answers as they are compared."""
    return {name: frozenset(text.split()) for name, text in texts.items()}


@for_each(
    ("answers", "threshold", "expected"),
    [
        (["x", "x", "y"], 66, Agreement(answer=frozenset("x"), score=66)),  # 66.7 > 66
        (["x", "x", "y"], 67, Agreement(answer=None, score=66)),
        (["x", "y"], 50, Agreement(answer=None, score=50)),
        (["x", "y"], 10, Agreement(answer=None, score=50)),  # a tie
        (["x", "x"], 100, Agreement(answer=frozenset("x"), score=100)),
        (["x y", "y x"], 50, Agreement(answer=frozenset("xy"), score=100)),
        (["x y", "x"], 50, Agreement(answer=None, score=50)),
        (["x", "X"], 50, Agreement(answer=None, score=50)),
        (["", "", "x"], 50, Agreement(answer=frozenset(), score=66)),
        (["z" * 257, "z" * 257, "x"], 50, Agreement(answer=frozenset("x"), score=100)),
        (["z" * 257], 50, Agreement(answer=None, score=0)),
        ([], 50, Agreement(answer=None, score=0)),
    ],
)
def test_agreement(answers: list[str], threshold: int, expected: Agreement) -> None:
    """Above the threshold, no ties; long answers do not count."""
    answer_values = [values(q=answer) for answer in answers]
    assert score_agreement(answer_values, "q", threshold=threshold) == expected


def test_an_empty_known_answer_wants_an_empty_answer() -> None:
    """Both ways: what was left out is right where nothing was expected."""
    key = values(empty="", full="x")
    assert score_known_answers(key, values(full="x")) == ({"empty": True, "full": True}, 100)
    wrong = {"empty": False, "full": False}
    assert score_known_answers(key, values(empty="x")) == (wrong, 0)
