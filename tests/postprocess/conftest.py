"""Dataset rows and items to build frames from."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import pytest

from domain.hit import Item
from domain.ids import ItemId
from postprocess.datasets.facts import DatasetFacts
from postprocess.splits import split_of

Row = Mapping[str, object]


@pytest.fixture
def row() -> Callable[..., Row]:
    """Makes a sound row of the dataset frame; arguments replace its values."""

    def make(answer_id: str, item_id: str = "img-1", **values: object) -> Row:
        caption = values.get("caption", "a dog on a lawn")
        return {
            "answer_id": answer_id,
            "item_id": item_id,
            "url": f"https://pictures.example/{item_id}.jpg",
            "split": split_of(ItemId(item_id)),
            "batch": 1,
            "round": 0,
            "position": 1,
            "caption": caption,
            "caption_original": caption,
            "is_precanned": False,
            "is_rejected": False,
            "rejected_because": "",
            "text_detected": "no",
            "flaws": ("none",),
            "flaw_other": "",
            "worker": "00112233445566aa",
            "shown_seconds": 21.5,
            "submitted_at": datetime(2026, 3, 1, 12, tzinfo=UTC),
            "edits": (),
            "is_surplus": False,
            **values,
        }

    return make


@pytest.fixture
def items() -> list[Item]:
    """Four items, `img-1` to `img-4`."""
    return [
        Item(
            item_id=ItemId(f"img-{n}"),
            columns={
                "image_id": f"img-{n}",
                "url": f"https://pictures.example/img-{n}.jpg",
            },
        )
        for n in range(1, 5)
    ]


@pytest.fixture
def facts() -> DatasetFacts:
    """Facts of a campaign with real workers."""
    return DatasetFacts(
        campaign="birds",
        purpose="Captions of birds on wires.",
        task="caption",
        task_version=3,
        source_hash="ab" * 32,
        code_commit="0123abc",
        is_rehearsal=False,
        wanted_per_item=5,
        canned_text="Quality issues are too severe to recognize visual content.",
    )
