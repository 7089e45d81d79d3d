"""Whether addresses and files of pictures give pictures, tried on a sample."""

import random
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path

from domain.campaign import Campaign

SAMPLE = 20
_AT_ONCE = 8
_SECONDS = 15.0
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
"""What may stand before an SVG: the mark of UTF-8, and space."""
_REDIRECT = 3


_WEB = ("http://", "https://")


def sample_of_pictures(campaign: Campaign) -> list[str]:
    """Addresses and files of pictures, at most `SAMPLE`; the same ones each time.

    Pictures that a rehearsal draws are none of them.
    """
    folder = None if campaign.rehearsal.scenes else campaign.pictures
    names = [item.picture for item in campaign.items]
    there = [name for name in names if name.startswith(_WEB)]
    if folder is not None:
        own = [name for name in names if name and not name.startswith(_WEB)]
        there += [str(folder / name.removeprefix("/pictures/")) for name in own]
    draw = random.Random(f"piecework looks at {campaign.name}")  # noqa: S311 - no secret
    return draw.sample(there, min(SAMPLE, len(there)))


def unreached(pictures: Sequence[str]) -> list[str]:
    """What is wrong with each address or file that gives no picture."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [fault for fault in pool.map(_fault, pictures) if fault]


def _fault(picture: str) -> str:
    return _of_address(picture) if picture.startswith(_WEB) else _of_file(picture)


def _of_file(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            begins = file.read(_FIRST_BYTES)
    except OSError as fault:
        return f"{path}: cannot be read ({fault.strerror})"
    return "" if _is_picture(begins) else f"{path}: is no picture, for all its name"


def _is_picture(begins: bytes) -> bool:
    return begins.lstrip(_SPACE).startswith(_BEGINNINGS) or _AVIF in begins


def _of_address(url: str) -> str:
    request = urllib.request.Request(  # noqa: S310 - http(s) only, by the caller
        url, headers={"User-Agent": "piecework check", "Accept": "image/*"}
    )
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            kind = answer.headers.get_content_type()
            begins = answer.read(_FIRST_BYTES)
    except urllib.error.HTTPError as refusal:
        if refusal.code // 100 == _REDIRECT:  # a good one is followed
            return f"{url}: answers {refusal.code}, and leads nowhere but round again"
        return f"{url}: answers {refusal.code} {refusal.reason}"
    except (OSError, HTTPException, ValueError) as fault:
        return f"{url}: does not answer ({getattr(fault, 'reason', fault)})"
    if kind.startswith("image/") or _is_picture(begins):
        return ""
    return f"{url}: answers with {kind}, which is no picture"
