"""What makes a pass look again: the request, and every file of the campaign."""

from pathlib import Path

import pytest

from piecework.engine.pass_request import PassRequest
from tests.as_needed_campaign import AS_NEEDED, write_as_needed
from tests.small_campaign import CAMPAIGN, write_campaign


def _digest(path: Path) -> str:
    return PassRequest(campaign=path, endpoint="http://127.0.0.1:1").digest()


@pytest.mark.parametrize(
    ("asks", "file"),
    [
        ('task = "caption"', "items.csv"),
        ('question = "hit.html"', "hit.html"),
        ('task = "./dog"', "dog/question.html.j2"),
    ],
)
def test_a_changed_file_is_another_request(
    tmp_path: Path, asks: str, file: str
) -> None:
    """Else a schedule would not see it before something else is due."""
    path = write_campaign(tmp_path, CAMPAIGN.replace('task = "caption"', asks))
    (tmp_path / "dog").mkdir()
    for name in ("hit.html", "dog/question.html.j2"):
        (tmp_path / name).write_text("one")
    before = _digest(path)
    assert _digest(path) == before
    (tmp_path / file).write_text("another")
    assert _digest(path) != before


def test_a_picture_more_is_another_request(tmp_path: Path) -> None:
    """Where no file lists them."""
    path = write_campaign(
        tmp_path, CAMPAIGN.replace('file = "items.csv"', 'pictures = "photos"')
    )
    (tmp_path / "photos").mkdir()
    before = _digest(path)
    (tmp_path / "photos/a.jpg").write_bytes(b"")
    assert _digest(path) != before


def test_a_changed_file_of_a_model_is_a_change(tmp_path: Path) -> None:
    """A pass weighs the labels again, so the last result does not hold."""
    text = AS_NEEDED.replace("[posting]", '[machine]\nvotes = "m.jsonl"\n[posting]')
    path = write_as_needed(tmp_path, text)
    labels = tmp_path / "m.jsonl"
    labels.write_text('{"item": "p1", "label": "congruent"}')
    before = _digest(path)
    assert _digest(path) == before
    labels.write_text('{"item": "p1", "label": "incongruent"}')
    assert _digest(path) != before
