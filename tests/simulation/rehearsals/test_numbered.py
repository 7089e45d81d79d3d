"""A campaign has numbered rehearsals; each shows what its own inputs give."""

import hashlib
import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import assemble, load_campaign, load_with_results
from piecework.campaign.binding import store_beside
from piecework.campaign.deriving import complete_text
from piecework.campaign.opened import CampaignRun
from piecework.campaign.rehearsal_folders import (
    KEPT,
    Begun,
    at_number,
    begin_rehearsal,
    endpoint_of,
    file_with_results,
    go_on,
    latest_rehearsal,
    numbers,
    served_at,
)
from piecework.cli.main import main
from piecework.config.campaign_file import parse
from piecework.domain.errors import ConfigError, RefusedForSafety, StoreError
from piecework.domain.progress import Progress
from piecework.domain.store_address import in_folder
from piecework.engine.opening import open_to_look
from piecework.engine.run_pass import run_pass
from piecework.results.whole_pass import write_results
from piecework.simulation.crowd.crowd import Crowd
from piecework.simulation.forecast.compared_rehearsals import compare_rehearsals
from piecework.simulation.rehearsals.campaign import finished_facts, prepare_rehearsal
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store import bound
from piecework.store.database import open_store
from piecework.store.lock import only_pass
from tests.simulation.rehearsals.test_rehearse import CAMPAIGN as DEAR
from tests.small_campaign import heuristics_off
from tests.trusted import own

CAMPAIGN = f"""formats = ["vizwiz_json"]
{DEAR.format(reward="0.40", budget="20.00")}[heuristics]
{heuristics_off("too_fast", "rule_violation", "sentence_off_items")}"""
RULES = """
[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["too_fast", "rule_violation", "sentence_off_items"]
then = "drop"
because = "Set aside: {evidence}."
"""
SMALL = """name = "small"
task = "./mine"
description = "Words"
batches = 1
reward = "0.10"
budget = "20.00"
hourly_wage = "1.00"
[items]
file = "data/items.csv"
"""


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the campaign, rehearsed to its end."""
    path = tmp_path_factory.mktemp("rehearsed") / "birds.toml"
    path.write_text(CAMPAIGN)
    _rehearse(path)
    return path.parent


@pytest.fixture
def path(rehearsed: Path, tmp_path: Path) -> Path:
    """The file of the rehearsed campaign, in a folder of the test's own."""
    shutil.copytree(rehearsed, tmp_path, dirs_exist_ok=True, symlinks=True)
    return tmp_path / "birds.toml"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A campaign file with a task and items of its own."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/items.csv").write_text("item_id,text\na,one\nb,two\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/task.toml").write_text("a task")
    (tmp_path / "mine/question.html.j2").write_text("a page")
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def _rehearse(path: Path, *, again: bool = False) -> tuple[Progress, Begun]:
    """Rehearse as the command does; the progress, and which rehearsal it was."""
    with _opened(path, again=again) as (run, crowd, begun):
        progress = work_through(run, crowd)
        write_results(run)
    return progress, begun


@contextmanager
def _opened(path: Path, *, again: bool = False) -> Iterator[tuple[CampaignRun, Crowd, Begun]]:
    prepared, begun = prepare_rehearsal(path, again=again)
    with rehearsal_of(prepared) as (run, crowd):
        yield run, crowd, begun


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _stated(folder: Path) -> str:
    """The hash of the campaign file that a dataset states."""
    document = json.loads((folder / "dataset/captions.json").read_text())
    return str(document["info"]["campaign_file_sha256"])


def test_a_changed_file_is_the_next_rehearsal_and_states_its_own_hash(path: Path) -> None:
    """The first stays as it was; a file that is put back shows the first again."""
    out = path.parent / "out/dear/rehearsals"
    first = _sha256(path)
    before, begun = _rehearse(path)
    assert (begun.number, begun.is_new, begun.before) == (1, False, None)
    assert _stated(out / "1") == first
    path.write_text(CAMPAIGN.replace('"0.40"', '"0.60"') + RULES)
    after, begun = _rehearse(path)
    assert (begun.number, begun.is_new, begun.before) == (2, True, 1)
    assert begun.changes == ("reward", "decisions.by", "decisions.rule")
    assert after.rewards_cents % 60 == 0
    assert (_stated(out / "2"), _stated(out / "1")) == (_sha256(path), first)
    assert (out / "latest").resolve() == (out / "2").resolve()
    path.write_text(CAMPAIGN)
    again, begun = _rehearse(path)
    assert (begun.number, begun.is_new, again) == (1, False, before)
    assert latest_rehearsal(parse(path)) == 1
    # Nothing changed, and a new one was asked for: the seed gives the same.
    third, begun = _rehearse(path, again=True)
    assert (begun.number, begun.changes, third) == (3, (), before)


def test_one_that_continues_names_the_same_changes(path: Path) -> None:
    """Whether it was interrupted or not, it ends with what changed since the one before."""
    path.write_text(CAMPAIGN.replace('"0.40"', '"0.60"'))
    for is_new in (True, False, False):
        begun = begin_rehearsal(parse(path))
        assert (begun.number, begun.is_new, begun.before) == (2, is_new, 1)
        assert begun.changes == ("reward",)


def test_the_complete_file_in_place_of_the_short_one_changes_no_key(path: Path) -> None:
    """What the file left out is now in it; the text is another, so the rehearsal is too."""
    path.write_text(complete_text(load_campaign(path)))
    _, begun = _rehearse(path)
    assert (begun.number, begun.changes) == (2, ("how the campaign file is written",))
    path.write_text(CAMPAIGN)
    _, begun = _rehearse(path)
    assert begun.number == 1
    path.write_text(CAMPAIGN.replace("answers = ", "answers = 1"))
    with open_to_look(load_with_results(path)) as opened:
        assert opened.changed_inputs == ("answers",)
    with open_to_look(load_with_results(path, rehearsal=2)) as opened:
        assert opened.changed_inputs == ("answers",)


def test_a_rehearsal_without_a_report_is_passed_over(path: Path) -> None:
    """One that was interrupted has no figures, so a change is compared with the last whole one."""
    for reward in ("0.50", "0.60"):
        path.write_text(CAMPAIGN.replace('"0.40"', f'"{reward}"'))
        begun = begin_rehearsal(parse(path))
        assert (begun.before, begun.changes) == (1, ("reward",))
    _rehearse(path)
    assert compare_rehearsals(path).numbers == (1, 3)


def test_an_equal_rehearsal_is_shown_and_nothing_is_written(path: Path) -> None:
    """The command needs no marketplace for it."""
    out = path.parent / "out/dear/rehearsals/1"
    before = {file: file.stat().st_mtime_ns for file in (out / "dataset").iterdir()}
    shown = CliRunner().invoke(main, ["rehearse", str(path)])
    assert shown.exit_code == 0, shown.output
    assert "same as rehearsal 1" in shown.stdout
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert numbers(parse(path)) == [1]


def test_results_of_a_changed_file_state_what_they_were_made_from(path: Path) -> None:
    """`export` and `status` name the change, and never the new hash."""
    out = path.parent / "out/dear/rehearsals/1"
    first = _sha256(path)
    path.write_text(CAMPAIGN.replace('"0.40"', '"0.60"'))
    for command in (["export"], ["export", "--report-only"], ["status"]):
        done = CliRunner().invoke(main, [*command, str(path)])
        assert done.exit_code == 0
        assert done.stdout.startswith(f"rehearsal 1 of {path}\n")
        assert "changed since these answers were decided: reward" in done.stderr
        assert f"piecework rehearse {path}" in done.stderr
    assert _stated(out) == first
    report = (out / "report.html").read_text()
    assert first[:12] in report
    assert _sha256(path)[:12] not in report
    assert "Changed since these answers were decided: reward" in report


def test_each_rehearsal_is_read_with_its_own_files(path: Path) -> None:
    """Items that the file has no more are still in the rehearsal that had them."""
    path.write_text(CAMPAIGN.replace("scenes = 5", "scenes = 4"))
    assert path.read_text() != CAMPAIGN
    with _opened(path) as (run, _, begun):
        run_pass(run)
    assert begun.number == 2
    for number, items in ((1, 5), (2, 4), (None, 4)):
        option = [] if number is None else ["--rehearsal", str(number)]
        shown = CliRunner().invoke(main, ["status", str(path), "--json", *option])
        assert json.loads(shown.stdout)["items"] == items
        assert json.loads(shown.stdout)["rehearsal"] == (number or 2)
    refused = CliRunner().invoke(main, ["status", str(path), "--rehearsal", "7"])
    assert "there is no rehearsal 7; there are 1, 2" in refused.stderr


def test_live_work_is_shown_before_rehearsals(path: Path) -> None:
    """`--rehearsal` still reads a rehearsal, and a new rehearsal leaves live work alone."""
    campaign = load_campaign(path)
    assert load_with_results(path).number == 1
    store = open_store(campaign.store, create=True)
    bound.bind(store, "campaign", campaign.name)
    bound.bind(store, "environment", "http://127.0.0.1:8080")
    store.close()
    before = _sha256(campaign.store.path)
    assert load_with_results(path).number is None
    assert load_with_results(path, rehearsal=1).number == 1
    path.write_text(CAMPAIGN + RULES)
    _rehearse(path)
    assert (load_with_results(path).number, _sha256(campaign.store.path)) == (None, before)


def test_an_interrupted_rehearsal_is_continued_and_then_finished(path: Path) -> None:
    """With a change in between, it stays as it was left."""
    path.write_text(CAMPAIGN.replace('"0.40"', '"0.50"'))
    with _opened(path) as (run, _, begun):
        run_pass(run)
    assert finished_facts(load_with_results(path)) is None
    path.write_text(CAMPAIGN.replace('"0.40"', '"0.70"'))
    begun_only = begin_rehearsal(parse(path))
    assert begun_only.number == 3
    # The stores beside it are of other rehearsals, and none is to be moved to it.
    assert store_beside(assemble(begun_only.file)) is None
    path.write_text(CAMPAIGN.replace('"0.40"', '"0.50"'))
    progress, again = _rehearse(path)
    assert (again.number, again.is_new, progress.is_finished) == (begun.number, False, True)
    facts = finished_facts(load_with_results(path))
    assert facts is not None
    assert facts["rehearsal"] == begun.number


def test_a_rehearsal_has_copies_of_all_that_it_was_made_from(small: Path) -> None:
    """Editing, or removing, a file changes nothing in it."""
    begun = begin_rehearsal(parse(small))
    folder = begun.file.out
    assert (folder / "campaign.toml").read_bytes() == small.read_bytes()
    for name in ("data/items.csv", "mine/task.toml", "mine/question.html.j2"):
        assert (folder / "inputs" / name).read_bytes() == (small.parent / name).read_bytes()
        assert begun.file.named(name) == folder / "inputs" / name
    (small.parent / "data/items.csv").write_text("item_id,text\nc,three\n")
    second = begin_rehearsal(parse(small))
    assert (second.number, second.changes) == (2, ("items.file: data/items.csv",))
    assert "one" in begun.file.named("data/items.csv").read_text()
    # What did not change is not stored twice.
    task = [each.file.named("mine/task.toml") for each in (begun, second)]
    assert task[0].samefile(task[1])


def test_a_schedule_that_takes_a_change_leaves_earlier_rehearsals_alone(small: Path) -> None:
    """Their copies of a file may be one file on the disk."""
    first = begin_rehearsal(parse(small))
    small.write_text(SMALL.replace('"0.10"', '"0.20"'))
    second = begin_rehearsal(parse(small))
    copies = [each.file.named("data/items.csv") for each in (first, second)]
    before = copies[0].read_text()
    (small.parent / "data/items.csv").write_text("item_id,text\nc,three\n")
    assert go_on(parse(small)).rehearsal == second.number
    assert [copy.read_text() for copy in copies] == [before, "item_id,text\nc,three\n"]


def test_a_file_with_a_byte_order_mark_is_rehearsed_and_shown_again(small: Path) -> None:
    """The copy is exact, and is read as the file is."""
    small.write_text(SMALL, encoding="utf-8-sig")
    begun = begin_rehearsal(parse(small))
    assert (begun.file.out / "campaign.toml").read_bytes() == small.read_bytes()
    assert begin_rehearsal(parse(small)).number == begun.number
    assert file_with_results(parse(small)) == begun.file


def test_files_above_the_campaign_are_copied_inside(small: Path, tmp_path: Path) -> None:
    """A name that leads out of the folder leads to the copy, never out of the copies."""
    (tmp_path / "deep").mkdir()
    path = tmp_path / "deep/small.toml"
    path.write_text(SMALL.replace("./mine", "../mine").replace("data/", f"{small.parent}/data/"))
    begun = begin_rehearsal(parse(own(path)))
    inputs = begun.file.out / "inputs"
    assert begun.file.named("../mine/task.toml") == inputs / "_above/mine/task.toml"
    assert (inputs / "_above/mine/task.toml").read_text() == "a task"
    items = begun.file.named(f"{small.parent}/data/items.csv")
    assert items.is_relative_to(inputs)
    assert "one" in items.read_text()


def test_the_newest_ten_are_kept_and_any_at_work(small: Path) -> None:
    """The one that is shown again is kept too."""
    first = begin_rehearsal(parse(small))
    with only_pass(in_folder(first.file.out)):
        for number in range(KEPT + 2):
            small.write_text(SMALL + f"# {number}\n")
            begin_rehearsal(parse(small))
    there = numbers(parse(small))
    assert there == [1, *range(4, KEPT + 4)]
    small.write_text(SMALL)
    assert begin_rehearsal(parse(small)).number == 1
    assert numbers(parse(small)) == there


def test_a_copy_that_was_cut_short_is_no_rehearsal(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one takes its number, and has only its own files."""

    def killed(_path: Path, _target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("shutil.copyfile", killed)
        with pytest.raises(KeyboardInterrupt):
            begin_rehearsal(parse(small))
    assert (numbers(parse(small)), latest_rehearsal(parse(small))) == ([], None)
    (small.parent / "out/small/rehearsals/1/inputs").mkdir(parents=True, exist_ok=True)
    (small.parent / "out/small/rehearsals/1/inputs/left").write_text("from before")
    begun = begin_rehearsal(parse(small))
    assert begun.number == 1
    assert not begun.file.named("left").exists()


@pytest.mark.parametrize("link", ["7", "../../..", "none"])
def test_a_link_that_leads_nowhere_is_ignored(small: Path, link: str) -> None:
    """The highest number is the latest then."""
    begin_rehearsal(parse(small))
    pointed = small.parent / "out/small/rehearsals/latest"
    pointed.unlink()
    pointed.symlink_to(link)
    if link != "../../..":  # which leads out of the campaign's folder: not trusted
        assert latest_rehearsal(parse(small)) == 1


def test_an_edited_copy_is_refused(small: Path) -> None:
    """It says what to edit instead."""
    begun = begin_rehearsal(parse(small))
    copy = begun.file.out / "campaign.toml"
    copy.write_text(SMALL.replace("0.10", "0.20"))
    with pytest.raises(StoreError, match="has changed since the rehearsal began"):
        at_number(parse(small), 1)


def test_a_copy_reaches_nothing_that_its_file_does_not(small: Path, tmp_path: Path) -> None:
    """A folder from a stranger may come with rehearsals of its own making."""
    path = small
    path.write_text(SMALL.replace("./mine", str(tmp_path / "elsewhere/mine")))
    (tmp_path / "elsewhere").mkdir()
    shutil.move(tmp_path / "mine", tmp_path / "elsewhere/mine")
    inner = tmp_path / "inner"
    inner.mkdir()
    path = inner / "small.toml"
    path.write_text(SMALL.replace("./mine", "../elsewhere/mine").replace("data/", "../data/"))
    begin_rehearsal(parse(own(path)))
    path.write_text(SMALL)
    with pytest.raises(RefusedForSafety, match="names what"):
        at_number(parse(path), 1)


def test_a_file_with_faults_makes_no_folder(path: Path) -> None:
    """The fault names the file, and not a copy."""
    path.write_text(CAMPAIGN.replace('"0.40"', '"-1"'))
    with pytest.raises(ConfigError) as refused:
        prepare_rehearsal(path)
    assert all(fault.startswith(str(path)) for fault in refused.value.faults)
    assert not (path.parent / "out/dear/rehearsals/2").exists()


def test_another_crowd_is_another_rehearsal(small: Path) -> None:
    """Its marketplace holds different people."""
    assert begin_rehearsal(parse(small), ["panel"]).changes == ()
    other = begin_rehearsal(parse(small))
    assert (other.number, other.changes) == (2, ("--crowd",))
    assert begin_rehearsal(parse(small), ["panel"]).number == 1


def test_an_address_counts_only_while_its_marketplace_listens(tmp_path: Path) -> None:
    """Its process may have been killed before it could remove the file."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert endpoint_of(tmp_path) == ""
        with served_at(tmp_path, url):
            assert endpoint_of(tmp_path) == url
            listening.close()
            assert endpoint_of(tmp_path) == ""
    assert not [*tmp_path.iterdir()]
