"""`piecework workers earned` and `workers grant`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.engine.run_pass import run_pass
from piecework.report.model import report_model
from piecework.report.sections.workers import EarnedQualifications, earned_section
from piecework.results.report_facts import report_facts
from piecework.store import assignments
from piecework.store.last_pass import recall
from tests.engine.test_earned import Scene, scene

__all__ = ["scene"]

NAME = "good at captions"


def workers(*words: str | Path) -> Result:
    """Call the command."""
    return CliRunner().invoke(main, ["workers", *map(str, words)])


@pytest.fixture
def lost(scene: Scene) -> tuple[Scene, Path, str]:
    """Ann earned it in a campaign and lost it in the next; that one, her pseudonym."""
    scene.work(scene.write("first"), ("ann", "good"), ("bob", "shout"))
    second = scene.write("second")
    scene.work(second, ("ann", "shout"), ("bob", "shout"))
    with scene.opened(second) as run:
        [ann] = {
            run.pseudonym(each.worker_id)
            for each in assignments.load_assignments(run.store)
            if scene.handle(each.worker_id) == "ann"
        }
    return scene, second, ann


def test_list_and_report_name_each_change_with_its_evidence(lost: tuple[Scene, Path, str]) -> None:
    """Of both campaigns, by this campaign's pseudonyms; no id in the clear."""
    scene, path, ann = lost
    [shown] = json.loads(workers("earned", path, "--json").stdout)
    assert (shown["name"], shown["kind"], shown["holders"]) == (NAME, "captions", 0)
    assert [
        (each["worker"], each["change"], each["agreed"], each["items"], each["first"])
        for each in shown["changes"]
    ] == [
        (ann, "grant", 5, 5, shown["changes"][0]["last"]),
        (ann, "revoke", 0, 5, shown["changes"][1]["last"]),
    ]
    lines = workers("earned", path).stdout.splitlines()
    assert lines[0] == f"{NAME}: 0 hold it"
    assert f"revoked {ann} by rule: 0 of 5 items agreed, " in lines[3]
    assert "You have lost the qualification" in lines[4]
    with scene.opened(path) as run:
        facts = report_facts(run)
    qualifications = facts.of(EarnedQualifications)
    assert qualifications is not None
    [earned] = qualifications.rules
    assert [(each.worker_id, each.change, each.share.agreed) for each in earned.changes] == [
        (ann, "grant", 5),
        (ann, "revoke", 0),
    ]
    section = earned_section(report_model(facts))
    assert section is not None
    assert "was granted 1 time and revoked 1 time" in str(section.lead)
    [revoked, granted] = section.tables[0].rows
    assert (revoked[2], granted[2]) == ("revoked", "granted")


def test_the_next_pass_carries_out_what_could_not_be_done_at_once(
    lost: tuple[Scene, Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without keys the marketplace cannot be called; then the pass has work."""
    scene, path, ann = lost
    with scene.opened(path) as run, run.store.db.atomic():
        run.store.db.execute(
            "INSERT OR REPLACE INTO last_pass (only_row, progress) VALUES (1, '{}')"
        )
    assert recall(load_campaign(path).store) is not None
    with monkeypatch.context() as patch:
        patch.delenv("AWS_ACCESS_KEY_ID")
        reply = workers("grant", path, ann, "--name", NAME, "--because", "A mistake.")
    assert "stored; the next pass tells the marketplace" in reply.output
    assert scene.holders() == set()
    assert recall(load_campaign(path).store) is None
    with scene.opened(path) as run:
        run_pass(run)
    assert scene.holders() == {"ann"}


def test_a_restored_qualification_is_not_revoked_on_the_same_items(
    lost: tuple[Scene, Path, str],
) -> None:
    """Ann reads why she has it again, and the next pass leaves it."""
    scene, path, ann = lost
    reply = workers(
        *("grant", path, ann[:6], "--name", NAME),
        *("--because", "The page was broken.", "--by", "ada"),
    )
    assert reply.exit_code == 0, reply.output
    assert reply.stdout == f"{ann}: granted {NAME}\n"
    assert scene.holders() == {"ann"}
    assert scene.messages("ann")[-1] == (
        f"You have the qualification “{NAME}” again: The page was broken."
    )
    with scene.opened(path) as run:
        run_pass(run, poll_open_hits=True)
    assert scene.holders() == {"ann"}
    for name, because, fault in (
        (NAME, "x", f"{ann} holds '{NAME}'"),
        ("blur", "x", "no file of earned has the name 'blur'"),
        (NAME, " ", "--because is empty"),
    ):
        again = workers("grant", path, ann, "--name", name, "--because", because)
        assert again.exit_code == 2
        assert fault in again.output
