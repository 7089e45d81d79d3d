"""Dataset rows and items to build frames from."""

import zlib
from collections.abc import Callable, Mapping

import pytest

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.postprocess.datasets.facts import DatasetFacts
from tests.postprocess.made_tables import caption_task

Row = Mapping[str, object]


@pytest.fixture
def row() -> Callable[..., Row]:
    """Makes a sound row about a caption; arguments replace or add cells.

    `text_detected`, `flaws` and `flaw_other` stand for what the page asks so.
    """

    def make(answer_id: str, item_id: str = "img-1", **cells: object) -> Row:
        asked = {
            "value.has_text": cells.pop("text_detected", "no"),
            "value.flaws": cells.pop("flaws", ("none",)),
            "value.flaw_other": cells.pop("flaw_other", ""),
        }
        return {
            "answer_id": answer_id,
            "item_id": item_id,
            "url": f"https://pictures.example/{item_id}.jpg",
            "text": "a dog on a lawn",
            "worker": f"{zlib.crc32(answer_id.encode()):016x}",
            "shown_seconds": 21.5,
            **asked,
            **cells,
        }

    return make


@pytest.fixture
def items() -> list[Item]:
    """Four items, `img-1` to `img-4`."""
    return [
        Item(
            item_id=ItemId(f"img-{n}"),
            columns={"image_id": f"img-{n}", "url": f"https://pictures.example/img-{n}.jpg"},
        )
        for n in range(1, 5)
    ]


@pytest.fixture
def facts() -> DatasetFacts:
    """Facts of a campaign with real workers."""
    return DatasetFacts(
        campaign="birds",
        purpose="Captions of birds on wires.",
        task=caption_task(),
        source_hash="ab" * 32,
        code_commit="0123abc",
        is_rehearsal=False,
        wanted_per_item="5",
    )
