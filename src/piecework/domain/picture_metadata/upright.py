"""Save a rotated picture again, upright.

PNG, WebP and TIFF are saved without loss. A JPEG is saved with its own tables or finer
ones, so that the loss is too small to see on a screen.
"""

import io
import warnings
from collections.abc import Callable, Sequence

from PIL import Image, JpegImagePlugin

from piecework.domain.picture_metadata import png

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

_UNREADABLE = (
    OSError,
    ValueError,
    SyntaxError,  # Pillow's for broken PNG
    KeyError,
    TypeError,
    MemoryError,
    Image.DecompressionBombError,
)

Save = Callable[[Image.Image, int, bytes], bytes]
"""Takes an opened picture, its orientation and its file; returns the new file."""


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
