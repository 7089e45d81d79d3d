"""Workers excluded and included by hand, on a real marketplace; and listed."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from piecework.campaign import opened
from piecework.campaign.opened import CampaignRun
from piecework.cli.main import main
from piecework.domain.clock import FixedClock
from piecework.domain.errors import ConfigError
from piecework.domain.ids import WorkerId
from piecework.domain.store_address import in_folder
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import run_pass
from piecework.engine.settle import settle, settle_workers
from piecework.postprocess.pseudonyms import pseudonym
from piecework.review.model.workers import (
    WorkerHistory,
    exclude_worker,
    include_worker,
    worker_histories,
)
from piecework.store import assignments, decisions, intents
from piecework.store.lock import only_pass
from tests.crash.people import People
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import EVENING, check_books

WHY = "Looked at by hand."


def _calls_of(run: CampaignRun, what: str) -> int:
    reply = httpx.get(f"{run.endpoint}/rehearsal/calls").json()
    return Counter(reply.get("calls", reply))[what]


def _worker_id(run: CampaignRun, handle: str) -> WorkerId:
    """Of somebody whom the rehearsal knows."""
    person = {"handle": handle, "country": "US"}
    made = httpx.post(f"{run.endpoint}/rehearsal/workers", json=person).json()
    return WorkerId(made["worker_id"])


def _named(run: CampaignRun, handle: str) -> str:
    return pseudonym(_worker_id(run, handle), run.pseudonym_key)


def _history(run: CampaignRun, worker: str) -> WorkerHistory:
    return next(history for history in worker_histories(run) if history.worker == worker)


def _is_offered(people: People, handle: str) -> bool:
    with httpx.Client(base_url=people.endpoint) as client:
        people.sign_in(handle, client)
        client.headers["Accept"] = "application/json"
        groups = client.get("/worker/hits").json()["hit_groups"]
    return any(group["may_accept"] for group in groups)


def test_anybody_is_excluded_and_included_again_as_often_as_wanted(
    at_work: Open, campaign_text: str
) -> None:
    """Ann did good work and is flagged by nothing; each time is carried out once."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        people.work()
        # Batch 1 is settled, batch 2 is posted: ann is kept in, and may go on.
        while run_pass(run).batch != 2:
            people.work(at_most=1)
        ann = _named(run, "ann")
        assert _is_offered(people, "ann")
        for again in (1, 2):
            exclude_worker(run, ann, because=WHY, by="ada")
            assert read_progress(run).waiting_for == "the next pass"
            assert settle_workers(run) == 1
            assert not _is_offered(people, "ann")
            assert _history(run, ann).exclusion is not None
            include_worker(run, ann, because=WHY, by="bo")
            assert settle_workers(run) == 1
            assert settle_workers(run) == 0
            assert _is_offered(people, "ann")
            assert _calls_of(run, "DisassociateQualificationFromWorker") == again
        verdicts = [decision.verdict for decision in _history(run, ann).decisions]
        assert verdicts[-4:] == ["exclude", "include"] * 2
        assert intents.load_intents(run.store, "exclude", is_done=False) == []
        check_books(run)


def test_a_worker_may_be_named_by_the_start_of_the_pseudonym(
    at_work: Open, campaign_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start must be long enough, and that of a single worker."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        people.work()
        run_pass(run)
        ann = _named(run, "ann")
        assert exclude_worker(run, f"{ann[:6].upper()}…", because=WHY, by="ada") == ann
        assert include_worker(run, f"{ann[:6]}...", because=WHY, by="ada") == ann
        with pytest.raises(ConfigError, match="too short"):
            exclude_worker(run, ann[:3], because=WHY, by="ada")
        monkeypatch.setattr(opened, "_SHORTEST_PSEUDONYM", 0)
        with pytest.raises(ConfigError, match="matches "):
            exclude_worker(run, "", because=WHY, by="ada")


def test_whom_a_person_includes_the_policy_does_not_exclude(
    at_work: Open, campaign_text: str
) -> None:
    """Bob's capitals exclude him after batch 1; included, he shouts again and stays."""
    with at_work(campaign_text) as (opened, people):
        run = replace(opened, clock=FixedClock(EVENING))
        people.script = (
            *(("ann", "good"), ("bob", "shout")),
            *(("cat", "good"), ("bob", "shout"), ("dan", "good")),
            *(("eve", "good"), ("fay", "good")),
        )
        run_pass(run)
        people.work(at_most=2)
        run_pass(run)
        (bob,) = (history for history in worker_histories(run) if history.exclusion is not None)
        assert (bob.totals.dropped, bob.totals.paid_cents) == (2, 50)
        include_worker(run, bob.worker, because=WHY, by="ada")
        while not run_pass(run).is_finished:
            people.work()
        after = _history(run, bob.worker)
        assert (after.totals.assignments, after.totals.dropped) == (2, 4)
        assert after.exclusion is None
        assert read_progress(run).excluded == 0


@pytest.mark.parametrize("arrived", [True, False])
def test_a_death_on_the_way_is_made_good_by_the_next_pass(
    at_work: Open, campaign_text: str, *, arrived: bool
) -> None:
    """The exclusion was told or not: it is looked for, and told at most once more."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        people.work(at_most=1)
        run_pass(run)
        settle(run)
        # Two answers of one assignment came in.
        httpx.put(f"{run.endpoint}/rehearsal/clock", json={"now": "2026-01-05T16:00:00+00:00"})
        later = replace(run, clock=FixedClock(EVENING))
        run_pass(later)
        ann = _worker_id(run, "ann")
        exclude_worker(later, _named(later, "ann"), because=WHY, by="ada")
        intent = intents.Intent(key=f"exclude:{ann}", operation="exclude", subject=("worker", ann))
        with run.store.db.atomic():
            intents.declare(run.store, intent, later.clock)
        if arrived:
            _exclude_there(later, ann)
        before = _calls_of(run, "AssociateQualificationWithWorker")
        run_pass(later)
        calls = _calls_of(run, "AssociateQualificationWithWorker") - before
        assert calls == (0 if arrived else 1)
        assert decisions.count_unsettled(run.store) == 0
        assert not _is_offered(people, "ann")


def _exclude_there(run: CampaignRun, worker_id: WorkerId) -> None:
    from piecework.engine.requirements import exclusion_types  # noqa: PLC0415 - one test's

    run.platform.exclude(worker_id, exclusion_types(run)[0])


def test_a_block_is_lifted_with_the_exclusion(at_work: Open, campaign_text: str) -> None:
    """The policy blocks bob; included, he sees the requester's HITs again."""
    text = campaign_text.replace('then = "exclude"', 'then = "block"')
    with at_work(text) as (opened, people):
        run = replace(opened, clock=FixedClock(EVENING))
        run_pass(run)
        people.work(at_most=2)
        run_pass(run)
        (bob,) = (history for history in worker_histories(run) if history.exclusion is not None)
        people.script = (("cat", "good"), *people.script[4:])
        people.page = 0
        while run_pass(run).batch != 2:
            people.work(at_most=1)
        assert not _is_offered(people, "bob")
        include_worker(run, bob.worker, because=WHY, by="ada")
        settle_workers(run)
        assert _is_offered(people, "bob")


def _workers(act: str, path: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["workers", act, str(path), *words])


def test_the_command_lists_and_excludes_by_pseudonym(at_work: Open, campaign_text: str) -> None:
    """At once, or by the pass that is at work; ids are never printed."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        people.work(at_most=2)
        httpx.put(f"{run.endpoint}/rehearsal/clock", json={"now": "2026-01-05T20:00:00+00:00"})
        run_pass(replace(run, clock=FixedClock(EVENING)))
        path = run.campaign.path
        worker_ids = {
            assignment.worker_id for assignment in assignments.load_assignments(run.store)
        }
        listed = json.loads(_workers("list", path, "--json").stdout)
        assert [row["is_excluded"] for row in listed].count(True) == 1
        assert {row["answers"] for row in listed} == {2}
        (ann,) = (row for row in listed if not row["is_excluded"])
        (bob,) = (row for row in listed if row["is_excluded"])
        assert (ann["kept"], ann["paid_cents"], ann["flags"]) == (2, 50, {})
        assert (bob["dropped"], bob["flags"]["capitals"]) == (2, 2)
        assert "again and again" in bob["decisions"][-1]["because"]
        # The store is held by the pass of this test.
        done = _workers("exclude", path, ann["worker"], "--because", WHY, "--by", "ada")
        assert "is working on this campaign" in done.output
        run_pass(replace(run, clock=FixedClock(EVENING)))
        assert not _is_offered(people, "ann")
        again = _workers("exclude", path, ann["worker"], "--because", WHY)
        assert again.exit_code == 2
        assert "excluded already" in again.output
        table = _workers("list", path)
        assert WHY in table.output
        heads, *lines = table.output.splitlines()[1:]
        assert heads.split()[1:4] == ["HITs", "answers", "kept"]
        assert f"{ann['worker']}     1        2     2" in "\n".join(lines)
        assert "    flagged: capitals 2" in lines
        assert max(map(len, (heads, *lines[:3]))) <= 80
        for result in (done, again, table):
            assert not any(worker_id in result.output for worker_id in worker_ids)
    with only_pass(run.campaign.store):
        pass  # nobody holds it any more


def test_without_a_pass_at_work_the_marketplace_is_told_at_once(
    at_work: Open, campaign_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what makes no sense is said, with exit code 2 and nothing kept."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        people.work(at_most=1)
        httpx.put(f"{run.endpoint}/rehearsal/clock", json={"now": "2026-01-05T20:00:00+00:00"})
        run_pass(replace(run, clock=FixedClock(EVENING)))
        ann, path = _named(run, "ann"), run.campaign.path
        free = in_folder(run.campaign.out.with_name("free"))
        monkeypatch.setattr(
            "piecework.cli.workers.only_pass", lambda _, by="": only_pass(free, by=by)
        )
        done = _workers("exclude", path, ann, "--because", WHY, "--json")
        assert json.loads(done.stdout)["carried_out"]
        assert not _is_offered(people, "ann")
        undone = _workers("exclude", path, ann, "--undo", "--because", WHY)
        assert "included again" in undone.output
        assert _is_offered(people, "bob")
        for words, fault in (
            (("exclude",), "Missing argument 'PSEUDONYM'"),
            (("exclude", ann), "Missing option '--because'"),
            (("exclude", ann, "--because", " "), "--because is empty"),
            (("exclude", "0" * 16, "--because", WHY), "no worker of this campaign"),
            (("exclude", ann, "--undo", "--because", WHY), "is not excluded"),
            (("include", ann, "--because", WHY), "No such command 'include'"),
        ):
            refused = _workers(words[0], path, *words[1:])
            assert refused.exit_code == 2
            assert fault in refused.output
        with pytest.raises(ConfigError, match="no worker of this campaign"):
            exclude_worker(run, "nobody", because=WHY, by="ada")
        assert len(decisions.about_workers(run.store)) == 1
