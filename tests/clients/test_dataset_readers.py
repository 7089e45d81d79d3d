"""A dataset is read whole by `datasets`, `mlcroissant` and `pycocotools`."""

import json
import math
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from piecework.domain.campaign import formats_of
from piecework.domain.dataset import LICENCES, Publication, Shares
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.tasks import load_task
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.splits import splits
from tests.clients.environments import UnavailableError, python_client
from tests.postprocess.made_tables import contents, made_table

pytestmark = pytest.mark.clients

ROOT = Path(__file__).resolve().parents[2]
_DRIVER = Path(__file__).with_name("drivers") / "dataset_readers.py"
_TASKS = sorted(path.parent.name for path in ROOT.glob("hit_templates/*/task.toml"))
_TEXTS = (
    "a dog on a lawn",
    '=HYPERLINK("http://evil.example","click")',
    "she said “hi”\nand left: \U0001f600 \u0645\u06cc\u200c\u062e",
    "nul\x00inside",
    "null",
)
_STATED = Publication(
    title="Birds: “on wires” # and more",
    licence=LICENCES["CC-BY-4.0"],
    items_licence=LICENCES["CC0-1.0"],
    contact="Ada <ada@example.org>",
    citation="@misc{birds,\n  title={Birds}\n}",
    consent="Workers agreed: yes",
    ethics="- none: known",
    homepage="https://birds.example/",
    tags=("birds", "1e3", "no"),
    shares=Shares(train_percent=80, val_percent=10),
)

Dataset = Mapping[str, Any]


def _items(columns: tuple[str, ...]) -> list[Item]:
    """Ten items; the first two have no size, as pictures elsewhere have none."""
    return [
        Item(
            item_id=ItemId(f"i{n}"),
            columns={
                **dict.fromkeys(columns, "text"),
                columns[0]: f"i{n}",
                "url": f"https://pictures.example/{n}.jpg",
                "width": "640" if n > 1 else "",
                "height": "480" if n > 1 else "",
            },
        )
        for n in range(10)
    ]


def _write(folder: Path, name: str) -> None:
    task = load_task(name)
    items = _items(task.columns)
    facts = DatasetFacts(
        campaign=f"made-{name.replace('_', '-')}", purpose="To be read.", task=task,
        source_hash="ab" * 32, code_commit="0123", is_rehearsal=False,
        wanted_per_item="1", publication=_STATED, sizes={},
    )  # fmt: skip
    split_of = splits(items, _STATED.shares)
    rows = [
        {
            "answer_id": f"a{n}",
            "item_id": item.item_id,
            "split": split_of[item.item_id],
            "worker": f"{n:016x}",
            "text": _TEXTS[n % len(_TEXTS)],
        }
        # The last item has no answer.
        for n, item in enumerate(items[:-1])
    ]
    folder.mkdir()
    made = contents(made_table(rows, task), items, facts, formats_of(task))
    for file, content in made.items():
        (folder / file).write_bytes(content)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Dataset]:
    """What the libraries found in the dataset of a task."""
    try:
        python = python_client("readers") / "python"
    except UnavailableError as fault:
        pytest.skip(f"readers of datasets are not here: {fault}")
    home = tmp_path_factory.mktemp("datasets")
    for name in _TASKS:
        _write(home / name, name)
    done = subprocess.run(
        [python, _DRIVER, *(home / name for name in _TASKS)],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    contents_of = json.loads(done.stdout.splitlines()[-1])
    return lambda name: contents_of[str(home / name)]


@pytest.mark.parametrize("name", _TASKS)
def test_the_hub_loads_every_task(read: Callable[[str], Dataset], name: str) -> None:
    """All nine answers by split, 8, 1 and 1 items; items and what was set aside."""
    hub = read(name)["hub"]
    main = "captions" if load_task(name).dataset == "captions" else "answers"
    rows = [row for split in hub[main].values() for row in split]
    assert sorted(row["answer_id"] for row in rows) == [f"a{n}" for n in range(9)]
    assert len(hub["items"]["items"]) == 10
    assert [row["width"] for row in hub["items"]["items"]] == [None] * 2 + [640] * 8
    assert len(hub[main]["train"]) in {7, 8}


@pytest.mark.parametrize("name", _TASKS)
def test_croissant_is_valid_and_loads_every_task(read: Callable[[str], Dataset], name: str) -> None:
    """Neither error nor warning; as many records as rows, and their values."""
    croissant = read(name)["croissant"]
    assert croissant["errors"] == []
    assert croissant["warnings"] == []
    main = "captions" if load_task(name).dataset == "captions" else "answers"
    assert len(croissant["records"][main]) == 9
    assert len(croissant["records"]["items"]) == 10


def test_captions_come_back_as_they_were_written(read: Callable[[str], Dataset]) -> None:
    """By the hub and by COCO, formulas, line breaks and all; NaN is no number."""
    caption = read("caption")
    rows = [row for split in caption["hub"]["captions"].values() for row in split]
    by_id = {row["answer_id"]: row for row in rows}
    assert [by_id[f"a{n}"]["caption"] for n in range(5)] == list(_TEXTS)
    assert by_id["a0"]["shown_seconds"] is None or math.isnan(by_id["a0"]["shown_seconds"])
    coco = caption["coco"]
    assert [image["id"] for image in coco["images"]] == list(range(1, 11))
    assert coco["captions"]["1"] == [_TEXTS[0]]
    assert coco["captions"]["10"] == []
    assert coco["images"][9] | {"width": 640, "height": 480, "license": 1} == (coco["images"][9])
    assert coco["images"][0]["width"] is None


def test_pandas_reads_it(tmp_path: Path) -> None:
    """Parquet and CSV, the whole and by split."""
    _write(tmp_path / "made", "pairwise")
    whole = pd.read_parquet(tmp_path / "made" / "answers.parquet")
    parts = [
        pd.read_parquet(tmp_path / "made" / f"answers_{split}.parquet")
        for split in ("train", "val", "test")
    ]
    assert sorted(pd.concat(parts)["answer_id"]) == sorted(whole["answer_id"])
    table = pd.read_csv(tmp_path / "made" / "answers.csv")
    assert list(table.columns) == list(whole.columns)
