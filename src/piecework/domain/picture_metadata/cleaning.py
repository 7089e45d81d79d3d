"""Remove from a picture what it says of the person who took it, and turn it upright.

PNG, WebP and TIFF are saved without loss. A JPEG is saved with its own tables or finer
ones, so that the loss is too small to see on a screen.

A phone writes into a picture where it was taken, when, and on which device. Workers,
reviewers and readers get only the picture. Its pixels stay as they are. A rotated
picture is saved again, because its orientation is removed with the metadata.
"""

import io
import re
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

from PIL import Image, ImageOps, JpegImagePlugin

from piecework.domain.picture_metadata import avif, gif, jpeg, png, tiff, webp
from piecework.domain.pictures import UNREADABLE

_METHODS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""Transpositions that turn a picture upright, by Exif orientation (CIPA DC-008)."""

_SIDEWAYS = range(5, 9)
_MOST_PIXELS = 100_000_000
"""A larger picture would take a gigabyte."""

_BLOCK, _FINE_STEPS = 16, 4
"""Size of a JPEG's blocks in pixels, and the coarsest quantization step allowed."""

_SAMPLED_ALIKE = (0, 2)
"""Chroma subsamplings that are the same horizontally and vertically (4:4:4, 4:2:0)."""

_SMALL_PIXELS = 320
_SMALL_BYTES = 40_000
"""The longest side of a small copy, and the bytes that are the most for it."""

_UNREADABLE = (*UNREADABLE, Image.DecompressionBombError)

Save = Callable[[Image.Image, int, bytes], bytes]
"""Takes an opened picture, its orientation and its file; returns the new file."""


def small_copy(content: bytes, *, is_svg: bool) -> tuple[str, bytes] | None:
    """Return media type and bytes of a small copy, upright and without metadata.

    `None` if the picture cannot be read, has too many pixels, or is a drawing of more than
    40,000 bytes.
    """
    if is_svg:
        return ("image/svg+xml", content) if len(content) <= _SMALL_BYTES else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content)) as picture:
                picture.draft("RGB", (2 * _SMALL_PIXELS, 2 * _SMALL_PIXELS))
                upright = ImageOps.exif_transpose(picture).convert("RGBA")
    except (*_UNREADABLE, Image.DecompressionBombWarning):
        return None
    upright.thumbnail((_SMALL_PIXELS, _SMALL_PIXELS))
    # Transparent parts become white.
    paper = Image.new("RGBA", upright.size, "white")
    paper.alpha_composite(upright)
    made = io.BytesIO()
    paper.convert("RGB").save(made, "JPEG", quality=70, optimize=True)
    return "image/jpeg", made.getvalue()


def is_sideways(orientation: int) -> bool:
    """Whether width and height are swapped when the picture is turned upright."""
    return orientation in _SIDEWAYS


def upright(content: bytes, orientation: int, save: Save) -> bytes | None:
    """Return the file of the turned picture; `None` if broken, animated or huge."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content)) as picture:
                width, height = picture.size
                is_animated = getattr(picture, "n_frames", 1) > 1
                if is_animated or width * height > _MOST_PIXELS:
                    return None
                return save(picture, orientation, content)
    except _UNREADABLE:
        return None


def as_jpeg(picture: Image.Image, orientation: int, _content: bytes) -> bytes:
    """Save as JPEG with the original's tables, turned like the picture."""
    if not isinstance(picture, JpegImagePlugin.JpegImageFile):
        raise TypeError("not a JPEG")
    tables = [_table(picture, table) for table in picture.quantization.values()]
    if is_sideways(orientation):
        tables = [[table[n % 8 * 8 + n // 8] for n in range(64)] for table in tables]
    sampling = JpegImagePlugin.get_sampling(picture)
    return _file(
        picture.transpose(_METHODS[orientation]),
        "JPEG",
        qtables=tables,
        subsampling=sampling if sampling in _SAMPLED_ALIKE else 0,
        progressive=bool(picture.info.get("progressive")),
        optimize=True,
        icc_profile=picture.info.get("icc_profile"),
    )


def _table(picture: Image.Image, table: Sequence[int]) -> list[int]:
    """Return the original's table, or a finer one if turning changes the blocks."""
    if picture.width % _BLOCK == picture.height % _BLOCK == 0:
        return list(table)
    return [min(steps, _FINE_STEPS) for steps in table]


def as_png(picture: Image.Image, orientation: int, content: bytes) -> bytes:
    """Save as PNG with the original's colours, unless values would lose bits."""
    if png.is_deep(content) and not picture.mode.startswith("I"):
        raise ValueError("16 bits a colour")
    turned = _file(picture.transpose(_METHODS[orientation]), "PNG")
    return png.with_colours_of(turned, content)


def as_webp(picture: Image.Image, orientation: int, _content: bytes) -> bytes:
    """Save as WebP without loss."""
    return _file(
        picture.transpose(_METHODS[orientation]),
        "WEBP",
        lossless=True,
        exact=True,
        icc_profile=picture.info.get("icc_profile"),
    )


def as_tiff(picture: Image.Image, _orientation: int, _content: bytes) -> bytes:
    """Save as TIFF without loss."""
    picture.load()  # Pillow turns a TIFF automatically
    return _file(
        picture.copy(),
        "TIFF",
        compression="tiff_adobe_deflate",
        icc_profile=picture.info.get("icc_profile"),
    )


def _file(picture: Image.Image, form: str, **options: object) -> bytes:
    made = io.BytesIO()
    picture.save(made, form, **options)
    return made.getvalue()


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
    turned = tiff.orientation_in(form.exif_of(content)) if form.save else tiff.UPRIGHT
    made = content
    if form.save is not None and turned != tiff.UPRIGHT:
        saved = upright(content, turned, form.save)
        if saved is not None:
            made, turned = saved, tiff.UPRIGHT
    made = form.stripped(made, turned)
    return content if made == content else made


def has_metadata(content: bytes) -> bool:
    """Whether a cleaned copy holds less, besides being turned; no picture is decoded for it."""
    form = _format_of(content)
    if form is None:
        return False
    turned = tiff.orientation_in(form.exif_of(content)) if form.save else tiff.UPRIGHT
    return form.stripped(content, turned) != content


def is_known(head: bytes) -> bool:
    """Whether a file with this beginning is in a format that can be cleaned."""
    return _format_of(head) is not None


def has_place(content: bytes) -> bool:
    """Whether the file says where the picture was taken."""
    form = _format_of(content)
    if form is None:
        return False
    return tiff.has_place(form.exif_of(content)) or bool(_PLACE.search(content))


def _format_of(content: bytes) -> _Format | None:
    return next((form for form in _FORMATS if form.fits(content)), None)
