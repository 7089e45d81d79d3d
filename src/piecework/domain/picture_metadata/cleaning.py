"""Remove metadata from pictures and turn them upright.

A phone writes into a picture where it was taken, when, and on which device. Workers,
reviewers and readers get only the picture. Its pixels stay as they are. A rotated
picture is saved again, because its orientation is removed with the metadata.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from piecework.domain.picture_metadata import avif, exif, gif, jpeg, png, tiff, webp
from piecework.domain.picture_metadata.upright import (
    Save,
    as_jpeg,
    as_png,
    as_tiff,
    as_webp,
    upright,
)

_PLACE = re.compile(rb"GPSLatitude|GPSLongitude|exif:GPS|geo:lat|geo:long")
"""XMP's names for a location."""


class _Format(NamedTuple):
    """The functions for files of a format.

    Attributes:
        fits: whether a file has the format.
        save: writes the file of a turned picture; `None`: pictures are not turned.
    """

    fits: Callable[[bytes], bool]
    stripped: Callable[[bytes, int], bytes]
    exif_of: Callable[[bytes], bytes]
    save: Save | None = None


_FORMATS = (
    _Format(jpeg.is_jpeg, jpeg.stripped, jpeg.exif_of, as_jpeg),
    _Format(png.is_png, png.stripped, png.exif_of, as_png),
    _Format(gif.is_gif, gif.stripped, gif.exif_of),
    _Format(webp.is_webp, webp.stripped, webp.exif_of, as_webp),
    _Format(tiff.is_tiff, tiff.stripped, tiff.exif_of, as_tiff),
    _Format(avif.is_avif, avif.stripped, avif.exif_of),
)


def without_metadata(content: bytes) -> bytes:
    """Return only the picture, upright, with its colour profile and all its frames.

    Other files and other formats (SVG, BMP) stay as they are. A picture that cannot be
    turned (broken, animated, huge) keeps only its orientation.
    """
    form = _format_of(content)
    if form is None:
        return content
    turned = exif.orientation_in(form.exif_of(content)) if form.save else exif.UPRIGHT
    made = content
    if form.save is not None and turned != exif.UPRIGHT:
        saved = upright(content, turned, form.save)
        if saved is not None:
            made, turned = saved, exif.UPRIGHT
    made = form.stripped(made, turned)
    return content if made == content else made


def is_known(head: bytes) -> bool:
    """Whether a file with this beginning is in a format that can be cleaned."""
    return _format_of(head) is not None


def has_place(content: bytes) -> bool:
    """Whether the file says where the picture was taken."""
    form = _format_of(content)
    if form is None:
        return False
    return exif.has_place(form.exif_of(content)) or bool(_PLACE.search(content))


def _format_of(content: bytes) -> _Format | None:
    return next((form for form in _FORMATS if form.fits(content)), None)
