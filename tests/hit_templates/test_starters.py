"""What `piecework init --new-task` writes runs at once, and asks what its kind says."""

from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.dealing import all_first_rounds
from piecework.campaign.pricing import price
from piecework.campaign.questions import question
from piecework.campaign.warnings import campaign_warnings
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.hit_templates.starters import STARTER_KINDS, StarterKind, write_starter
from piecework.platforms.clocks import START
from piecework.results.table import answers_table
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through

KINDS = {"text": "text", "choice": "choice", "choices": "choices", "scale": "number"}


def written(folder: Path, kind: StarterKind) -> Campaign:
    """The campaign of a new task called dog."""
    return load_campaign(write_starter(folder / "dog", kind))


@pytest.mark.parametrize("kind", STARTER_KINDS)
def test_a_new_task_can_be_read_and_rendered(tmp_path: Path, kind: StarterKind) -> None:
    """Its campaign names it by its folder; its field is of the kind."""
    campaign = written(tmp_path, kind)
    assert campaign.task.name == "dog"
    assert campaign.task.own is not None
    assert [field.kind for field in campaign.task.fields] == [KINDS[kind]]
    items = {item.item_id: item for item in campaign.items}
    first, *_ = all_first_rounds(campaign, on=START.date())[0]
    assert "answer.4" in question(campaign, first, items)
    cost = price(campaign, on=START.date())
    assert campaign_warnings(campaign, cost) == []


@pytest.mark.full
def test_a_new_task_is_rehearsed_to_the_end(tmp_path: Path) -> None:
    """As it was written, with fewer workers, through all the real parts."""
    path = write_starter(tmp_path / "dog", "choice")
    text = path.read_text() + "crowd = { diligent = 6, straight_liner = 1 }\n"
    path.write_text(text.replace("answers = 5", "answers = 2"))
    with rehearsal_of(prepare(path)) as (run, crowd):
        assert work_through(run, crowd).is_finished
        table = answers_table(run)
    assert set(table["value.answer"]) == {"positive", "negative", "neutral"}
    assert table["problems"].map(len).sum() == 0


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """A folder, a campaign or items of that name stay as they are."""
    for name in ("dog", "dog.toml", "dog.csv"):
        (tmp_path / name).mkdir()
        with pytest.raises(ConfigError, match="already exists"):
            write_starter(tmp_path / "dog", "choice")
        (tmp_path / name).rmdir()
    with pytest.raises(ConfigError, match="small letters"):
        write_starter(tmp_path / "My Dog", "choice")
    assert list(tmp_path.iterdir()) == []
