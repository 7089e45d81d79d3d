"""A rehearsal shows what its inputs give; the rehearsal before is set aside, whole."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.cli.main import main
from piecework.domain.campaign import Campaign
from piecework.domain.progress import Progress
from piecework.engine.run_pass import run_pass
from piecework.results.whole_pass import write_results
from piecework.simulation.crowd.crowd import Crowd
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.previous_rehearsal import (
    FOLDER,
    is_finished,
    set_aside_if_changed,
)
from piecework.simulation.rehearsals.rehearsal import rehearsal_at, rehearsal_of, work_through
from piecework.store import bound
from piecework.store.database import open_store
from tests.conftest import in_full
from tests.simulation.rehearsals.test_rehearse import CAMPAIGN as DEAR
from tests.small_campaign import heuristics_off
from tests.stores import KINDS, stored_in, url_of
from tests.trusted import own

CAMPAIGN = f"""[heuristics]
{heuristics_off("too_fast", "rule_violation", "sentence_off_items")}[output]
formats = ["vizwiz_json"]"""
CAMPAIGN = DEAR.format(reward="0.40", budget="20.00").replace("[output]", CAMPAIGN)
RULES = """
[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["too_fast", "rule_violation", "sentence_off_items"]
then = "drop"
because = "Set aside: {evidence}."
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
    shutil.copytree(rehearsed, tmp_path, dirs_exist_ok=True)
    return tmp_path / "birds.toml"


def _rehearse(path: Path) -> tuple[Progress, tuple[str, ...]]:
    """Rehearse as the command does; the progress, and what had changed."""
    with _opened(path) as (run, crowd, changes):
        progress = work_through(run, crowd)
        write_results(run)
    return progress, changes


def _begin(path: Path) -> tuple[str, ...]:
    """Make the first pass of a rehearsal; what had changed."""
    with _opened(path) as (run, _, changes):
        run_pass(run)
    return changes


@contextmanager
def _opened(path: Path) -> Iterator[tuple[CampaignRun, Crowd, tuple[str, ...]]]:
    """A rehearsal with its crowd, and what had changed since the one before."""
    changes: list[str] = []

    def before(campaign: Campaign) -> None:
        changes.extend(set_aside_if_changed(campaign, ()))

    with rehearsal_of(prepare(path, before=before)) as (run, crowd):
        yield run, crowd, tuple(changes)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _stated(folder: Path) -> str:
    """The hash of the campaign file that a dataset states."""
    document = json.loads((folder / "dataset/captions.json").read_text())
    return str(document["info"]["campaign_file_sha256"])


def test_a_changed_file_is_rehearsed_again_and_states_its_own_hash(path: Path) -> None:
    """The result is the new file's, and the one before stays beside it."""
    out = path.parent / "out"
    with _opened(path) as (run, _, changes):
        before = run_pass(run)
    first = _sha256(path)
    assert (changes, _stated(out)) == ((), first)
    path.write_text(CAMPAIGN.replace('"0.40"', '"0.60"') + RULES)
    after, changes = _rehearse(path)
    assert changes == ("rewards.reward", "decisions.by", "decisions.rule")
    assert after.rewards_cents % 60 == 0
    assert before.rewards_cents == 5 * 40
    assert (_stated(out), _stated(out / FOLDER)) == (_sha256(path), first)
    # Put back, the first result comes back too: only inputs decide.
    path.write_text(CAMPAIGN)
    again, _ = _rehearse(path)
    assert again == before
    assert _stated(out / FOLDER) != first


def test_an_equal_rehearsal_is_shown_again(path: Path) -> None:
    """Nothing is thrown away that the same inputs would only make again."""
    assert is_finished(load_campaign(path))
    files = (path.parent / "out/dataset").iterdir()
    before = {file: file.read_bytes() for file in files}
    assert _rehearse(path)[1] == ()
    assert {file: file.read_bytes() for file in before} == before
    assert not (path.parent / "out" / FOLDER).exists()


def test_results_of_a_changed_file_state_what_they_were_made_from(path: Path) -> None:
    """`export`, `report` and `status` name the change, and never the new hash."""
    out = path.parent / "out"
    first = _sha256(path)
    path.write_text(CAMPAIGN.replace('"0.40"', '"0.60"'))
    for command in ("export", "report", "status"):
        done = CliRunner().invoke(main, [command, str(path)])
        assert done.exit_code == 0
        assert "changed since these answers were decided: rewards.reward" in done.stderr
        assert f"piecework rehearse {path}" in done.stderr
    assert _stated(out) == first
    report = (out / "report.html").read_text()
    assert first[:12] in report
    assert _sha256(path)[:12] not in report
    assert "Changed since these answers were decided: rewards.reward" in report


@pytest.mark.parametrize("moved", [3, *in_full(1, 5)])
def test_a_rehearsal_that_was_killed_as_it_was_set_aside_is_moved_whole(
    path: Path, moved: int
) -> None:
    """Its files are in both folders then; the store moves last."""
    out = path.parent / "out"
    files = {file.name for file in out.iterdir() if not file.name.startswith(".")}
    path.write_text(CAMPAIGN.replace('"0.40"', '"0.60"'))
    aside = out / f"{FOLDER}.unfinished"
    aside.mkdir()
    for name in sorted(files - {"piecework.db"})[:moved]:
        (out / name).rename(aside / name)
    assert _begin(path) == ("rewards.reward",)
    assert files == {file.name for file in (out / FOLDER).iterdir()}
    assert not aside.exists()


def test_a_live_store_is_never_set_aside(tmp_path: Path) -> None:
    """A rehearsal in its folder is refused, as before."""
    path = tmp_path / "birds.toml"
    path.write_text(CAMPAIGN)
    campaign = prepare(path)
    store = open_store(campaign.store, create=True)
    bound.bind(store, "campaign", campaign.name)
    bound.bind(store, "environment", "http://127.0.0.1:8080")
    store.close()
    path.write_text(CAMPAIGN + RULES)
    assert set_aside_if_changed(load_campaign(path), ()) == ()
    assert campaign.store.path.exists()


def test_another_crowd_is_another_rehearsal(tmp_path: Path) -> None:
    """Its marketplace holds different people."""
    path = tmp_path / "birds.toml"
    path.write_text(CAMPAIGN)
    campaign = prepare(path)
    with rehearsal_at(campaign, ["panel"]) as (run, _, _):
        run_pass(run)
    assert set_aside_if_changed(campaign, ("panel",)) == ()
    assert set_aside_if_changed(campaign, ()) == ("--crowd",)
    assert not campaign.store.path.exists()


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_store_in_a_database_is_set_aside_as_a_schema(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str
) -> None:
    """Twice, so that the one set aside before is removed."""
    request.param = kind
    path = tmp_path / "birds.toml"
    text = CAMPAIGN.replace('folder = "out"\n', "")
    text = stored_in(text, tmp_path, url_of(request))
    path.write_text(text)
    assert _begin(own(path)) == ()
    for reward in ("0.60", "0.50"):
        path.write_text(text.replace('"0.40"', f'"{reward}"'))
        assert _begin(own(path)) == ("rewards.reward",)
