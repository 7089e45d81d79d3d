"""What makes a pass look again; `tests.campaign.test_provenance` has the files."""

from pathlib import Path

import pytest

from piecework.engine.pass_request import PassRequest
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.trusted import own


def _digest(path: Path) -> str:
    return PassRequest(campaign=path, endpoint="http://127.0.0.1:1").digest()


def test_a_picture_more_is_another_request(tmp_path: Path) -> None:
    """Where no file lists them."""
    path = write_campaign(
        tmp_path, CAMPAIGN.replace('[items]\nfile = "items.csv"', 'pictures = "photos"')
    )
    (tmp_path / "photos").mkdir()
    before = _digest(path)
    (tmp_path / "photos/a.jpg").write_bytes(b"")
    assert _digest(path) != before


@pytest.mark.parametrize("address", ["sqlite:///items.db", "${SHOP}"])
def test_a_query_is_always_another_request(tmp_path: Path, address: str) -> None:
    """Only the database knows whether rows have changed, also one that a variable names."""
    text = CAMPAIGN.replace("batches = 2\n", "").replace("[posting]", "[grows]\n[posting]")
    query = f'file = "{address}"\nquery = "SELECT image_id, url FROM items"'
    path = own(write_campaign(tmp_path, text.replace('file = "items.csv"', query)))
    assert _digest(path) != _digest(path)
