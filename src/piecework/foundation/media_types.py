"""The types of files that pages show, which a server names because browsers may not guess.

Python's own table depends on the machine: files such as `/etc/mime.types` add to it.
"""

from collections.abc import Mapping
from functools import lru_cache
from mimetypes import MimeTypes
from pathlib import PurePath

STYLE, SCRIPT = "text/css", "text/javascript"
TYPES: Mapping[str, str] = {
    ".css": STYLE,
    **dict.fromkeys((".js", ".mjs"), SCRIPT),
    ".vtt": "text/vtt",
    ".png": "image/png",
    **dict.fromkeys((".jpg", ".jpeg"), "image/jpeg"),
    ".gif": "image/gif",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".ico": "image/x-icon",
    **dict.fromkeys((".tif", ".tiff"), "image/tiff"),
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".ttf": "font/ttf",
    ".otf": "font/otf",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    **dict.fromkeys((".ogg", ".oga", ".opus"), "audio/ogg"),
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
    ".aac": "audio/aac",
    **dict.fromkeys((".mp4", ".m4v"), "video/mp4"),
    ".webm": "video/webm",
    ".mov": "video/quicktime",
    ".ogv": "video/ogg",
}
"""By suffix. A page may hold files of these kinds; others beside it stay private."""


def type_of(name: str) -> str:
    """Return the type of a file, the same on each machine.

    >>> type_of("a/b.OGA"), type_of("b.txt"), type_of("b")
    ('audio/ogg', 'text/plain', 'application/octet-stream')
    """
    known = TYPES.get(PurePath(name).suffix.lower())
    return known or _others().guess_type(name)[0] or "application/octet-stream"


@lru_cache(1)
def _others() -> MimeTypes:
    return MimeTypes()


def suffixes_of(kind: str) -> frozenset[str]:
    """Return the suffixes of a kind, such as `audio`."""
    return frozenset(suffix for suffix, type_ in TYPES.items() if type_.startswith(f"{kind}/"))
