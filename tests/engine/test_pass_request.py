"""What makes a pass look again: the request, and every file of the campaign."""

from pathlib import Path

import pytest

from piecework.engine.pass_request import PassRequest
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
