"""What a campaign file names is what is read: no link beside it names another file."""

import shutil
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.errors import ConfigError
from piecework.hit_templates.messages import FOLDER
from tests.campaign.test_own_page import written
from tests.trusted import own

PRIVATE = "aws_secret_access_key"


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    """A campaign that somebody sent, beside a secret that they do not have."""
    (tmp_path / "secret.html").write_text(f"<input name='a'>{PRIVATE}")
    (tmp_path / "secret.csv").write_text(f"image_url\nhttps://a.org/{PRIVATE}\n")
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "a.png").write_bytes(b"\x89PNG")
    folder = tmp_path / "sent"
    folder.mkdir()
    return written(folder)


def linked(folder: Path, name: str, target: str) -> None:
    """A link of this name in place of what lies there."""
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)


def faults(path: Path) -> list[str]:
    """What is wrong with the campaign."""
    with pytest.raises(ConfigError) as raised:
        load_campaign(own(path))
    assert PRIVATE not in "".join(raised.value.faults)
    return list(raised.value.faults)


@pytest.mark.parametrize(
    ("name", "target", "key"),
    [("hit.html", "../secret.html", "task"), ("birds.csv", "../secret.csv", "items.file")],
)
def test_a_link_out_of_the_folder_is_refused(sent: Path, name: str, target: str, key: str) -> None:
    """With file and line of what names it."""
    folder = sent.parent
    linked(folder, name, target)
    (fault,) = faults(sent)
    assert fault.startswith(f"{sent}:{4 if key == 'task' else 11}: {key}: ")
    real = (folder.parent / target.removeprefix("../")).resolve()
    assert f"is a link that leads out of {folder}, to {real}; name that" in fault


@pytest.mark.parametrize("named", ["pictures", "pictures/inner", "./a/../pictures"])
def test_a_folder_of_pictures_is_no_link(sent: Path, named: str) -> None:
    """Else somebody's photos would be posted."""
    linked(sent.parent, "pictures", "../photos")
    (sent.parent / "a").mkdir()
    text = sent.read_text().replace('[items]\nfile = "birds.csv"', f'pictures = "{named}"')
    sent.write_text(text)
    (fault,) = faults(sent)
    assert f"{sent}:10: pictures: {sent.parent / 'pictures'} is a link" in fault


def test_a_picture_in_the_folder_is_no_link_out(sent: Path) -> None:
    """A folder without an items file takes every picture in it."""
    folder = sent.parent / "pictures"
    folder.mkdir()
    linked(folder, "b.png", "../../photos/a.png")
    text = sent.read_text().replace('[items]\nfile = "birds.csv"', 'pictures = "pictures"')
    sent.write_text(text)
    (fault,) = faults(sent)
    assert f"{folder / 'b.png'} is a link that leads out of {folder}" in fault


@pytest.mark.parametrize("named", ["/etc/hosts", "../secret.key", "birds.csv", ""])
def test_a_page_is_html(sent: Path, named: str) -> None:
    """A file of another kind is not posted, wherever it lies."""
    (sent.parent.parent / "secret.key").write_text(PRIVATE)
    sent.write_text(sent.read_text().replace("hit.html", named))
    (fault,) = faults(sent)
    assert "this folder does not exist" in fault or f"{sent}:4: task: " in fault


@pytest.mark.parametrize("key", ["task", "items.file"])
def test_a_name_with_a_nul_is_refused(sent: Path, key: str) -> None:
    """In a sentence, with file and line; no function of paths takes it."""
    name = key.rpartition(".")[2]
    lines = sent.read_text().splitlines()
    lines = [f'{name} = "a\\u0000b"' if line.startswith(f"{name} = ") else line for line in lines]
    sent.write_text("\n".join(lines))
    number = next(n for n, line in enumerate(lines, start=1) if "u0000" in line)
    (fault,) = faults(sent)
    assert fault.startswith(f"{sent}:{number}: {key}: ")
    assert r"cannot have the character '\x00'" in fault


def test_a_task_is_no_link(sent: Path) -> None:
    """Its folder would lend its files to the page."""
    shutil.copytree(FOLDER / "_starters" / "choice", sent.parent.parent / "dog")
    linked(sent.parent, "dog", "../dog")
    text = sent.read_text().replace('task = "hit.html"', 'task = "./dog"')
    sent.write_text(text)
    (fault,) = faults(sent)
    assert f"{sent}:4: task: {sent.parent / 'dog'} is a link" in fault


def test_a_link_inside_the_folder_is_read(sent: Path) -> None:
    """As is what the campaign file names outside of it."""
    (sent.parent / "hit.html").rename(sent.parent / "page.html")
    linked(sent.parent, "hit.html", "page.html")
    shutil.move(sent.parent / "birds.csv", sent.parent.parent / "birds.csv")
    sent.write_text(sent.read_text().replace("birds.csv", "../birds.csv"))
    assert len(load_campaign(own(sent)).items) == 20


@pytest.mark.parametrize(("named", "is_refused"), [(".", True), ("photos", False)])
def test_a_store_is_not_served_as_a_picture(sent: Path, named: str, *, is_refused: bool) -> None:
    """A folder of pictures is served whole, to whoever knows a name in it."""
    photos = sent.parent / "photos"
    photos.mkdir()
    (photos / "a.png").write_bytes(b"\x89PNG")
    text = sent.read_text().replace('[items]\nfile = "birds.csv"', f'pictures = "{named}"')
    sent.write_text(text)
    if is_refused:
        (fault,) = faults(sent)
        assert fault.startswith(f"{sent}:10: pictures: ")
        assert f"{sent.parent.resolve()}, and" in fault
    else:
        assert load_campaign(own(sent)).items
    (sent.parent / "piecework.toml").write_text('[output]\nfolder = "../written"\n')
    assert load_campaign(own(sent)).items
