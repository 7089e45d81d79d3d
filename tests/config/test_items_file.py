"""Items files that are none: a pipe, and lines without an end."""

import os
import re
import tomllib
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from PIL import Image

from piecework.campaign.assembling import load_campaign
from piecework.campaign.growing_source import usable_items
from piecework.config import item_pictures
from piecework.config.campaign_file import parse
from piecework.config.items_file import item_row_faults, items_of_folder, read_items, read_rows
from piecework.config.sources import PictureFolder, TableFile
from piecework.domain.errors import ConfigError
from piecework.platforms.clocks import START
from piecework.simulation.rehearsals.checking import check_campaign
from tests.for_each import for_each

COLUMNS = ("image_id", "url")
SEVEN = {"image_id": "7", "url": "https://e.org/7.jpg"}


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody writes into it, so reading would never end."""
    pipe = tmp_path / "items.csv"
    os.mkfifo(pipe)
    with pytest.raises(ConfigError, match="is not a"):
        read_items(pipe, COLUMNS, pictures=None)


@pytest.mark.parametrize("name", ["items.csv", "birds.toml"])
def test_a_file_that_no_memory_holds_is_refused_unread(tmp_path: Path, name: str) -> None:
    """A few bytes on the disk may claim to be twenty gigabytes."""
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(20_000_000_000)
    with pytest.raises(ConfigError, match="has 20,000,000,000 bytes; at most"):
        parse(path) if name == "birds.toml" else read_items(path, COLUMNS, pictures=None)


@pytest.mark.parametrize("name", ["items.jsonl", "items.csv"])
def test_a_line_of_twenty_megabytes_is_said_in_one_of_eighty(tmp_path: Path, name: str) -> None:
    """Neither read as an item nor repeated in the fault."""
    long = "x" * 20_000_000
    path = tmp_path / name
    path.write_text(
        f'{{"image_id": "a", "url": "https://e.org/{long}"}}\n'
        if name.endswith("jsonl")
        else f"image_id,url\na,https://e.org/{long}\n"
    )
    with pytest.raises(ConfigError) as fault:
        read_items(path, COLUMNS, pictures=None)
    assert len(str(fault.value)) < len(str(path)) + 120


def faults_of_id(item_id: str) -> tuple[list[str], list[str]]:
    """What an items file says about an id, and what a source that grows says."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "items.csv"
        path.write_text(f"image_id\n{item_id}\n")
        source = TableFile(path=path, columns=("image_id",))
        ((row,),) = source.read().chunks
        try:
            read_items(path, ("image_id",), pictures=None)
        except ConfigError as fault:
            return list(fault.faults), source.faults(row)
    return [], source.faults(row)


@for_each("item_id", ["7.0", "7.", "1e+16", "1.23457E+11", "1.0E10", "nan"])
def test_a_number_that_a_spreadsheet_made_of_an_id_is_refused(item_id: str) -> None:
    """In an items file as in a source that grows; other tables still have the id itself."""
    finite, growing = faults_of_id(item_id)
    assert finite == growing
    assert "is a decimal number" in finite[0]


@for_each("item_id", ["1.5", "12e45678", "7", "banana"])
def test_what_looks_like_such_a_number_is_an_id(item_id: str) -> None:
    """A section, a hash."""
    assert faults_of_id(item_id) == ([], [])


def test_columns_have_the_names_that_the_campaign_gives_them(tmp_path: Path) -> None:
    """What a file calls otherwise is renamed; all else stays as it is."""
    path = tmp_path / "items.csv"
    path.write_text("id,image_url,species\n7,https://e.org/7.jpg,robin\n")
    (item,) = read_items(
        path, COLUMNS, pictures=None, renamed={"image_id": "id", "url": "image_url", "name": "id"}
    )
    assert item.item_id == "7"
    assert item.columns == {
        "image_id": "7",
        "url": "https://e.org/7.jpg",
        "name": "7",
        "species": "robin",
    }


@pytest.mark.parametrize(
    ("renamed", "message"),
    [
        ({}, r'write items = \{ file = "items.csv", columns = \{ image_id = "image" \} \}$'),
        ({"image_id": "imgae"}, "named in items.columns, is missing; did you mean 'image'"),
        ({"imageid": "image"}, "columns names 'imageid'; did you mean 'image_id'"),
    ],
)
def test_a_column_that_is_not_there_is_looked_for(
    tmp_path: Path, renamed: dict[str, str], message: str
) -> None:
    """The sentence has what is to be written."""
    path = tmp_path / "items.csv"
    path.write_text("image,url\n7,https://e.org/7.jpg\n")
    with pytest.raises(ConfigError, match=message):
        read_items(path, COLUMNS, pictures=None, renamed=renamed, stated="items.csv")


def test_what_names_columns_can_be_pasted(tmp_path: Path) -> None:
    """The line is TOML, also where a name has quotes or nothing is similar."""
    path = tmp_path / "items.csv"
    path.write_text('"image ""id""",Adresse\n7,https://e.org/7.jpg\n')
    with pytest.raises(ConfigError) as refused:
        read_items(path, COLUMNS, pictures=None, stated="pairs/items.csv")
    line = str(refused.value).splitlines()[-1].partition("write ")[2]
    columns = {"image_id": 'image "id"', "url": "..."}
    assert tomllib.loads(line) == {"items": {"file": "pairs/items.csv", "columns": columns}}


@pytest.mark.parametrize("mark", [";", "\t"])
def test_what_spreadsheets_part_cells_by_is_read(tmp_path: Path, mark: str) -> None:
    """Where the comma is in numbers, a table saved as CSV has semicolons."""
    path = tmp_path / "items.csv"
    rows = ["image_id,url,note", '7,https://e.org/7.jpg,"a, b"']
    text = "\r\n".join(row.replace(",", mark) for row in rows).replace(f"a{mark}", "a,")
    path.write_text(text + "\r\n")
    (item,) = read_items(path, COLUMNS, pictures=None)
    assert item.columns["url"] == "https://e.org/7.jpg"
    assert item.columns["note"] == "a, b"


def test_a_line_is_the_one_that_an_editor_shows(tmp_path: Path) -> None:
    """Below empty lines, too, which are no rows; cells that lack at the end are empty."""
    path = tmp_path / "items.csv"
    path.write_text('image_id,url,note\n\na,https://e.org/a\n\n\nb,https://e.org/b,"x\ny"\n,c,\n')
    rows = [
        (3, {"image_id": "a", "url": "https://e.org/a", "note": ""}),
        (7, {"image_id": "b", "url": "https://e.org/b", "note": "x\ny"}),
        (8, {"image_id": "", "url": "c", "note": ""}),
    ]
    assert read_rows(path) == rows
    path.write_text('image_id,url\n\na,"b"c\n')
    with pytest.raises(ConfigError, match="line 3: not valid CSV"):
        read_rows(path)


@for_each("name", ["items.csv", "grows.csv"])
def test_a_row_of_separators_alone_is_no_item(name: str) -> None:
    """Spreadsheets write them below a table, and workers would be paid for nothing to see."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        short = "8;https://e.org/8.jpg" if name == "grows.csv" else ";;;"
        path.write_text(f"image_id;url;;\r\n7;https://e.org/7.jpg;;\r\n{short}\r\n ; ;;\r\n")
        if name == "items.csv":
            assert [dict(row) for _, row in read_rows(path)] == [SEVEN]
        else:
            with closing(TableFile(path=path, columns=COLUMNS).read("")) as delivery:
                (chunk,) = delivery.chunks
            # A row that lacks the cells without a name has a fault as any short row.
            assert [row.fault for row in chunk] == ["", "has 2 cells, but the header has 4"]
            assert chunk[0].cells == SEVEN


def test_a_quote_that_joins_rows_of_tabs_is_a_fault(tmp_path: Path) -> None:
    """Programs that write tabs often quote nothing; a cell in quotes may have lines and tabs."""
    path = tmp_path / "items.csv"
    path.write_text('id\ttext\tby\n1\t"Guten Tag, sagte er\ta\n2\t5" Bild 5"\tb\n')
    with pytest.raises(ConfigError, match="line 3: not valid CSV"):
        read_rows(path)
    path.write_text('id\ttext\tby\n1\t"Guten Tag, sagte er\ta\n2\tBild 5"\tb\n')
    with pytest.raises(ConfigError, match=r"from line 2 on, a cell that begins with a quote"):
        read_rows(path)
    # As that fault says to write it, and as programs that quote write lines of a cell.
    path.write_text('id\ttext\tby\n1\t"""Guten Tag, sagte er"\ta\n2\tBild 5"\tb\n')
    assert [row["text"] for _, row in read_rows(path)] == ['"Guten Tag, sagte er', 'Bild 5"']
    path.write_text('id\ttext\tby\n1\t"line one\nline two"\ta\n')
    assert read_rows(path) == [(3, {"id": "1", "text": "line one\nline two", "by": "a"})]
    path.write_text('id\ttext\tby\n1\t"a\nb\n\tc"\td\n')
    assert read_rows(path) == [(4, {"id": "1", "text": "a\nb\n\tc", "by": "d"})]


@for_each("name", ["items.tsv", "items.parquet", "items.xlsx", "items.txt"])
def test_a_file_of_another_kind_comes_with_what_to_do(name: str) -> None:
    """A user who has such a file has a way to one that can be read."""
    with pytest.raises(ConfigError, match="an items file ends in") as refused:
        read_rows(Path(name))
    assert refused.value.next_step


@for_each(
    "url",
    [
        "https://e.org",
        "http://e.org/",
        "https://a.b-c.org/x/y.jpg?q=[1]&r=%20#f",
        "https://e..org/a.jpg",
        "http://127.0.0.1/a",
    ],
)
def test_an_address_that_is_usual_has_no_fault(url: str) -> None:
    """It is not taken apart, as most are usual; taken apart, it is right as well."""
    places = item_pictures.Places(None, 0, ("url",), ())
    assert item_pictures.url_faults("url", url, places) == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_pictures, "_USUAL", re.compile("(?!)"))
        assert item_pictures.url_faults("url", url, places) == []


@for_each("url", ["https://", "https:///a", "https://e.org/a b", "ftp://e.org/a", "https://[/a"])
def test_an_address_with_a_fault_is_not_usual(url: str) -> None:
    """Only what surely has no fault goes unlooked."""
    places = item_pictures.Places(None, 0, ("url",), ())
    assert item_pictures.url_faults("url", url, places)


def test_commas_without_a_name_or_a_cell_are_passed_over(tmp_path: Path) -> None:
    """Spreadsheets leave them where a column or a row was longer once."""
    path = tmp_path / "items.csv"
    path.write_text("image_id,url,,\n7,https://e.org/7.jpg,,,\n8,https://e.org/8.jpg\n")
    first, second = read_items(path, COLUMNS, pictures=None)
    assert {*first.columns} == {*second.columns} == {"image_id", "url"}


@pytest.mark.parametrize("name", ["items.csv", "items.jsonl"])
def test_cells_have_one_kind_of_line_end(tmp_path: Path, name: str) -> None:
    """A page cannot carry the carriage returns that a spreadsheet leaves in a cell."""
    path = tmp_path / name
    rows = 'image_id,url,note\r\n7,https://e.org/7.jpg,"one\r\ntwo"\r\n'
    if name.endswith("l"):
        rows = r'{"image_id": 7, "url": "https://e.org/7.jpg", "note": "one\r\ntwo"}'
    path.write_bytes(rows.encode())
    (item,) = read_items(path, COLUMNS, pictures=None)
    assert item.columns["note"] == "one\ntwo"


def test_a_folder_of_pictures_is_enough(tmp_path: Path) -> None:
    """Each picture in it and below is an item; what is none is passed over."""
    hidden = [".a.png", "._b.JPG", ".trash/d.jpg", "more/.old/e.jpg"]
    for name in ("b.JPG", "a.png", "notes.txt", "more/c.webp", *hidden):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"-")
    items = items_of_folder(tmp_path, COLUMNS)
    assert [item.columns["url"] for item in items] == ["a.png", "b.JPG", "more/c.webp"]
    assert items[2].item_id == "more/c.webp"
    growing = PictureFolder(path=tmp_path, columns=COLUMNS)
    assert growing.names() == [item.item_id for item in items]


def test_pictures_that_no_browser_shows_are_counted(tmp_path: Path) -> None:
    """As phones and scanners write them; in a folder that has no others, too."""
    (tmp_path / "photos").mkdir()
    for name in ("a.HEIC", "b.heic", "c.tif", ".d.heic"):
        (tmp_path / "photos" / name).write_bytes(b"-")
    path = tmp_path / "birds.toml"
    path.write_text('task = "describe"\nreward = "0.50"\nitems = "photos/"\n')
    counted = r"photos: 3 files left out, because browsers do not show \.heic or \.tif; save"
    with pytest.raises(ConfigError, match=counted):
        check_campaign(path, on=START.date())
    Image.new("RGB", (9, 9)).save(tmp_path / "photos/e.jpg")
    warnings = check_campaign(path, on=START.date()).warnings
    assert len([text for text in warnings if re.search(counted, text)]) == 1


@pytest.mark.parametrize("grows", ["", "[grows]\n"])
def test_a_path_into_the_folder_is_the_same_picture(tmp_path: Path, grows: str) -> None:
    """No page and no dataset gets a path of this machine; outside of the folder is no picture."""
    (tmp_path / "photos/sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to("photos")
    for name in ("photos/sub/b.jpg", "c.jpg"):
        Image.new("RGB", (9, 9)).save(tmp_path / name)
    inside = ["sub/b.jpg", f"{tmp_path}/photos/sub/b.jpg", "../photos/sub/b.jpg"]
    inside += [f"{tmp_path}/link/sub/b.jpg", "sub/../sub/b.jpg"]
    path = tmp_path / "birds.toml"
    head = 'task = "describe"\nreward = "0.50"\nbudget = "9"\n'
    path.write_text(f'{head}pictures = "photos"\nitems = "items.csv"\n{grows}')
    items = tmp_path / "items.csv"
    rows = "".join(f"{number},{name}\n" for number, name in enumerate(inside))
    items.write_text(f"item_id,photo\n{rows}")
    campaign = load_campaign(path)
    growth = campaign.growth
    known = campaign.items if growth is None else usable_items(growth.source)
    assert [item.columns["photo"] for item in known] == ["sub/b.jpg"] * len(inside)
    for name in (f"{tmp_path}/c.jpg", "../c.jpg", "/pictures/../../c.jpg"):
        items.write_text(f"item_id,photo\n1,{name}\n")
        with pytest.raises(ConfigError, match=f"{name!r} is not a file in {tmp_path}/photos"):
            check_campaign(path, on=START.date())


@pytest.mark.parametrize(
    ("columns", "message"),
    [(COLUMNS, "has no picture"), ((*COLUMNS, "text"), "needs the column 'text'")],
)
def test_a_folder_that_tells_too_little_is_said_so(
    tmp_path: Path, columns: tuple[str, ...], message: str
) -> None:
    """Empty, or for a task that asks about more than pictures."""
    with pytest.raises(ConfigError, match=message):
        items_of_folder(tmp_path, columns)


def test_a_folder_of_pictures_that_is_not_there_is_led_to_one(tmp_path: Path) -> None:
    """With what to write, finite or growing."""
    (tmp_path / "photos").mkdir()
    folder = tmp_path / "pothos"
    for read in (
        lambda: items_of_folder(folder, COLUMNS),
        PictureFolder(path=folder, columns=COLUMNS).names,
    ):
        with pytest.raises(ConfigError, match="is not a folder; did you mean 'photos'") as fault:
            read()
        assert 'items = "photos/"' in fault.value.next_step


def test_lines_that_lack_the_same_are_one_fault(tmp_path: Path) -> None:
    """A program wrote them all alike, with several columns that are no plain values."""
    path = tmp_path / "items.jsonl"
    nested = '{"image_id": "a", "url": "https://e.org/7.jpg", "meta": {"m": 1}, "tags": ["x"]}\n'
    path.write_text(nested * 30 + "[]\n")
    with pytest.raises(ConfigError) as raised:
        read_items(path, COLUMNS, pictures=None)
    first, second = raised.value.faults
    assert first.startswith(f"{path}: line 1: 'meta', 'tags' are lists or objects, and a cell is")
    assert first.endswith("(29 more lines like this)")
    assert second == f"{path}: line 31: each line must be one object of plain values"


def test_a_row_without_the_column_of_an_id_names_the_column_that_may_be_it() -> None:
    """A query of a table with `id`, and a page that asks for `item_id`."""
    [fault] = item_row_faults("q: row 1", {"id": "7", "text": "a"}, ("item_id",), pictures=None)
    assert fault.endswith('if id is it, write in [items]: columns = { item_id = "id" }')
    [fault] = item_row_faults("q: row 1", {"key": "7"}, ("item_id",), pictures=None)
    assert fault == "q: row 1: item_id is missing or empty; the columns are key"
