"""A picture's file is whole or not, whatever its format, and is decoded only in doubt."""

import io

import pytest
from PIL import Image

from piecework.config import item_pictures
from piecework.config.item_pictures import fault_of_end
from tests.for_each import for_each

FORMATS = ["PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF"]
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>\n'


def saved(form: str) -> bytes:
    """A noisy picture in a format."""
    file = io.BytesIO()
    Image.effect_noise((64, 48), 60).convert("RGB").save(file, form)
    return file.getvalue()


def fault(content: bytes, *, is_svg: bool = False) -> str:
    """Why a file is not whole."""
    return fault_of_end(io.BytesIO(content), is_svg=is_svg)


@for_each("form", FORMATS)
def test_half_a_file_is_not_whole(form: str) -> None:
    """Nor is one without its last pixels, or an empty one; whole it is."""
    content = saved(form)
    assert not fault(content)
    for cut in (0, 40, len(content) // 4, len(content) // 2, len(content) - 200):
        assert fault(content[:cut])


def test_an_svg_ends() -> None:
    """As text, because Pillow draws none."""
    assert not fault(SVG, is_svg=True)
    assert fault(SVG[:40], is_svg=True)
    assert not fault(b"<svg width='9'/>\n", is_svg=True)  # empty, but whole
    assert fault(b"<svg width='9'><rect/>", is_svg=True)


@for_each("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_usual_picture_is_not_decoded(form: str) -> None:
    """A folder may get thousands of them in a night."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_pictures, "_fault_of_decoding", pytest.fail)
        assert not fault(saved(form))
        if form == "JPEG":  # cameras append videos and notes, some of them pictures themselves
            assert not fault(saved(form) + b"\0" * 100)
            assert not fault(saved(form) + saved(form)[:-50])


def test_a_jpeg_that_another_follows_in_the_middle_is_not_whole() -> None:
    """As an upload leaves it that was cut off and begun again; nor is an end without a picture."""
    picture = saved("JPEG")
    half, head = picture[: len(picture) // 2], picture[: picture.index(b"\xff\xda")]
    for broken in (half + picture, head + b"\xff\xd9", b"\xff\xd8\xff\xd9"):
        assert fault(broken + b"x")
