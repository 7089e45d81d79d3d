"""Pictures of a campaign's folder: sizes, small copies, copies, and bad ones."""

import base64
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from piecework.domain.campaign import Campaign
from piecework.domain.dataset import Pictures, Publication
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.picture_metadata import cleaning
from piecework.domain.pictures import PictureLocation
from piecework.results.export import export
from piecework.results.pictures import (
    copy_pictures,
    local_pictures,
    picture_sizes,
    small_pictures,
    warnings_about_pictures,
)
from tests.campaign.campaigns import campaign
from tests.domain.test_picture_metadata import exif, is_clean, saved
from tests.engine.conftest import Open


def folder_of(campaign: Campaign) -> Path:
    """The folder of a campaign's pictures."""
    assert campaign.pictures is not None
    assert campaign.pictures.folder is not None
    return campaign.pictures.folder


@pytest.fixture
def pictured(tmp_path: Path) -> Campaign:
    """Five items: a photograph, two drawings, none to be read, one elsewhere."""
    folder = tmp_path / "pictures"
    (folder / "sub").mkdir(parents=True)
    noise = Image.effect_noise((1600, 900), 90).convert("RGB")
    noise.save(folder / "sub" / "photo.jpg")
    svg = '<svg xmlns="http://www.w3.org/2000/svg" {}><script>alert(1)</script></svg>'
    (folder / "sized.svg").write_text(svg.format('width="64px" height="48"'))
    (folder / "boxed.svg").write_text(svg.format('viewBox="0 0 30 20.4"'))
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    (tmp_path / "secret.png").write_bytes(b"secret")
    urls = {
        "photo": "/pictures/sub/photo.jpg",
        "sized": "sized.svg",
        "boxed": "boxed.svg",
        "broken": "broken.png",
        "elsewhere": "https://pictures.example/1.jpg",
        "outside": "../secret.png",
    }
    items = tuple(Item(item_id=ItemId(name), columns={"url": url}) for name, url in urls.items())
    return replace(campaign(0), items=items, pictures=PictureLocation(str(folder)))


def test_sizes_are_those_of_the_pictures(pictured: Campaign) -> None:
    """In pixels; what cannot be read has none."""
    assert picture_sizes(pictured) == {"photo": (1600, 900), "sized": (64, 48), "boxed": (30, 20)}


@pytest.fixture
def phone(pictured: Campaign) -> Campaign:
    """Two pictures of a phone, one of them on its side, and one that says nothing."""
    (folder_of(pictured) / "flat.jpg").write_bytes(saved("JPEG"))
    (folder_of(pictured) / "tall.png").write_bytes(saved("PNG", 6))
    urls = ("flat.jpg", "tall.png", "sub/photo.jpg", "boxed.svg")
    items = tuple(Item(item_id=ItemId(url), columns={"url": url}) for url in urls)
    return replace(pictured, items=items)


def size_of(path: Path) -> tuple[int, int]:
    """Width and height of a file's picture, however it is to be turned."""
    with Image.open(path) as picture:
        return picture.size


def test_the_size_of_a_picture_is_that_of_the_upright_one(phone: Campaign) -> None:
    """As its copy in the dataset has it."""
    sizes = picture_sizes(phone)
    assert (sizes["flat.jpg"], sizes["tall.png"]) == ((61, 40), (40, 61))


def test_copies_say_nothing_of_who_took_them(phone: Campaign, tmp_path: Path) -> None:
    """Those of an earlier version, which did, are made again."""
    folder = tmp_path / "dataset" / "images"
    folder.mkdir(parents=True)
    for name in ("flat.jpg", "tall.png"):
        shutil.copy2(folder_of(phone) / name, folder / name)
    copy_pictures(phone, folder, local_pictures(phone))
    for name in ("flat.jpg", "tall.png"):
        assert is_clean((folder / name).read_bytes())
        assert size_of(folder / name) == picture_sizes(phone)[name]
    first = (folder / "tall.png").stat().st_ino
    copy_pictures(phone, folder, local_pictures(phone))
    assert (folder / "tall.png").stat().st_ino == first
    (folder_of(phone) / "tall.png").write_bytes(saved("PNG", 1))
    copy_pictures(phone, folder, local_pictures(phone))
    assert size_of(folder / "tall.png") == (61, 40)
    assert not [*folder.rglob("*.partial")]


def test_a_report_s_pictures_say_nothing_either(phone: Campaign) -> None:
    """They are drawn anew."""
    for address in small_pictures(phone, ["flat.jpg", "tall.png"]).values():
        assert is_clean(base64.b64decode(address.partition(",")[2]))


def test_check_says_that_pictures_carry_metadata(phone: Campaign) -> None:
    """With how many of them a place; nothing where there is nothing to say."""
    (warning,) = warnings_about_pictures(phone)
    assert warning.startswith(
        "2 of 4 pictures checked contain metadata, 2 of them the place (the first is "
        f"{folder_of(phone) / 'flat.jpg'}): workers"
    )
    assert not [*warnings_about_pictures(replace(phone, items=phone.items[2:]))]
    (folder_of(phone) / "flat.jpg").write_bytes(saved("JPEG", exif=b"", xmp=b""))
    (warning,) = warnings_about_pictures(replace(phone, items=phone.items[:1]))
    assert "1 of 1 picture checked" in warning
    assert "place" not in warning


def test_check_turns_no_picture(phone: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred photographs of a phone would take it a minute."""
    monkeypatch.setattr(cleaning, "upright", pytest.fail)
    for orientation in (1, 6):
        bare = saved("JPEG", orientation, exif=exif(orientation), xmp=b"")
        (folder_of(phone) / "flat.jpg").write_bytes(bare)
        (warning,) = warnings_about_pictures(phone)
        assert warning.startswith("2 of 4 pictures checked contain metadata")


def test_check_looks_at_a_sample_of_many(pictured: Campaign) -> None:
    """It decodes fewer, but reads the metadata of all of the sample."""
    avif = saved("AVIF")
    for suffix, count, checked in (("png", 399, 200), ("avif", 45, 15)):
        paths = [folder_of(pictured) / f"{number}.{suffix}" for number in range(count)]
        for path in paths:
            path.touch()
        items = tuple(Item(item_id=ItemId(it.name), columns={"url": it.name}) for it in paths)
        (warning,) = warnings_about_pictures(replace(pictured, items=items))
        assert warning.startswith(f"{checked} of {checked} pictures checked cannot be decoded")
        if suffix == "avif":
            for path in paths:
                path.write_bytes(avif)
            (warning,) = warnings_about_pictures(replace(pictured, items=items))
            assert warning.startswith("45 of 45 pictures checked contain metadata, 45 of them")


def test_check_says_which_pictures_are_none(phone: Campaign) -> None:
    """Workers would be paid for an item that they cannot see; a broken file has no metadata."""
    (folder_of(phone) / "flat.jpg").write_bytes(b"")
    (folder_of(phone) / "tall.png").write_bytes(saved("PNG", 1)[:60])
    broken, *others = warnings_about_pictures(phone)
    where = f"the first is {folder_of(phone) / 'flat.jpg'}: it is empty"
    assert broken.startswith(f"2 of 4 pictures checked cannot be decoded to the end ({where})")
    assert not others


def test_small_copies_are_small(pictured: Campaign) -> None:
    """A photograph of two megabytes adds some kilobytes; a drawing stands as it is."""
    small = small_pictures(pictured, [str(item.item_id) for item in pictured.items])
    assert small.keys() == {"photo", "sized", "boxed"}
    head, _, content = small["photo"].partition(",")
    assert head == "data:image/jpeg;base64"
    copy = Image.open(io.BytesIO(base64.b64decode(content)))
    assert copy.size == (320, 180)
    assert max(map(len, small.values())) < 60_000
    assert small == small_pictures(pictured, list(small))


def test_a_drawing_that_is_large_is_left_out(pictured: Campaign) -> None:
    """A report has to stay one that can be mailed."""
    drawing = folder_of(pictured) / "sized.svg"
    drawing.write_text(drawing.read_text() + " " * 50_000)
    assert "sized" not in small_pictures(pictured, ["sized"])


def test_copies_are_made_of_what_lies_inside_the_folder(pictured: Campaign, tmp_path: Path) -> None:
    """Under their names; nothing from outside, and nothing twice."""
    folder = tmp_path / "dataset" / "images"
    copy_pictures(pictured, folder, local_pictures(pictured))
    copied = {str(path.relative_to(folder)) for path in folder.rglob("*.*")}
    assert copied == {"sub/photo.jpg", "sized.svg", "boxed.svg", "broken.png"}
    first = (folder / "sized.svg").stat().st_ino
    copy_pictures(pictured, folder, local_pictures(pictured))
    assert (folder / "sized.svg").stat().st_ino == first


@pytest.mark.parametrize("pictures", ["files", "addresses"])
def test_an_export_has_the_pictures_if_they_were_asked_for(
    pictures: Pictures, at_work: Open, campaign_text: str, tmp_path: Path
) -> None:
    """Beside the dataset, at the places that its files name; with their sizes."""
    folder = tmp_path / "own"
    folder.mkdir()
    with at_work(campaign_text) as (run, _people):
        items = []
        for item in run.campaign.items:
            Image.new("RGB", (64, 48)).save(folder / f"{item.item_id}.png")
            url = {"url": f"/pictures/{item.item_id}.png"}
            items.append(replace(item, columns={**item.columns, **url}))
        campaign = replace(
            run.campaign,
            items=tuple(items),
            pictures=PictureLocation(str(folder)),
            dataset=Publication(pictures=pictures),
            formats=("csv", "vizwiz_json"),
        )
        export(replace(run, campaign=campaign))
        dataset = campaign.out / "dataset"
        images = json.loads((dataset / "captions.json").read_text())["images"]
        assert {(image["width"], image["height"]) for image in images} == {(64, 48)}
        has_pictures = [(dataset / "images" / image["file_name"]).is_file() for image in images]
        assert has_pictures == [pictures == "files"] * 4
