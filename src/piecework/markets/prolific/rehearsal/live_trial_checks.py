"""What the parts of a live trial showed: visit, submission, cost, and its end."""

from piecework.foundation.client.checks import Check, passed
from piecework.foundation.client.errors import ApiError
from piecework.markets.prolific.bridge.bridge import Bridge
from piecework.markets.prolific.resources.submissions import Submission

_ONLY_A_TEST = "This was a test of the study. Please return it."


def visits(bridge: Bridge) -> list[str]:
    """Return the stage of each visit."""
    with bridge.backend.transaction() as transaction:
        return [str(row["stage"]) for row in transaction.all("SELECT * FROM visits")]


def arrived(stages: list[str]) -> Check:
    """Say whether the visit came and was done."""
    if "Done" in stages:
        return passed("visit", "the link opened the site, and every HIT was answered")
    if stages:
        return Check(
            name="visit",
            level="fail",
            sentence=f"the visit ended as {', '.join(stages)}",
            next_step="do every HIT, and enter the code that the last page shows",
        )
    return Check(
        name="visit",
        level="fail",
        sentence="no test participant opened the site by the study's link",
        next_step="piecework market prolific doctor --public-url URL",
    )


def submitted(submission: Submission, code: str) -> Check:
    """Say whether the study's code arrived."""
    if submission.code in (code, None):
        return passed("submission", f"{submission.status}, with the study's code")
    return Check(
        name="submission",
        level="warn",
        sentence=f"{submission.status}, with a code that is not the study's",
    )


def cost(bridge: Bridge, study_id: str) -> Check:
    """Say what Prolific states as the cost."""
    stated = bridge.prolific.studies.cost(study_id).rewards
    if not stated.minor:
        return passed("cost", "Prolific has charged nothing")
    return Check(
        name="cost",
        level="warn",
        sentence=f"Prolific states a cost of {stated} for the test study",
        next_step="look at the study at Prolific before you approve anything",
    )


def given_back(bridge: Bridge, submission: Submission) -> Check:
    """End the submission unpaid: Prolific approves undecided ones after 21 days."""
    name = "given back"
    if submission.status == "APPROVED":
        return Check(name=name, level="warn", sentence="Prolific approved it by itself")
    try:
        bridge.prolific.submissions.transition(submission.id, "RETURN")
    except ApiError:
        try:
            bridge.prolific.submissions.request_return(submission.id, [_ONLY_A_TEST])
        except ApiError as fault:
            return Check(
                name=name,
                level="warn",
                sentence=str(fault),
                next_step="return the submission at Prolific, as the test participant",
            )
        return Check(
            name=name,
            level="warn",
            sentence="the test participant was asked to return the submission",
            next_step="return it within 21 days; Prolific may pay it otherwise",
        )
    return passed(name, "the submission is returned, so it is never paid")
