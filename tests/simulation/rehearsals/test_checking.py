"""What `check` warns of, and pictures that it looks for."""

import dataclasses
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.hit_templates.tasks import load_task, task_names
from piecework.qc.parameters import counted
from piecework.qc.registry import HEURISTICS
from tests.small_campaign import CAMPAIGN, write_campaign

EXPECTED = 'budget = "20.00"\nminutes = 2'


def _check(path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["check", str(path), *options])


def _warnings(tmp_path: Path, text: str) -> list[str]:
    done = _check(write_campaign(tmp_path, text), "--json")
    assert done.exit_code == 0, done.output
    warnings: list[str] = json.loads(done.output)["warnings"]
    return warnings


def test_the_task_s_own_pace_is_compared_with_reward_and_floor(tmp_path: Path) -> None:
    """9 s and two captions at 64 s each: 2.3 minutes, for which 50 cents are too little."""
    assert _warnings(tmp_path, CAMPAIGN) == []
    (low,) = _warnings(tmp_path, CAMPAIGN.replace('hourly_wage = "5.00"', _FLOOR))
    assert low.startswith("reward: 2.3 minutes at $")
    assert "but a HIT pays $0.50, so bonuses make up the rest" in low


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        *((f'task = "{name}"', load_task(name, "en").columns) for name in task_names()),
        ('task = "hit.html"', ("item_id", "image")),
    ],
)
def test_drawn_pictures_are_items_only_of_tasks_that_need_no_more(
    tmp_path: Path, asked: str, needed: tuple[str, ...]
) -> None:
    """Else a sentence names the columns that they lack, and nothing is drawn."""
    (tmp_path / "hit.html").write_text('<img src="${image}"><input name="a">')
    text = CAMPAIGN.replace('task = "caption"', asked)
    path = write_campaign(tmp_path, text.replace('file = "items.csv"', "scenes = 4"))
    lacking = [name for name in needed if name not in {"image_id", "url"}]
    checked = _check(path)
    if not lacking:
        assert checked.exit_code == 0, checked.output
        return
    rehearsed = CliRunner().invoke(main, ["rehearse", str(path)])
    for done in (checked, rehearsed):
        assert done.exit_code == 2, done.exception
        assert f"{path}:12: items.scenes: the items of " in done.output
        assert f"have {', '.join(lacking)}; drawn pictures" in done.output
    assert not (tmp_path / "out").exists()


_FLOOR = 'hourly_wage = "20.00"'


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('budget = "20.00"', EXPECTED.replace("= 2", "= 0.5"), "the task's own pace"),
        ("items_per_hit = 2", "items_per_hit = 2\nassignment_minutes = 1", "out of time"),
        ('then = "drop"', 'then = "keep"', "every answer becomes part"),
        ('hourly_wage = "5.00"', 'hourly_wage = "0"', "no bonuses will be paid"),
        ('budget = "20.00"', 'budget = "3.00"', "below the expected cost"),
        (
            "[posting]",
            "[requirements]\nworkers = 2\n[posting]",
            "requirements.workers: 2 workers cannot give 2 answers each",
        ),
        (
            "min_images = 2",
            "min_images = 5",
            "never flag here: heuristics.same_sentence.min_images is 5 items of one",
        ),
        (
            '"capitals", "rule_violation"]',
            '"capitals", "low_agreement"]',
            "min_others is 2 answers by others to an item, but there are at most 1",
        ),
    ],
)
def test_what_is_allowed_and_hardly_meant_is_a_warning(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    """One sentence each, which names its key; the campaign may begin."""
    text = CAMPAIGN.replace('then = "reject"', 'then = "approve"')
    text = text.replace("low_agreement = false\n", "")
    assert old in text
    warnings = _warnings(tmp_path, text.replace(old, new))
    assert any(words in warning for warning in warnings)


def test_every_lower_bound_of_a_worker_is_looked_at() -> None:
    """What a heuristic on workers has to see first says what it counts."""
    for heuristic in HEURISTICS:
        names = {field.name for field in dataclasses.fields(heuristic.Params)}
        if heuristic.SUBJECT == "worker" and heuristic.NAME != "contradiction":
            wanted = names & {"min_items", "min_images", "min_texts"}
            assert wanted <= set(counted(heuristic.Params)), heuristic.NAME


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("answers = 2", "anwsers = 2", "did you mean 'answers'?"),
        ('capitals", "rule', 'capitols", "rule', "did you mean 'capitals'?"),
        ("# the end", "[rehearsal.crowd]\ndilligent = 3\n# the end", "mean 'diligent'?"),
        ("# the end", '[rehearsal]\nreplay = "none.txt"\n# the end', "none.txt"),
    ],
)
def test_a_word_that_is_none_is_answered_with_one_that_is(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    """Keys, heuristics, traits; and a replay file that is not there is told now."""
    assert old in CAMPAIGN
    done = _check(write_campaign(tmp_path, CAMPAIGN.replace(old, new)))
    assert done.exit_code == 2, done.output
    assert words in done.output


class _Pictures(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """1 is a picture, 2 nowhere, 3 a page, 4 a picture of no kind, 5 leads to 5."""
        number = Path(self.path).stem
        status = {"2": 404, "5": 302}.get(number, 200)
        kind = {"1": "image/jpeg", "4": "application/octet-stream"}.get(number)
        self.send_response(status)
        self.send_header("Content-Type", kind or "text/html")
        if number == "5":
            self.send_header("Location", self.path)
        self.end_headers()
        self.wfile.write(b"\x89PNG...." if kind else b"<!doctype html>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _pictures() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pictures)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def test_addresses_that_give_no_picture_are_named(tmp_path: Path) -> None:
    """A page in place of a picture is what a worker would see as a broken one."""
    path = write_campaign(tmp_path, pictures=5)
    items = tmp_path / "items.csv"
    with _pictures() as address:
        items.write_text(items.read_text().replace("https://example.org", address))
        bad = _check(path, "--reach", "--internal")
        assert bad.exit_code == 2
        assert f"{address}/2.jpg: answers 404" in bad.output
        assert f"{address}/3.jpg: answers with text/html" in bad.output
        assert f"{address}/5.jpg: answers 302, and" in bad.output
        assert "1.jpg" not in bad.output
        assert "4.jpg" not in bad.output
        rows = items.read_text().splitlines(keepends=True)
        items.write_text(rows[0] + rows[1] + rows[4])
        good = _check(path, "--reach", "--internal")
        assert good.exit_code == 0, good.output
        assert "pictures: 2 tried" in good.output
    gone = _check(path, "--reach", "--internal")
    assert f"{address}/1.jpg: does not answer" in gone.output


def test_a_folder_of_pictures_is_a_campaign(tmp_path: Path) -> None:
    """No table, no columns: `items` alone."""
    path = write_campaign(
        tmp_path, CAMPAIGN.replace('[items]\nfile = "items.csv"', 'items = "photos"')
    )
    (tmp_path / "photos").mkdir()
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / "photos" / name).write_bytes(b"\xff\xd8\xff")
    done = _check(path, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["items"] == 2
    assert _check(path, "--reach").exit_code == 0
    (tmp_path / "photos" / "b.jpg").write_text("<html>Please sign in</html>")
    page = _check(path, "--reach")
    assert page.exit_code == 2
    assert "b.jpg: is not a picture" in page.output
    (tmp_path / "photos" / "a.jpg").unlink()
    (tmp_path / "photos" / "b.jpg").unlink()
    none = _check(path)
    assert ": items: " in none.output
    assert "has no picture" in none.output


@pytest.mark.parametrize(("least", "warned"), [(3, True), (4, False)])
def test_pay_that_hangs_on_few_known_answers_is_warned_of(
    tmp_path: Path, *, least: int, warned: bool
) -> None:
    """Four are the default."""
    text = CAMPAIGN.replace("gold_failed = false\n", "").replace(
        "[decisions]", f"[heuristics.gold_failed]\nmin_items = {least}\n[decisions]"
    )
    text = text.replace('any_of = ["same_sentence"]', 'any_of = ["gold_failed"]')
    text = text.replace("{flagged} of {answers} answers repeat: ", "Not paid: ")
    text = text.replace("share = 1.0\n", "")
    slips = [warning for warning in _warnings(tmp_path, text) if "one slip" in warning]
    assert bool(slips) == warned
