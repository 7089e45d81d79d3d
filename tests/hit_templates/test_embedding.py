"""Files beside a page become a part of it, and no other files do."""

import re
from base64 import b64decode
from pathlib import Path
from time import process_time

import pytest
from PIL import Image

from piecework.domain.errors import ConfigError
from piecework.domain.picture_metadata.cleaning import has_place
from piecework.hit_templates.own_html.embedding import LARGEST_BYTES, embedded
from piecework.hit_templates.own_html.page import files_beside
from tests.hit_templates.own_html import task_of

PLACES = {
    "style.css": "<link rel=stylesheet href=style.css>",
    "clip.js": "<script defer src='clip.js?v=3'>let src = \"a.png\"</script>",
    "sub/ding.wav": '<audio src="sub/ding.wav"></audio>',
    "a.png": '<img srcset="https://a.org/b.png 1x, a.png 2x,\na.png 3x" src="./a.png">',
    "b.png": "<style>p { background: url('b.png') }</style>",
    "c.gif": '<p style="background: url(c.gif)">',
    "d.svg": '<svg><image xlink:href="d.svg#part"></image></svg>',
    "e f.jpg": "<video poster = 'e%20f.jpg'></video>",
}


def inside(html: str) -> list[bytes]:
    """The contents of the files inside a page, in its order."""
    return [b64decode(each) for each in re.findall(r";base64,([\w+/=]+)", html)]


@pytest.mark.parametrize("name", PLACES)
def test_a_file_beside_the_page_is_inside_wherever_it_is_named(tmp_path: Path, name: str) -> None:
    """The lines and all that is no address stay as they were."""
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"x")
    page = PLACES[name]
    made = embedded(page, tmp_path / "hit.html", tmp_path)
    assert set(inside(made.html)) == {b"x"}
    assert not files_beside(made.html) or name == "clip.js"
    assert made.html.count("\n") == page.count("\n")
    assert 'let src = "a.png"' in made.html or name != "clip.js"
    assert "https://a.org/b.png 1x" in made.html or name != "a.png"
    assert made.html.endswith('#part"></image></svg>') or name != "d.svg"


def test_a_style_has_its_own_files_inside(tmp_path: Path) -> None:
    """They lie beside the style; what cannot be found is named with file and line."""
    (tmp_path / "css").mkdir()
    (tmp_path / "css/font.woff2").write_bytes(b"font")
    (tmp_path / "css/more.css").write_text("@import 'style.css'; b { }")
    (tmp_path / "css/style.css").write_text(
        "@import 'more.css';\n@font-face { src: url(font.woff2) }\n"
        "p { background: url(/pictures/a.png) }\n@import '//fonts.example.org/x.css';"
    )
    page = "<link rel='stylesheet' href='css/style.css'>"
    made = embedded(page, tmp_path / "hit.html", tmp_path)
    (style,) = inside(made.html)
    more, font = inside(style.decode())
    assert (more, font) == (b"@import 'style.css'; b { }", b"font")
    assert b"'https://fonts.example.org/x.css'" in style
    assert [each.partition("css/")[2] for each in made.lost] == [
        "more.css: line 1: 'style.css'",
        "style.css: line 3: '/pictures/a.png'",
    ]
    with pytest.raises(ConfigError, match=r"style.css: line 4: .*fonts.example.org"):
        task_of(tmp_path, f"{page}<input name='a'>")


def test_only_known_kinds_of_files_in_the_campaigns_folder_are_inside(tmp_path: Path) -> None:
    """No page of a stranger shows workers another file of this machine."""
    folder = tmp_path / "campaign"
    folder.mkdir()
    for file in (tmp_path / "out.png", folder / "keys.json", folder / "store.db"):
        file.write_text("secret")
    (folder / "link.png").symlink_to(tmp_path / "out.png")
    (folder / "a.png").mkdir()
    for name in (
        *("../out.png", "link.png", "%2e%2e/out.png", "keys.json", "store.db", "a.png"),
        *(f"{tmp_path}/out.png", "file:///etc/passwd", "no.png", "a%00.png"),
        *("x" * 5000 + ".png", "\\\\host\\a.png", "${a}.png", "..%2fout.png"),
    ):
        page = f'<img src="{name}">\n<style>p {{ background: url("{name}") }}</style>'
        made = embedded(page, folder / "hit.html", folder)
        assert made.html == page
        assert not any(made.digests.values())


def test_a_file_that_is_too_large_is_left_out_with_its_reason(tmp_path: Path) -> None:
    """Styles and scripts are put in first, and the page stays below its limit."""
    (tmp_path / "b.mp3").write_bytes(b"b" * 500_000)
    (tmp_path / "c.mp3").write_bytes(b"c" * 400_000)
    (tmp_path / "z.js").write_bytes(b"z" * 300_000)
    page = "<audio src=b.mp3></audio><audio src=c.mp3></audio><script src=z.js></script>"
    made = embedded(page, tmp_path / "hit.html", tmp_path)
    assert [each[:1] for each in inside(made.html)] == [b"z"]
    assert len(made.html) < LARGEST_BYTES
    assert set(made.left_out) == {"b.mp3", "c.mp3"}
    assert "500,000 bytes" in made.left_out["b.mp3"]


def test_a_changed_file_is_another_page(tmp_path: Path) -> None:
    """Answers to it are not comparable, so its digest is the task's."""
    digests = set()
    for text in ("a", "b", "b"):
        (tmp_path / "x.css").write_text(text)
        task = task_of(tmp_path, "<link href=x.css rel=stylesheet><input name='a'>")
        digests.add(task.own.digest if task.own else "")
    assert len(digests) == 2


def test_a_picture_inside_does_not_say_where_it_was_taken(tmp_path: Path) -> None:
    """As a picture of an item does not."""
    exif = Image.Exif()
    exif.get_ifd(0x8825).update({1: "N", 2: (1.0, 2.0, 3.0)})
    Image.new("RGB", (8, 8)).save(tmp_path / "a.jpg", exif=exif)
    assert has_place((tmp_path / "a.jpg").read_bytes())
    made = embedded("<img src=a.jpg>", tmp_path / "hit.html", tmp_path)
    (picture,) = inside(made.html)
    assert not has_place(picture)


HOSTILE = ('src="', "<script", "<!--", "url(", "@import '", "src = ", "<img srcset=")
AROUND = ("{}", "<img srcset='{}'>", "<script src={}", "<style>{}")


@pytest.mark.parametrize("around", AROUND)
def test_a_hostile_page_is_read_in_linear_time(tmp_path: Path, around: str) -> None:
    """A page of twice the size takes less than three times the processor's time."""

    def seconds(part: str, size: int) -> float:
        page, taken = around.format(part * (size // len(part))), []
        for _ in range(3):
            begin = process_time()
            embedded(page, tmp_path / "hit.html", tmp_path)
            taken.append(process_time() - begin)
        return min(taken)

    for part in (*HOSTILE, " ", ","):
        # Squared time would be seconds here, and linear time is milliseconds.
        assert seconds(part, 40_000) < 3 * seconds(part, 20_000) + 0.05


def test_styles_that_import_each_other_are_read_once(tmp_path: Path) -> None:
    """However often, or in a circle."""
    for n in range(30):
        imports = "".join(f"@import '{each}.css';" for each in range(30))
        (tmp_path / f"{n}.css").write_text(imports)
    begin = process_time()
    made = embedded("<link href=0.css>", tmp_path / "hit.html", tmp_path)
    assert process_time() - begin < 10
    assert len(made.html) <= LARGEST_BYTES
