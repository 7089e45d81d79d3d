"""Few people: what they can give is asked for and paid, the rest is said."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.campaign.pricing import expected_out_of_reach
from piecework.cli.main import main
from piecework.domain.crowds import Crowds
from piecework.domain.errors import PlatformRefused
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import run_pass
from piecework.store import ledger
from tests.campaign.campaigns import campaign
from tests.crash.people import People
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import check_books
from tests.small_campaign import CAMPAIGN, write_campaign

# Ten items in two HITs of five, five answers each, of six people who were invited.
SIX = (
    CAMPAIGN.replace("batches = 2", "batches = 1")
    .replace("answers = 2", "answers = 5")
    .replace("items_per_hit = 2", "items_per_hit = 5")
    .replace("[heuristics]", "[requirements]\nworkers = 6\n[heuristics]")
)
PEOPLE = ("ann", "bob", "cat", "dan", "eve", "fay")
TWICE = (
    "SELECT count(*) - count(DISTINCT worker_id || ' ' || item_id) "
    "FROM answers JOIN assignments USING (assignment_id)"
)


def _all_work(endpoint: str, bad: tuple[str, ...]) -> int:
    """Everybody takes whatever is offered, one after the other; how many HITs."""
    done, again = 0, 1
    while again:
        again = sum(
            People(endpoint, script=((name, manner),)).work()
            for name in PEOPLE
            for manner in ["shout" if name in bad else "good"]
        )
        done += again
    return done


@pytest.mark.parametrize(
    ("bad", "missing"),
    [
        # Five good people are left, and enough: whoever was not in a HIT gets its slot.
        pytest.param(("bob",), 0, marks=pytest.mark.full),
        # Four are left, and give four answers to each of ten items.
        pytest.param(("bob", "dan"), 10, marks=pytest.mark.full),
        (("bob", "dan", "fay"), 20),
    ],
)
def test_six_people_give_what_they_can(at_work: Open, bad: tuple[str, ...], missing: int) -> None:
    """Nothing surplus is paid, no slot waits for nobody, and the end is said."""
    with at_work(SIX, pictures=10) as (run, people):
        while not (reached := run_pass(run)).is_finished:
            assert _all_work(people.endpoint, bad), reached
        assert (reached.missing, reached.surplus) == (missing, 0)
        assert run.store.db.execute(TWICE).fetchone() == (0,)
        check_books(run)
        # Two HITs: each was paid for the bad ones who were in it and for good ones.
        assert ledger.balances(run.store)["held"] == 0
        assert reached.rewards_cents == 50 * reached.submitted
        if missing:
            assert reached.stopped_by == "requirements.workers"
            assert reached.too_few_workers == (
                f"6 workers cannot give 5 answers each with {len(bad)} excluded: "
                f"{missing} answers stay missing"
            )
        else:
            assert (reached.stopped_by, reached.too_few_workers) == ("", "")


def test_where_nobody_said_how_many_there_are_status_counts_those_who_work(at_work: Open) -> None:
    """Slots wait, and the status says that those who are known cannot fill them."""
    text = SIX.replace("[requirements]\nworkers = 6\n", "")
    with at_work(text, pictures=10) as (run, people):
        run_pass(run)
        _all_work(people.endpoint, ("bob", "dan"))
        reached = run_pass(run)
        while _all_work(people.endpoint, ("bob", "dan")):
            reached = run_pass(run)
        assert reached.waiting_for == "workers"
        assert reached.too_few_workers == (
            "6 workers who worked so far cannot give 5 answers each with 2 "
            "excluded: 10 answers need others"
        )
        at_market = replace(run.campaign, crowds=Crowds(percent=(("prolific", 100),)))
        assert read_progress(replace(run, campaign=at_market)).too_few_workers == ""


@pytest.mark.parametrize(
    ("workers", "loss", "short"),
    [
        (None, 0.5, 0),
        (6, 0.0, 0),
        (4, 0.0, 10),  # each of ten items lacks the fifth answer
        # 5 workers, half of all answers lost: of 5 flips 2.5 are wanted more.
        (5, 0.5, 25),
    ],
)
def test_a_crowd_is_measured_before_anything_is_posted(
    workers: int | None, loss: float, short: float
) -> None:
    """Expected answers that are out of reach, by hand."""
    example = campaign(10)
    example = replace(
        example, crowd_size=workers, rewards=replace(example.rewards, expected_loss=loss)
    )
    assert expected_out_of_reach(example) == pytest.approx(short)


def test_check_says_that_a_crowd_is_too_small(tmp_path: Path) -> None:
    """With a sixth of all answers lost, six people are too few for five each."""
    path = write_campaign(tmp_path, SIX, pictures=10)
    result = CliRunner().invoke(main, ["check", str(path)], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "WARNING: requirements.workers: 6 workers cannot give 5 answers each" in result.output
    enough = write_campaign(tmp_path, SIX.replace("= 6", "= 60"), pictures=10)
    result = CliRunner().invoke(main, ["check", str(enough)], env={"COLUMNS": "200"})
    assert "cannot give" not in result.output


def test_where_nobody_has_come_yet_nobody_is_too_few(at_work: Open) -> None:
    """An account without money posts nothing: that is said, and how to pay in."""
    text = SIX.replace("[requirements]\nworkers = 6\n", "")
    text = text.replace('reward = "0.50"', 'reward = "999.00"')
    text = text.replace('budget = "20.00"', 'budget = "90000.00"')
    text = text.replace("answers = 5", "answers = 10")
    with at_work(text, pictures=5) as (run, _):
        with pytest.raises(PlatformRefused, match="insufficient funds") as refused:
            run_pass(run)
        assert "--balance AMOUNT" in refused.value.next_step
        assert read_progress(run).too_few_workers == ""
