"""What earlier exports wrote does not stay in a dataset."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import OutputFormat
from piecework.domain.dataset import Pictures
from piecework.results.dataset_folder import gone_from
from piecework.results.export import export
from piecework.store.files import write_whole
from tests.conftest import in_full
from tests.review import stores


@pytest.fixture
def run(tmp_path: Path) -> Iterator[OpenedCampaign]:
    """A campaign of four pictures in a folder."""
    with stores.opened(tmp_path, workers=2) as opened:
        yield opened


def _files(
    run: OpenedCampaign, *formats: OutputFormat, pictures: Pictures = "addresses", items: int = 4
) -> set[str]:
    """Export in these formats; return the names of all files of the dataset."""
    campaign = run.campaign
    campaign = replace(
        campaign,
        formats=formats,
        dataset=replace(campaign.dataset, pictures=pictures),
        items=campaign.items[:items],
    )
    export(replace(run, campaign=campaign), with_other_rules=False)
    folder = run.campaign.out / "dataset"
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_files_of_other_formats_go_and_a_users_own_stay(run: OpenedCampaign) -> None:
    """A worker who was forgotten since may be in the former."""
    both = _files(run, "csv", "parquet")
    folder = run.campaign.out / "dataset"
    (folder / "notes.parquet").write_text("mine")
    once = _files(run, "csv")
    assert once == {name for name in both if not name.endswith(".parquet")} | {"notes.parquet"}
    assert gone_from(folder) == both - once
    assert _files(run, "csv", "parquet") == both | {"notes.parquet"}
    assert gone_from(folder) == frozenset()


def test_copies_of_pictures_go_with_their_items(run: OpenedCampaign) -> None:
    """And all of them, with their folder, once the dataset has addresses only."""
    folder = run.campaign.out / "dataset" / "images"
    assert {name for name in _files(run, "csv", pictures="files") if "/" in name} == {
        f"images/{number}.svg" for number in range(1, 5)
    }
    (folder / "own.svg").write_text("<svg/>")
    # A picture that cannot be read now is still one of the dataset's.
    (run.campaign.path.parent / "pictures" / "2.svg").unlink()
    left = {name for name in _files(run, "csv", pictures="files", items=2) if "/" in name}
    assert left == {"images/1.svg", "images/2.svg", "images/own.svg"}
    (folder / "own.svg").unlink()
    assert not {name for name in _files(run, "csv") if "/" in name}
    assert not folder.exists()


def test_an_export_that_ends_early_leaves_no_file_unknown(
    run: OpenedCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one deletes what it does not write itself."""
    with monkeypatch.context() as patched:

        def until_the_last(path: Path, writer: Callable[[BinaryIO], object]) -> None:
            if path.name == "README.md":
                raise OSError("no space left")
            write_whole(path, writer)

        patched.setattr("piecework.results.export.write_whole", until_the_last)
        with pytest.raises(OSError, match="no space"):
            _files(run, "parquet")
    assert not {name for name in _files(run, "csv") if name.endswith(".parquet")}


def test_a_dataset_without_a_record_is_known_by_its_croissant(run: OpenedCampaign) -> None:
    """No name in it leads out of the folder."""
    _files(run, "parquet")
    out = run.campaign.out
    (out / "dataset-files.json").unlink()
    croissant = out / "dataset" / "croissant.json"
    document = json.loads(croissant.read_text())
    document["distribution"] += [{"contentUrl": "../mine.txt"}, {"@id": "pictures"}]
    croissant.write_text(json.dumps(document))
    (out / "mine.txt").write_text("mine")
    assert not {name for name in _files(run, "csv") if name.endswith(".parquet")}
    assert (out / "mine.txt").exists()


def test_no_name_in_a_record_leads_out_of_the_folder(run: OpenedCampaign) -> None:
    """A campaign's folder may come from somebody else, or a user may link folders in it."""
    _files(run, "csv")
    out = run.campaign.out
    outside = out / "elsewhere"
    outside.mkdir()
    (outside / "mine.txt").write_text("mine")
    (out / "dataset" / "linked").symlink_to(outside)
    (out / "dataset" / "own").mkdir()
    (out / "dataset" / "notes").write_text("mine")
    strange = [
        *("../elsewhere/mine.txt", str(outside / "mine.txt"), "linked/mine.txt", "", "."),
        *("own", "notes/a.csv", "stale.csv"),
    ]
    (out / "dataset" / "stale.csv").write_text("old")
    record = {"written": strange, "gone": ["../gone.csv", "gone.csv"]}
    (out / "dataset-files.json").write_text(json.dumps(record))
    assert gone_from(out / "dataset") == {"gone.csv"}
    assert not {"stale.csv", "own", "linked"} & _files(run, "csv")
    assert (outside / "mine.txt").read_text() == "mine"
    assert (out / "dataset" / "own").is_dir()
    assert (out / "dataset" / "notes").is_file()


@pytest.mark.parametrize(
    "record", ['{"written": [1], "gone": []}', "[" * 100_000, *in_full("", "[]")]
)
def test_an_unreadable_record_is_as_none(run: OpenedCampaign, record: str) -> None:
    """The Croissant then names the files."""
    _files(run, "parquet")
    (run.campaign.out / "dataset-files.json").write_text(record)
    assert not {name for name in _files(run, "csv") if name.endswith(".parquet")}
