"""Stored answers judged again: as they were, and as other rules would have."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign, load_with_results
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.progress import Progress
from piecework.domain.verdicts import Decision, PolicyRule, Subject
from piecework.engine.opening import open_to_look
from piecework.engine.run_pass import run_pass
from piecework.results.comparing.comparison import compare_rules
from piecework.results.comparing.judging_again import judge_again
from piecework.results.whole_pass import archive_settled
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store import archive, decisions
from tests.conftest import ROOT
from tests.review.test_demo import demo_at_work
from tests.trusted import own

CAMPAIGNS = ROOT / "config/campaigns"
EXAMPLES = sorted(path.stem for path in CAMPAIGNS.glob("*.toml") if "deployment" not in path.name)


def rehearsed(
    folder: Path,
    name: str,
    *,
    changes: tuple[tuple[str, str], ...] = (),
    keep_batches: int | None = None,
) -> Path:
    """Rehearse an example in a folder; return its campaign file.

    Args:
        folder: an empty one.
        name: of the example.
        changes: of its text.
        keep_batches: if stated, older ones are archived after each pass.
    """
    campaigns = folder / "config/campaigns"
    shutil.copytree(CAMPAIGNS, campaigns, ignore=shutil.ignore_patterns("out"))
    path = campaigns / f"{name}.toml"
    text = path.read_text(encoding="utf-8")
    for was, now in changes:
        assert was in text
        text = text.replace(was, now)
    path.write_text(text, encoding="utf-8")
    with rehearsal_of(prepare(own(path))) as (run, crowd):

        def archived(_: Progress) -> None:
            if keep_batches is not None:
                archive_settled(run, keep=keep_batches)

        work_through(run, crowd, on_progress=archived)
    return path


def in_force(opened: OpenedCampaign) -> dict[Subject, tuple[str, str]]:
    """Verdict and reason of each decision in the store."""
    return {
        (each.subject_kind, each.subject_id): (each.verdict, each.because)
        for each in decisions.load_decisions(opened.store)
    }


def as_pairs(decided: dict[Subject, Decision]) -> dict[Subject, tuple[str, str]]:
    """Verdict and reason of each decision."""
    return {subject: (each.verdict, each.because) for subject, each in decided.items()}


@contextmanager
def opened(path: Path) -> Iterator[OpenedCampaign]:
    """The campaign and its store, to look."""
    with open_to_look(load_campaign(path)) as campaign:
        yield campaign


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A smaller demo, rehearsed."""
    changes = (("scenes = 60", "scenes = 20"), ("batches = 5 ", "batches = 3 "))
    return rehearsed(tmp_path_factory.mktemp("demo"), "demo", changes=changes)


def test_own_rules_decide_again_what_was_decided(demo: Path) -> None:
    """Every verdict and reason in the store comes out again, and nothing differs."""
    with opened(demo) as campaign:
        (again,) = judge_again(campaign, [campaign.campaign])
        assert as_pairs(again.decisions) == in_force(campaign)
        assert any(each.verdict == "exclude" for each in again.decisions.values())
        assert len({moment.batch for moment in again.excluded.values()}) >= 1
    assert not compare_rules(load_with_results(demo), demo).differs


@pytest.mark.full
@pytest.mark.parametrize("name", EXAMPLES)
def test_own_rules_change_nothing_in_any_example(name: str, tmp_path: Path) -> None:
    """As above, of each example campaign."""
    path = rehearsed(tmp_path, name)
    with opened(path) as campaign:
        (again,) = judge_again(campaign, [campaign.campaign])
        assert as_pairs(again.decisions) == in_force(campaign)
    assert not compare_rules(load_with_results(path), path).differs


def test_own_rules_propose_again_what_waits_for_people(tmp_path: Path) -> None:
    """Where people decide, what is clear is decided, and the same work waits for them."""
    with demo_at_work(tmp_path) as (run, crowd):
        while run_pass(run).waiting_for == "workers":
            crowd.work_until()
        (again,) = judge_again(run, [run.campaign])
        waiting = decisions.proposed(run.store)
        assert waiting
        assert as_pairs(again.decisions) == in_force(run) | waiting
        assert again.waiting == {subject for subject in waiting if subject[0] != "answer"}


@pytest.mark.full
def test_own_rules_change_nothing_where_batches_are_archived(tmp_path: Path) -> None:
    """Passes do not see archived answers, so those of later batches are judged without."""
    path = rehearsed(tmp_path, "growing", keep_batches=1)
    with opened(path) as campaign:
        assert archive.parts(campaign.store)
        (again,) = judge_again(campaign, [campaign.campaign])
        assert as_pairs(again.decisions) == in_force(campaign)
    assert not compare_rules(load_with_results(path), path).differs


def test_an_excluded_worker_is_not_in_what_comes_later(demo: Path) -> None:
    """Rules that exclude everybody after the first batch leave the later ones empty."""
    everybody = PolicyRule(
        subject_kind="worker",
        any_of=("same_place", "random_sample"),
        then="exclude",
        because="Not invited again: {evidence}.",
    )
    with opened(demo) as campaign:
        its = campaign.campaign
        drawn = {**its.heuristics, "random_sample": {"share": 1.0}}
        strict = replace(its, policy=(everybody,), heuristics=drawn)
        (again,) = judge_again(campaign, [strict])
        table = campaign.answers()
    first = set(table.loc[table["batch"] == 1, "worker_id"])
    assert first <= set(again.excluded)
    later = table[(table["batch"] > 1) & table["worker_id"].isin(first)]
    assert set(later.index) <= again.absent
    absent = table.loc[sorted(again.absent)]
    for worker, batch, number in zip(
        absent["worker_id"], absent["batch"], absent["round"], strict=True
    ):
        moment = again.excluded[worker]
        assert (moment.batch, moment.round) < (batch, number)


def test_two_sets_of_rules_do_not_disturb_each_other(demo: Path) -> None:
    """Judged together, each decides as it does alone, though they share scores."""
    with opened(demo) as campaign:
        its = campaign.campaign
        other = replace(
            its,
            heuristics={**its.heuristics, "canned_share": {"more_than_share": 0.2}},
            policy=its.policy[2:],
        )
        together = judge_again(campaign, [its, other])
        alone = [judge_again(campaign, [each])[0] for each in (its, other)]
    for left, right in zip(together, alone, strict=True):
        assert as_pairs(left.decisions) == as_pairs(right.decisions)
        assert left.absent == right.absent
