"""`init --tasks` and `init --new-task` as a user types them."""

import html
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from piecework.cli.main import main
from piecework.hit_templates.tasks import load_task, task_names


def test_all_tasks_are_listed_with_what_they_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gallery's, and those of the folder one is in; for people and programs."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    made = runner.invoke(main, ["init", "--new-task", "dog", "--from", "scale"])
    assert made.exit_code == 0, made.output
    assert "piecework preview dog.toml" in made.output
    listing = runner.invoke(main, ["init", "--tasks"]).output
    for name in (*task_names(), "./dog"):
        assert re.search(rf"^{re.escape(name)}$", listing, re.MULTILINE)
    assert "answer: 0 to 100" in listing
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert runner.invoke(main, ["init", "--tasks", ".."]).output.count("answer: 0 to 100") == 1
    refused = runner.invoke(main, ["init", "--tasks", "../dgo"])
    assert refused.exit_code == 2
    monkeypatch.chdir(tmp_path)
    document = json.loads(runner.invoke(main, ["init", "--tasks", "--json"]).output)
    assert [task["task"] for task in document] == [*task_names(), "./dog"]
    assert document[-1]["columns"] == ["item_id", "text"]


@pytest.mark.parametrize("task", task_names())
def test_a_copy_of_a_gallery_task_passes_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    """It is a task of one's own: its texts change, the gallery's do not."""
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(main, ["init", "--new-task", "dog", "--from", task])
    assert made.exit_code == 0, made.output
    title = load_task(task).title
    words = tmp_path / "dog" / "messages.en.toml"
    assert title in words.read_text(encoding="utf-8")
    words.write_text(words.read_text(encoding="utf-8").replace(title, "Dogs!"), encoding="utf-8")
    checked = CliRunner().invoke(main, ["check", "dog.toml"])
    assert checked.exit_code == 0, checked.output
    own = load_task("./dog")
    assert (own.name, own.title) == ("dog", "Dogs!")
    assert [field.name for field in own.fields] == [field.name for field in load_task(task).fields]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--new-task", "dog", "--from", "captoin"], "did you mean 'caption'"),
        (["--new-task", "dog", "--from", "choose"], "no folder to copy"),
        (["--new-task", "dog", "--from", "../caption"], "no folder of the gallery"),
        (["--new-task", "dog", "--from", ""], "no folder of the gallery"),
        (["--new-task", "full", "--from", "caption"], "already exists"),
        (["--new-task", "A dog", "--from", "caption"], "is not a valid name"),
        (["--from", "caption"], "--from goes with --new-task"),
    ],
)
def test_what_cannot_be_copied_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], fault: str
) -> None:
    """And no file is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    refused = CliRunner().invoke(main, ["init", *words])
    assert refused.exit_code == 2
    assert fault in " ".join(refused.output.split())
    assert [path.name for path in tmp_path.rglob("*")] == ["full"]


def test_what_the_help_begins_with_works_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has installed the command has no checkout, and no examples in it."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    help_text = runner.invoke(main, ["--help"]).output
    begin = re.search(r"rehearse one:\n +piecework (.+)", help_text)
    assert begin is not None
    made = runner.invoke(main, begin[1].split())
    assert made.exit_code == 0, made.output
    then = re.search(r"next: piecework rehearse (.+)", made.output)
    assert then is not None
    assert (tmp_path / then[1]).is_file()


def test_a_page_shows_every_task(tmp_path: Path) -> None:
    """Each with its example in a frame that may run it and nothing else."""
    page = tmp_path / "tasks.html"
    done = CliRunner().invoke(main, ["init", "--tasks", "--html", str(page)])
    assert done.exit_code == 0, done.output
    frames = re.findall(r'<iframe sandbox="([^"]*)".*?srcdoc="([^"]*)"', page.read_text())
    assert len(frames) == len(task_names())
    for sandbox, source in frames:
        assert sandbox == "allow-scripts"
        assert "<form id=" in html.unescape(source)
        assert 'src="/pictures' not in html.unescape(source)


@pytest.mark.browser
def test_the_page_of_tasks_alone_scrolls(tmp_path: Path, browser: Browser) -> None:
    """A frame is as high as the page in it, also after a step to a higher one."""
    path = tmp_path / "tasks.html"
    CliRunner().invoke(main, ["init", "--tasks", "--html", str(path)])
    page = browser.new_page(viewport={"width": 1000, "height": 600})
    page.goto(path.as_uri())
    frame = page.frames[1]
    frame.locator("h2").filter(visible=True).first.wait_for()
    rest = "document.documentElement.scrollHeight - window.innerHeight"
    frame.wait_for_function(f"{rest} <= 1")
    before = page.locator("iframe").first.evaluate("frame => frame.clientHeight")
    frame.evaluate("document.querySelector('main').style.paddingTop = '900px'")
    frame.wait_for_function(f"window.innerHeight > {before} && {rest} <= 1")
    page.close()


def test_a_task_that_is_there_already_is_left_alone(tmp_path: Path) -> None:
    """A sentence, and the exit code of what was used wrongly."""
    (tmp_path / "dog").mkdir()
    done = CliRunner().invoke(main, ["init", "--new-task", str(tmp_path / "dog")])
    assert done.exit_code == 2
    assert "already exists" in done.output
