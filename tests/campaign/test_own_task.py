"""A campaign with a task of its own: named by its path, bound to the task's files."""

from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.binding import bind_store
from piecework.domain.errors import ConfigError, StoreError
from piecework.engine.run_pass import run_pass
from piecework.hit_templates.starters import write_starter
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of
from piecework.store.database import open_store


def test_a_store_is_bound_to_the_files_of_its_task(tmp_path: Path) -> None:
    """A page that changed asks something else; a note that changed does not."""
    path = write_starter(tmp_path / "dog", "choice")
    store = open_store(tmp_path / "piecework.db", create=True)
    bind_store(store, load_campaign(path), "here")
    (tmp_path / "dog" / "NOTES.md").write_text("Another note.")
    bind_store(store, load_campaign(path), "here")
    page = tmp_path / "dog" / "question.html.j2"
    page.write_text(page.read_text() + "<p>More</p>")
    with pytest.raises(StoreError, match=r"its task .*dog has changed"):
        bind_store(store, load_campaign(path), "here")
    store.close()


def test_a_task_is_looked_for_beside_its_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a schedule starts, `./dog` is the same folder."""
    path = write_starter(tmp_path / "dog", "choice")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert load_campaign(Path("..") / path.name).task.name == "dog"


@pytest.mark.parametrize("named", ["dog/", "Dog", "dog.toml", "~/dog"])
def test_what_names_no_task_is_told_with_its_line(tmp_path: Path, named: str) -> None:
    """The sentence says how a task of one's own is named."""
    path = write_starter(tmp_path / "dog", "choice")
    path.write_text(path.read_text().replace('"./dog"', f'"{named}"'))
    with pytest.raises(ConfigError) as raised:
        load_campaign(path)
    (fault,) = raised.value.faults
    assert f"{path}:9: task: " in fault
    assert "./dog" in fault


def test_a_misspelt_heuristic_of_a_task_is_told_with_its_line(tmp_path: Path) -> None:
    """It would never look at anything, and nobody would notice."""
    path = write_starter(tmp_path / "dog", "choice")
    task = tmp_path / "dog" / "task.toml"
    task.write_text(task.read_text().replace("[heuristics.too_fast]", "[heuristics.too_fst]"))
    with pytest.raises(ConfigError) as raised:
        load_campaign(path)
    (fault,) = raised.value.faults
    line = task.read_text().splitlines().index("[heuristics.too_fst]") + 1
    assert f"dog/task.toml:{line}: heuristics.too_fst: no such heuristic" in fault
    assert fault.endswith("did you mean 'too_fast'?")


@pytest.mark.full
def test_a_template_that_one_item_breaks_is_told_before_anything_is_posted(tmp_path: Path) -> None:
    """Half-way it could not be mended any more: the store is bound to its files."""
    path = write_starter(tmp_path / "dog", "choice")
    page = tmp_path / "dog" / "question.html.j2"
    before = '<p class="quoted">'
    fault = "{{ 1 / (item.columns.text.count('Monday') - 1) }}"
    page.write_text(page.read_text().replace(before, f"{fault}{before}"))
    with rehearsal_of(prepare(path)) as (run, _):
        with pytest.raises(ConfigError, match=r"question\.html\.j2:20: division by zero"):
            run_pass(run)
        assert run.store.db.execute("SELECT count(*) FROM hits").fetchone() == (0,)
