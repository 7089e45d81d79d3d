"""`init --tasks` and `init --new-task` as a user types them."""

import html
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from piecework.cli.main import main
from piecework.hit_templates.tasks import task_names


def test_all_tasks_are_listed_with_what_they_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gallery's, and those of the folder one is in; for people and programs."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    made = runner.invoke(main, ["init", "--new-task", "dog", "--kind", "scale"])
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
