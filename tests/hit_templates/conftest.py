"""The caption task, its example items, and the switch that renews golden pages."""

import json

import pytest

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import Task
from piecework.hit_templates.tasks import FOLDER, load_task


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update-golden`; a person reads the diff before it is committed.

    It is known when this folder is named: `pytest tests/hit_templates --update-golden`.
    """
    parser.addoption("--update-golden", action="store_true", help="write golden pages anew")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden pages are written anew instead of compared."""
    return bool(request.config.getoption("--update-golden", default=False))


@pytest.fixture
def caption_task() -> Task:
    """The caption task as its folder describes it."""
    return load_task("caption")


@pytest.fixture
def example_items() -> list[Item]:
    """The items of the caption task's example file."""
    lines = (FOLDER / "caption" / "example.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [Item(item_id=ItemId(row["image_id"]), columns=row) for row in rows]
