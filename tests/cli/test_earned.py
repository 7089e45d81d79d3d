"""`piecework workers earned` and `workers restore`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.engine.passes import run_pass
from piecework.store import assignments
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
            for each in assignments.load(run.store)
            if scene.handle(each.worker_id) == "ann"
        }
    return scene, second, ann


def test_the_list_names_each_change_with_its_evidence(
    lost: tuple[Scene, Path, str],
) -> None:
    """Of both campaigns, by this campaign's pseudonyms; no id in the clear."""
    _, path, ann = lost
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


def test_a_restored_qualification_is_not_revoked_on_the_same_items(
    lost: tuple[Scene, Path, str],
) -> None:
    """Ann reads why she has it again, and the next pass leaves it."""
    scene, path, ann = lost
    reply = workers(
        *("restore", path, ann[:6], "--name", NAME),
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
    again = workers(*("restore", path, ann, "--name", NAME, "--because", "x"))
    assert again.exit_code == 2
    assert f"{ann} holds '{NAME}'" in again.output


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--name", "blur", "--because", "x"], "no [[earned]] has the name 'blur'"),
        (["--name", NAME, "--because", " "], "--because is empty"),
    ],
)
def test_what_cannot_be_restored_is_said(
    lost: tuple[Scene, Path, str], words: list[str], fault: str
) -> None:
    """A fault of use, in words."""
    _, path, ann = lost
    reply = workers("restore", path, ann, *words)
    assert reply.exit_code == 2
    assert fault in reply.output
