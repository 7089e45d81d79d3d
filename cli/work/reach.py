"""Whether the addresses of pictures answer with pictures, tried on a sample."""

import random
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException

from domain.campaign import Campaign

SAMPLE = 20
_AT_ONCE = 8
_SECONDS = 15.0
_BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF", b"BM", b"<svg", b"<?xml")
_FIRST_BYTES = 64
_AVIF = b"ftypavi"


def sample_of_addresses(campaign: Campaign) -> list[str]:
    """Addresses on other machines, at most `SAMPLE`; the same ones each time."""
    urls = [item.picture for item in campaign.items]
    foreign = [url for url in urls if url.startswith(("http://", "https://"))]
    draw = random.Random(f"piecework looks at {campaign.name}")  # noqa: S311 - no secret
    return draw.sample(foreign, min(SAMPLE, len(foreign)))


def unreached(urls: Sequence[str]) -> list[str]:
    """What is wrong with each address that does not answer with a picture."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [fault for fault in pool.map(_fault, urls) if fault]


def _fault(url: str) -> str:
    request = urllib.request.Request(  # noqa: S310 - http(s) only, by the caller
        url, headers={"User-Agent": "piecework check", "Accept": "image/*"}
    )
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            kind = answer.headers.get_content_type()
            begins = answer.read(_FIRST_BYTES)
    except urllib.error.HTTPError as refusal:
        return f"{url}: answers {refusal.code} {refusal.reason}"
    except (OSError, HTTPException, ValueError) as fault:
        return f"{url}: does not answer ({getattr(fault, 'reason', fault)})"
    is_picture = begins.lstrip().startswith(_BEGINNINGS) or _AVIF in begins
    if kind.startswith("image/") or is_picture:
        return ""
    return f"{url}: answers with {kind}, which is no picture"
