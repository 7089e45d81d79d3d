"""Files with feedback, sent to an address that is valid for an hour."""

import hashlib

import httpx
import pytest

from offline_markets_tests.prolific.people import Refused, Researcher

CONTENT = b"participant,remark\n1,careful\n"


def _address(researcher: Researcher, filename: str) -> str:
    made = researcher.get(
        f"/submissions/signals/upload-url/{filename}", workspace_id=researcher.workspace_id()
    )
    assert made["http_method"] == "PUT"
    assert made["expires_at"] == "2026-01-05T10:00:00.000000Z"
    return str(made["upload_url"])


def test_a_file_arrives_whole(researcher: Researcher) -> None:
    """Without a token; a second one replaces it."""
    address = _address(researcher, "feedback.csv")
    assert researcher.control("GET", "/feedback") == {"results": []}
    for content in (b"first", CONTENT):
        assert httpx.put(address, content=content).status_code == 200
    assert researcher.control("GET", "/feedback")["results"] == [
        {
            "filename": "feedback.csv",
            "workspace_id": researcher.workspace_id(),
            "bytes": len(CONTENT),
            "sha256": hashlib.sha256(CONTENT).hexdigest(),
            "received_at": "2026-01-05T09:00:00.000000Z",
        }
    ]


def test_an_address_expires(researcher: Researcher) -> None:
    """After an hour nothing is taken."""
    address = _address(researcher, "feedback.PDF")
    researcher.wait(hours=1)
    assert httpx.put(address, content=CONTENT).status_code == 403
    assert httpx.put(f"{address}x", content=CONTENT).status_code == 404
    assert researcher.control("GET", "/feedback") == {"results": []}


@pytest.mark.parametrize("filename", ["feedback.exe", "feedback", ".csv"])
def test_only_documented_formats_are_taken(researcher: Researcher, filename: str) -> None:
    """By the end of the name."""
    with pytest.raises(Refused, match="A file ends in"):
        _address(researcher, filename)
