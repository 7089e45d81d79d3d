"""Pictures without their metadata: nothing of it left, the pixels as they were."""

import io
import math
import struct
import zlib
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms, ImageDraw, ImageOps, PngImagePlugin

from piecework.domain.picture_metadata.cleaning import has_metadata, has_place, without_metadata
from tests.examples import examples

OWNER = "Ann Example, 12 Home Street"
XMP = f"<x:xmpmeta><rdf exif:GPSLatitude='52,31N'>{OWNER}</rdf></x:xmpmeta>".encode()
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "AVIF")


def drawn(size: tuple[int, int] = (61, 40), shift: int = 0) -> Image.Image:
    """A smooth picture whose corners all differ."""
    across, down = np.meshgrid(np.linspace(0, 200, size[0]), np.linspace(0, 180, size[1]))
    picture = Image.fromarray(np.dstack([across + shift, down, 200 - across]).astype("uint8"))
    ImageDraw.Draw(picture).rectangle((0, 0, size[0] // 3, size[1] // 3), fill="white")
    return picture


def exif(orientation: int = 1) -> bytes:
    """What a phone writes: place, device, owner, time."""
    made = Image.Exif()
    made[0x0112] = orientation
    made[0x010E] = OWNER
    made[0x010F] = "Maker " + OWNER
    made.get_ifd(0x8769)[0x927C] = OWNER.encode()
    gps = made.get_ifd(0x8825)
    gps[1], gps[2] = "N", (52.0, 31.0, 12.0)
    gps[27] = OWNER.encode()
    return made.tobytes()


def saved(form: str, orientation: int = 1, **options: object) -> bytes:
    """A picture in a file of a format, with all that the format can say."""
    file = io.BytesIO()
    picture = drawn()
    named: dict[str, object] = {"exif": exif(orientation), "icc_profile": PROFILE}
    if form in {"JPEG", "WEBP", "AVIF"}:
        named["xmp"] = XMP
    if form == "JPEG":
        named |= {"comment": OWNER, "quality": 90}
    if form == "PNG":
        text = PngImagePlugin.PngInfo()
        text.add_text("Author", OWNER)
        text.add_text("Comment", OWNER, zip=True)
        text.add_itxt("XML:com.adobe.xmp", XMP.decode())
        named["pnginfo"] = text
    picture.save(file, form, **{**named, **options})
    return file.getvalue()


def opened(content: bytes) -> Image.Image:
    """The picture, as a program shows it that knows of Exif."""
    picture = Image.open(io.BytesIO(content))
    picture.load()
    return ImageOps.exif_transpose(picture)


def pixels(content: bytes) -> "np.ndarray[tuple[int, ...], np.dtype[np.int16]]":
    """Its colours."""
    return np.asarray(opened(content).convert("RGB")).astype("int16")


def psnr(first: bytes, other: bytes) -> float:
    """How alike two pictures are, in dB; what is above 44 looks the same."""
    error = float(np.mean((pixels(first) - pixels(other)) ** 2.0))
    return math.inf if error == 0 else 10 * math.log10(255**2 / error)


def is_clean(content: bytes) -> bool:
    """Whether nothing of what the phone wrote is in the file, packed or not."""
    picture = Image.open(io.BytesIO(content))
    packed = "".join(map(str, picture.info.values()))
    searched = content + packed.encode()
    words = (OWNER.encode(), b"GPSLatitude", b"Maker")
    return not any(word in searched for word in words) and not has_place(content)


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_is_left_and_no_pixel_changes(form: str) -> None:
    """An upright picture is cut, and not saved again."""
    content = saved(form)
    assert OWNER.encode() in content
    assert has_place(content)
    made = without_metadata(content)
    assert is_clean(made)
    assert psnr(made, content) == math.inf
    assert opened(made).info.get("icc_profile") == PROFILE
    assert without_metadata(made) == made


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(2, 9))
def test_a_picture_is_turned_before_its_orientation_goes(form: str, orientation: int) -> None:
    """Any program then shows it as a browser showed the original."""
    content = saved(form, orientation)
    made = without_metadata(content)
    assert is_clean(made)
    assert Image.open(io.BytesIO(made)).getexif().get(0x0112, 1) == 1
    assert Image.open(io.BytesIO(made)).size == opened(content).size
    assert psnr(made, content) > (44 if form == "JPEG" else 1e9)
    assert opened(made).info.get("icc_profile") == PROFILE
    assert without_metadata(made) == made


@pytest.mark.parametrize(
    "options",
    [
        {"progressive": True},
        {"subsampling": "4:4:4"},
        {"subsampling": "4:2:2"},
        {"restart_marker_blocks": 1},
        {"quality": 30},
    ],
)
@pytest.mark.parametrize("orientation", [1, 6])
def test_every_kind_of_jpeg(options: dict[str, object], orientation: int) -> None:
    """Scans in steps, colours at other rates, restarts in the compressed data."""
    content = saved("JPEG", orientation, **options)
    made = without_metadata(content)
    assert is_clean(made)
    assert psnr(made, content) > (1e9 if orientation == 1 else 40)


def test_what_stands_behind_a_jpeg_goes() -> None:
    """Phones put a film there, or a second picture with Exif of its own."""
    content = saved("JPEG") + saved("JPEG", 6) + OWNER.encode()
    made = without_metadata(content)
    assert is_clean(made)
    assert made == without_metadata(saved("JPEG"))


def test_a_thumbnail_in_a_jpeg_goes() -> None:
    """It shows what was cut off the picture since."""
    content = saved("JPEG", exif=b"")
    at = content.index(b"JFIF\0") - 4
    head = b"\xff\xe0" + (16 + 300).to_bytes(2, "big") + b"JFIF\0\1\1\0\0\1\0\1\x0a\x0a"
    made = without_metadata(content[:at] + head + b"A" * 300 + content[at + 18 :])
    assert b"AAAA" not in made
    assert psnr(made, content) == math.inf


def animated(form: str, **options: object) -> bytes:
    """Three frames of different colours and times."""
    frames = [drawn(shift=20 * n) for n in range(3)]
    file = io.BytesIO()
    frames[0].save(file, form, save_all=True, append_images=frames[1:],
                   duration=[50, 100, 150], loop=0, **options)  # fmt: skip
    return file.getvalue()


def frames(content: bytes) -> Iterator[bytes]:
    """The colours of each frame, and its time."""
    picture = Image.open(io.BytesIO(content))
    for number in range(getattr(picture, "n_frames", 1)):
        picture.seek(number)
        seconds = str(picture.info.get("duration")).encode()
        yield picture.convert("RGB").tobytes() + seconds


@pytest.mark.parametrize("orientation", [1, 6])
@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_an_animation_stays_one(form: str, orientation: int) -> None:
    """All frames, their times, and the endless loop."""
    options: dict[str, object] = {"comment": OWNER.encode()}
    if form != "GIF":
        options = {"exif": exif(orientation)}
    content = animated(form, **options)
    made = without_metadata(content)
    assert OWNER.encode() in content
    assert is_clean(made)
    assert has_metadata(content)
    assert not has_metadata(made)
    assert list(frames(made)) == list(frames(content))
    assert Image.open(io.BytesIO(made)).info.get("loop") == (
        Image.open(io.BytesIO(content)).info.get("loop")
    )


def test_a_gif_keeps_its_loop_and_loses_other_applications() -> None:
    """XMP lies in an extension whose name is not a loop's."""
    content = animated("GIF")
    xmp = b"\x21\xff\x0bXMP DataXMP" + XMP + b"\x01" + bytes(range(255, -1, -1)) + b"\0"
    at = content.index(b"\x21\xff\x0bNETSCAPE")
    made = without_metadata(content[:at] + xmp + content[at:] + OWNER.encode())
    assert made == content


def test_every_page_of_a_tiff_is_cleaned() -> None:
    """Each has a table of its own, and Exif may have another."""
    file = io.BytesIO()
    drawn().save(file, "TIFF", save_all=True, append_images=[drawn(shift=30)],
                 exif=exif(), description=OWNER, artist=OWNER)  # fmt: skip
    made = without_metadata(file.getvalue())
    assert is_clean(made)
    assert list(frames(made)) == list(frames(file.getvalue()))


def test_a_deep_png_keeps_its_bits() -> None:
    """Pillow would save 8 of 16; so it is left on its side, and says so."""
    rows = b"".join(b"\0" + bytes(range(30)) for _ in range(4))

    def chunk(name: bytes, body: bytes) -> bytes:
        checked = zlib.crc32(name + body).to_bytes(4, "big")
        return len(body).to_bytes(4, "big") + name + body + checked

    parts = [
        chunk(b"IHDR", struct.pack(">IIBBBBB", 5, 4, 16, 2, 0, 0, 0)),
        chunk(b"gAMA", (45455).to_bytes(4, "big")),
        chunk(b"eXIf", exif(6).removeprefix(b"Exif\0\0")),
        chunk(b"IDAT", zlib.compress(rows)),
        chunk(b"IEND", b""),
    ]
    made = without_metadata(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
    assert is_clean(made)
    assert parts[0] in made
    assert parts[1] in made
    assert parts[3] in made
    assert Image.open(io.BytesIO(made)).getexif()[0x0112] == 6


def test_what_is_no_picture_stays_as_it_is() -> None:
    """Scripts, sounds and drawings lie in such folders too."""
    for content in (b"", b"GIF", b"\xff\xd8", b"<svg/>", b"alert(1)", b"BM" + b"\0" * 60):
        assert without_metadata(content) is content
        assert not has_place(content)


@pytest.mark.parametrize("form", [*FORMATS, "GIF"])
@given(data=st.data())
@examples(60)
def test_a_broken_picture_is_no_crash(form: str, data: st.DataObject) -> None:
    """Cut off, or with some bytes exchanged; whatever comes out is bytes."""
    content = bytearray(_WHOLE[form]())
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, min(len(content), 1500) - 1))
        content[at] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)))
    made = without_metadata(bytes(content[:end]))
    assert isinstance(made, bytes)
    has_place(bytes(content[:end]))


_WHOLE: dict[str, Callable[[], bytes]] = {
    "GIF": lambda: animated("GIF", comment=OWNER.encode()),
    **{form: (lambda form=form: saved(form, 6)) for form in FORMATS},  # type: ignore[misc]
}


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_a_picture_that_was_cut_off_says_nothing_either(form: str) -> None:
    """A browser shows what there is of it."""
    content = saved(form, 6)
    made = without_metadata(content[: len(content) * 9 // 10])
    assert OWNER.encode() not in made
    assert not has_place(made)


def test_an_avif_with_empty_exif_is_read() -> None:
    """By the library that browsers use, which refuses Exif that is none."""
    with Image.open(io.BytesIO(without_metadata(saved("AVIF")))) as picture:
        assert not dict(picture.getexif())


def test_a_picture_of_a_phone_s_size_loses_nothing_that_shows() -> None:
    """Its sides are multiples of a block, so that each block is turned as it is."""
    file = io.BytesIO()
    drawn((640, 416)).save(file, "JPEG", quality=80, exif=exif(6))
    assert psnr(without_metadata(file.getvalue()), file.getvalue()) > 50
