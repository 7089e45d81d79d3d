"""Check on a sample whether the addresses and files of pictures are pictures.

An items file may come from anyone, and this machine requests its addresses. So it never
requests an address inside its own network, even after a redirect, and a slow server
cannot delay the command for long.
"""

import os
import random
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from piecework.campaign.picture_request import PictureRequest
from piecework.domain.campaign import Campaign

SAMPLE = 20
_AT_ONCE = 8
SECONDS = 15.0
"""Time limit for one address with its name, redirects and first bytes. The sample takes
three rounds, so at most three times as long."""

_BEGINNINGS = (
    b"\xff\xd8\xff",
    b"\x89PNG",
    b"GIF8",
    b"RIFF",
    b"BM",
    b"<svg",
    b"<?xml",
    b"<!DOCTYPE svg",
)
_FIRST_BYTES = 64
_AVIF = b"ftypavi"
_SPACE = b"\xef\xbb\xbf \t\r\n"
"""What may precede an SVG: the byte order mark of UTF-8, and white space."""


_WEB = ("http://", "https://")


def sample_of_pictures(campaign: Campaign) -> list[str]:
    """Return at most `SAMPLE` addresses and files of pictures, the same each time.

    Pictures that a rehearsal draws are left out.
    """
    pictures = None if campaign.rehearsal.scenes else campaign.pictures
    names = [item.picture for item in campaign.items]
    there = [name for name in names if name.startswith(_WEB)]
    if pictures is not None:
        own = [pictures.name_of(name) for name in names if not name.startswith(_WEB)]
        there += [
            f"{pictures.address}/{name}"
            for name in own
            if name and _is_inside(name, pictures.folder)
        ]
    draw = random.Random(f"piecework looks at {campaign.name}")  # noqa: S311 - no secret
    return draw.sample(there, min(SAMPLE, len(there)))


def unreached(
    pictures: Sequence[str],
    *,
    bucket: str = "",
    asks_inside: bool = False,
    seconds: float = SECONDS,
) -> list[str]:
    """Return what is wrong with each address or file that is not a picture.

    Args:
        pictures: addresses and files.
        bucket: the address of the bucket, if some of them are in it.
        asks_inside: also request addresses inside this machine's network.
        seconds: time limit for one address.
    """

    def fault(picture: str) -> str:
        if picture.startswith(_WEB):
            request = PictureRequest(picture, asks_inside=asks_inside, seconds=seconds)
            return _of_address(request, seconds=seconds)
        return _of_file(picture, bucket)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [sentence for sentence in pool.map(fault, pictures) if sentence]


def _is_inside(name: str, folder: Path | None) -> bool:
    """Whether a picture is in its folder, also through links."""
    if folder is None:
        return True
    root = os.path.realpath(folder)
    return Path(os.path.realpath(folder / name)).is_relative_to(root)


def _of_file(path: str, bucket: str) -> str:
    try:
        begins = _beginning(path, bucket)
    except OSError as fault:
        return f"{path}: cannot be read ({fault.strerror or fault})"
    return "" if _is_picture(begins) else f"{path}: is not a picture, despite its name"


def _beginning(path: str, bucket: str) -> bytes:
    """Return the first bytes of a file, or of an object in a bucket."""
    if not bucket:
        with Path(path).open("rb") as file:
            return file.read(_FIRST_BYTES)
    # Most campaigns have a folder, and need no pyarrow here.
    from piecework.exchange.table_source import directory_at  # noqa: PLC0415

    # Only the campaign's own address may have variables; a row's cell may not.
    directory = directory_at(bucket, beside=Path())
    name = path.removeprefix(f"{bucket}/")
    with directory.files.open_input_file(directory.at(name)) as object_file:
        return bytes(object_file.read(_FIRST_BYTES))


def _is_picture(begins: bytes) -> bool:
    return begins.lstrip(_SPACE).startswith(_BEGINNINGS) or _AVIF in begins


def _of_address(request: PictureRequest, *, seconds: float) -> str:
    """Return why the address gives no picture, within the time limit."""
    asking = threading.Thread(target=request.run, daemon=True)
    asking.start()
    asking.join(seconds)
    if asking.is_alive():
        request.stop()
        return f"{request.url}: does not answer within {seconds:g} seconds"
    if request.fault:
        return f"{request.url}: {request.fault}"
    if request.kind.startswith("image/") or _is_picture(request.begins):
        return ""
    return f"{request.url}: answers with {request.kind}, which is not a picture"
