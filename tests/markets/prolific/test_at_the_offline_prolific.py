"""piecework's own client of Prolific on the offline one: two readings of one document.

They share no code and were written apart, so what both understand alike is hardly a
misreading of one of them.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import START, Researcher
from piecework.foundation.client.calls import Money
from piecework.foundation.client.errors import Lost, Refused
from piecework.foundation.client.transport import Transport
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.resources.recruiting import Choice, Range
from piecework.markets.prolific.resources.studies import CodeAction, CompletionCode, StudyChanges
from tests.markets.prolific.calls import REASON, STUDY

# 150 with a fee of 50 (49.5) and a tax of 10 on it.
UNIT = 210


@pytest.fixture
def researcher() -> Iterator[Researcher]:
    """A researcher on an emulator in memory."""
    with serve(Options(start=START)) as url, Researcher(url) as researcher:
        yield researcher


@pytest.fixture
def prolific(researcher: Researcher) -> Iterator[Prolific]:
    """The client; it waits for nothing."""
    with Transport(researcher.url, Token("rehearsal-token"), sleep=lambda _: None) as transport:
        yield Prolific(transport)


def test_a_study_from_draft_to_bonus(prolific: Prolific, researcher: Researcher) -> None:
    """Group, filters, study, work, verdicts, bonus; the books agree to the penny."""
    [workspace] = prolific.account.workspaces()
    [project] = prolific.account.projects(workspace.id)
    people = [researcher.participant(country="GB", age=30) for _ in range(4)]
    group = prolific.groups.create(
        workspace.id, "Kept out", participant_ids=[people[3].participant_id]
    )
    codes = [
        CompletionCode(
            code="C1ABCDEF", code_type="COMPLETED", actions=[CodeAction(action="MANUALLY_REVIEW")]
        )
    ]
    study = prolific.studies.create(
        replace(
            STUDY,
            project=project.id,
            places=3,
            codes=codes,
            filters=[
                Choice(filter_id="participant_group_blocklist", values=[group.id]),
                Range(filter_id="age", lower=18, upper=40),
            ],
        )
    )
    projected = prolific.studies.cost(study.id, is_projected=True).rewards
    assert (projected.rewards.minor, projected.rewards.currency) == (450, "GBP")
    assert prolific.studies.calculated_cost_minor(reward_minor=150, places=3) == (3 * UNIT)
    assert prolific.studies.transition(study.id, "PUBLISH").status == "PUBLISHING"
    assert prolific.studies.get(study.id).status == "ACTIVE"
    assert [someone.studies() for someone in people] == [[study.id]] * 3 + [[]]

    done = [someone.do(study.id, "C1ABCDEF") for someone in people[:3]]
    assert [submission.id for submission in prolific.submissions.of_study(study.id)] == done
    assert prolific.submissions.counts(study.id)["AWAITING REVIEW"] == 3
    assert prolific.submissions.approve(done[0]).status == "APPROVED"
    rejected = prolific.submissions.reject(done[1], category="LOW_EFFORT", message=REASON)
    assert rejected.status == "REJECTED"
    prolific.submissions.bulk_approve([done[2]])

    batch = prolific.bonuses.create(study.id, {done[0]: Money(minor=150, currency="GBP")})
    prolific.bonuses.pay(batch.id)
    [paid] = prolific.submissions.get(done[0]).bonuses_minor
    assert paid == 150
    assert prolific.studies.get(study.id).status == "COMPLETED"
    available = prolific.account.balance(workspace.id).available
    assert available == Money(minor=1_000_000 - 3 * UNIT, currency="GBP")
    prolific.studies.change(study.id, StudyChanges(places=4))
    assert prolific.studies.get(study.id).status == "ACTIVE"
    assert [submission["reward_paid"] for submission in researcher.books()["submissions"]] == [
        150,
        0,
        150,
    ]


def test_every_page_is_walked(prolific: Prolific, researcher: Researcher) -> None:
    """Through links that name a host which nobody reaches, too."""
    researcher.control("PUT", "/switches", {"internal_links": True})
    [workspace] = prolific.account.workspaces()
    [project] = prolific.account.projects(workspace.id)
    drafts = [researcher.draft() for _ in range(101)]
    assert {study.id for study in prolific.studies.of_project(project.id)} == set(drafts)


def test_bursts_are_waited_out_and_losses_are_told(
    prolific: Prolific, researcher: Researcher
) -> None:
    """What reads is made again; a study whose reply was lost is there, once."""
    [workspace] = prolific.account.workspaces()
    [project] = prolific.account.projects(workspace.id)
    researcher.control("PUT", "/faults", [{"kind": "throttle", "times": 3}])
    assert prolific.account.me().id
    for kind in ("lose_reply", "bad_gateway"):
        researcher.control("PUT", "/faults", [{"kind": kind, "operation": "create-study"}])
        with pytest.raises(Lost):
            prolific.studies.create(replace(STUDY, project=project.id, codes=[], filters=[]))
    assert len(list(prolific.studies.of_project(project.id))) == 2


def test_what_is_refused_is_refused(prolific: Prolific, researcher: Researcher) -> None:
    """In both envelopes."""
    for envelope in ("wrapped", "bare"):
        researcher.control("PUT", "/switches", {"errors": envelope})
        with pytest.raises(Refused):
            prolific.studies.get("0" * 24)
