import json
import sqlite3
from collections import Counter
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from piecework.results.whole_pass import write_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from tests.end_to_end.conftest import Command

pytestmark = pytest.mark.flow

CAMPAIGN = """
name = "small"
description = "Ten drawn pictures in two batches."
task = "caption"
batches = 2
budget = "60.00"
hourly_wage = "10.00"
[items]
scenes = 10
[requirements]
approved_hits_above = 500
countries = ["US"]
[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["rule_violation", "capitals", "quality_words", "same_sentence"]
then = "drop"
because = "Not what the page asks for."
[[decisions.rule]]
on = "worker"
any_of = ["capitals", "quality_words", "same_sentence"]
share = 0.4
then = "exclude"
because = "Two in five answers were not what the page asks for."
[rehearsal]
seed = 3
"""


def _rehearse(folder: Path, command: Command) -> dict[str, object]:
    folder.mkdir(exist_ok=True)
    (folder / "small.toml").write_text(CAMPAIGN)
    done = command("rehearse", folder / "small.toml", "--json")
    assert done.returncode == 0, done.stderr
    facts: dict[str, object] = json.loads(done.stdout)
    return facts


def _rehearse_plainly(folder: Path) -> dict[str, object]:
    folder.mkdir(exist_ok=True)
    (folder / "small.toml").write_text(CAMPAIGN)
    with rehearsal_of(prepare(folder / "small.toml")) as (run, crowd):
        progress = work_through(run, crowd)
        write_results(run)
    return progress.as_dict()


FIRST = "out/small/rehearsals/1"


def _files(out: Path) -> dict[str, bytes]:
    made = [*(out / "dataset").iterdir(), out / "report.html"]
    return {path.name: path.read_bytes() for path in made}


def _posted(out: Path) -> int:
    with sqlite3.connect(out / "marketplace.db") as books:
        return int(books.execute("SELECT count(*) FROM hits").fetchone()[0])


@pytest.mark.early
def test_a_rehearsal_is_whole_repeatable_and_posts_nothing_twice(
    tmp_path: Path, piecework: Command
) -> None:
    """Same seed, same bytes; and again over the finished store: no HIT more.

    In the other folder the passes run without Prefect.
    """
    facts = _rehearse(tmp_path / "one", piecework)
    assert facts["is_finished"] is True
    assert facts["missing"] == 0
    assert facts["accepted"] == 50  # 10 pictures x 5 answers
    assert facts["held_cents"] == 0
    files = _files(tmp_path / "one" / FIRST)
    posted = _posted(tmp_path / "one" / FIRST)
    assert posted == facts["hits_posted"]

    plain = _rehearse_plainly(tmp_path / "other")
    assert plain.items() <= facts.items()
    assert _files(tmp_path / "other/out/small") == files

    remarks = facts["remarks"]
    assert isinstance(remarks, list)
    assert {remark["level"] for remark in remarks} == {"watch"}
    page = unescape(files["report.html"].decode())
    assert all(remark["text"] in page for remark in remarks)

    _check_dataset(tmp_path / "one" / FIRST / "dataset")
    completed = piecework("rehearse", tmp_path / "one/small.toml")
    assert completed.returncode == 0, completed.stderr
    assert _posted(tmp_path / "one" / FIRST) == posted
    assert _files(tmp_path / "one" / FIRST) == files
    # 9 seconds to begin and five pictures at 64 seconds, as `init` states them too.
    assert "a careful worker takes a median of 5.5 minutes" in completed.stdout
    exported = piecework("export", tmp_path / "one/small.toml")
    assert exported.returncode == 0, exported.stderr
    assert _files(tmp_path / "one" / FIRST) == files


def _check_dataset(folder: Path) -> None:
    """It loads with pandas and json, and adds up to five answers a picture."""
    captions = pd.read_csv(folder / "captions.csv", dtype=str, keep_default_na=False)
    aside = pd.read_parquet(folder / "set_aside.parquet")
    assert len(captions) == len(pd.read_parquet(folder / "captions.parquet"))
    canned = aside[(aside["set_aside"] == "canned") & ~aside["is_rejected"]]
    answers = Counter([*captions["item_id"], *canned["item_id"]])
    assert set(answers.values()) == {5}
    assert len(answers) == 10
    combined = json.loads((folder / "captions.json").read_text())
    assert len(combined["images"]) == 10
    workers = set(captions["worker"]) | set(aside["worker"])
    assert all(len(worker) == 16 for worker in workers)
    text = "".join(path.read_text(errors="replace") for path in folder.glob("*.*"))
    with sqlite3.connect(folder.parent / "piecework.db") as store:
        plain = [row[0] for row in store.execute("SELECT worker_id FROM assignments")]
    assert plain
    assert not [worker for worker in set(plain) if worker in text]
    report = (folder.parent / "report.html").read_text()
    assert not [worker for worker in set(plain) if worker in report]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (('task = "caption"', 'task = "origami"'), 2, "origami"),
        (("scenes = 10", 'file = "none.csv"'), 2, "cannot be read"),
        (('budget = "60.00"', 'budget = "1.00"'), 3, "budget is $1.00"),
        (("seed = 3", "seed = 3\nreplay = 'none.csv'"), 2, "none.csv"),
        (("seed = 3", "seed = 3\n[rehearsal.crowd]\nelves = 3"), 2, "elves"),
    ],
)
def test_bad_input_ends_in_a_sentence_and_nothing_is_posted(
    tmp_path: Path, piecework: Command, change: tuple[str, str], code: int, words: str
) -> None:
    """Exit code 2 or 3, no traceback, no HIT."""
    (tmp_path / "small.toml").write_text(CAMPAIGN.replace(*change))
    done = piecework("rehearse", tmp_path / "small.toml")
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    if (tmp_path / FIRST / "marketplace.db").exists():
        assert _posted(tmp_path / FIRST) == 0


def test_live_work_and_closed_hosts_are_refused(tmp_path: Path, piecework: Command) -> None:
    """Exit code 3, with the reason, whatever the campaign."""
    campaign = CAMPAIGN.replace("scenes = 10", 'file = "items.csv"')
    (tmp_path / "small.toml").write_text(campaign)
    rows = "".join(f"{name},https://example.org/{name}\n" for name in "ab")
    (tmp_path / "items.csv").write_text("image_id,url\n" + rows)
    amazon = "https://mturk-requester.us-east-1.amazonaws.com"
    for words in (
        ("--endpoint", amazon),
        ("--endpoint", "http://127.0.0.1:9", "--live"),
        ("--endpoint", "http://192.0.2.1:8080"),
    ):
        done = piecework("run", tmp_path / "small.toml", *words)
        assert done.returncode == 3, done.stderr
        assert "Traceback" not in done.stderr
    assert (
        "2026-09-30"
        in piecework("run", "--once", tmp_path / "small.toml", "--endpoint", amazon).stderr
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.full
def test_status_before_anything_is_a_sentence(tmp_path: Path, installed: Command) -> None:
    """No store yet: exit code 1 and the next step, not a traceback."""
    (tmp_path / "small.toml").write_text(CAMPAIGN)
    done = installed("status", tmp_path / "small.toml")
    assert done.returncode == 1
    assert "piecework rehearse" in done.stderr
    assert "Traceback" not in done.stderr
