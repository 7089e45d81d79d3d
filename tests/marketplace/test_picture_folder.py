"""Pictures that a marketplace serves: what their files say beside them stays here."""

import io
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from PIL import Image
from starlette import responses

from piecework.foundation.media_types import TYPES
from piecework.marketplace.http.server import Marketplace, serve
from tests.domain.test_picture_metadata import OWNER, animated, is_clean, saved
from tests.marketplace.market import QUESTION, Market, post


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures of a phone, and what may lie beside them."""
    folder = tmp_path / "pictures"
    (folder / "sub").mkdir(parents=True)
    for form in ("JPEG", "PNG", "WEBP", "TIFF", "AVIF"):
        (folder / f"flat.{form.lower()}").write_bytes(saved(form))
    (folder / "sub" / "tall.jpg").write_bytes(saved("JPEG", 6))
    (folder / "moving.gif").write_bytes(animated("GIF", comment=OWNER.encode()))
    (folder / "own.js").write_text("let a = 1")
    (folder / "broken.jpg").write_bytes(saved("JPEG", 6)[:700])
    (folder / "empty.png").write_bytes(b"")
    return folder


@pytest.fixture
def served(folder: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    """The addresses under which the folder is served."""
    options = Marketplace(tmp_path / "m.db", rehearsal=True, pictures=folder)
    with serve(options) as running:
        base = f"{running.frames_url}/pictures/"
        with httpx.Client(base_url=base, timeout=30) as client:
            yield client


def test_what_is_served_says_nothing_of_who_took_it(served: httpx.Client, folder: Path) -> None:
    """In every format; the files themselves stay as they are."""
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    for path in (path for path in before if path.suffix != ".js"):
        reply = served.get(path.relative_to(folder).as_posix())
        assert reply.status_code == 200
        assert OWNER.encode() not in reply.content, path
        if path.name not in {"broken.jpg", "empty.png"}:
            assert is_clean(reply.content), path
    assert served.get("own.js").text == "let a = 1"
    assert before == {path: path.read_bytes() for path in folder.rglob("*.*")}
    tall = served.get("sub/tall.jpg")
    assert tall.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(tall.content)).size == (40, 61)


def test_a_copy_is_made_once(served: httpx.Client, folder: Path) -> None:
    """It has the picture's own time, so that browsers keep it; a new picture is new."""
    first = served.get("sub/tall.jpg")
    again = served.get("sub/tall.jpg", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    path = folder / "sub" / "tall.jpg"
    modified = Path(path).stat().st_mtime
    path.write_bytes(saved("JPEG", 8))
    os.utime(path, (modified + 5, modified + 5))
    assert served.get("sub/tall.jpg").content != first.content
    part = served.get("sub/tall.jpg", headers={"Range": "bytes=0-1"})
    assert (part.status_code, part.content) == (206, b"\xff\xd8")


def test_many_may_ask_for_a_picture_at_once(served: httpx.Client) -> None:
    """All get the whole copy."""
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: served.get("sub/tall.jpg"), range(48)))
    assert len({reply.content for reply in replies}) == 1
    assert {reply.status_code for reply in replies} == {200}


def test_a_hit_in_the_list_has_a_small_copy_of_its_first_picture(
    folder: Path, tmp_path: Path
) -> None:
    """Small, upright, without metadata; of this marketplace's folder alone, and only there."""
    Image.new("RGB", (12_000, 900), "red").save(folder / "wide & odd.jpg", quality=20)
    with (
        serve(Marketplace(tmp_path / "m.db", rehearsal=True, pictures=folder)) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        ann = market.worker()
        client = market.requester("LAB")
        for number, picture in enumerate(
            (
                '<img src="/pictures/wide%20&amp;%20odd.jpg">',
                '<img src="/pictures/none.jpg"><img src="/pictures/sub/tall.jpg">',
                '<img src="https://elsewhere.example/a.jpg">',
                '<img src="/pictures/../m.db"><img src="/pictures/%2e%2e/m.db">',
                '<img src="/pictures/own.js">',
            )
        ):
            post(client, Title=f"HIT {number}", Question=QUESTION.replace("<p>", f"{picture}<p>"))
        listed = ann.http.get("/worker/hits", headers={"accept": "text/html"}).text
        addresses = re.findall(r'<img class="thumb" src="([^"]+)"', listed)
        assert addresses == ["/thumbnails/sub/tall.jpg", "/thumbnails/wide%20%26%20odd.jpg"]
        for address in addresses:
            copy = ann.http.get(address)
            assert copy.headers["content-type"] == "image/jpeg"
            assert is_clean(copy.content)
            assert max(Image.open(io.BytesIO(copy.content)).size) <= 320
            assert "sandbox" in copy.headers["content-security-policy"]
        for missing in ("own.js", "broken.jpg", "../m.db", "%2e%2e/m.db", "none.jpg", "x" * 5000):
            assert ann.http.get(f"/thumbnails/{missing}").status_code == 404, missing


def test_the_type_of_a_file_does_not_depend_on_the_machine(
    served: httpx.Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python may know no sound of a machine without a list of types; browsers may not guess."""
    monkeypatch.setattr(responses, "guess_type", lambda _: (None, None))
    for suffix, kind in {
        **TYPES,
        ".MP3": "audio/mpeg",
        ".what": "application/octet-stream",
    }.items():
        (folder / f"file{suffix}").write_bytes(b"RIFF sound")
        reply = served.get(f"file{suffix}", headers={"Range": "bytes=0-3"})
        assert reply.headers["content-type"].partition(";")[0] == kind, suffix
        assert (reply.status_code, reply.content) == (206, b"RIFF")
        assert reply.headers["x-content-type-options"] == "nosniff"
