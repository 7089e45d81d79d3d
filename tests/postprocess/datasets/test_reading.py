"""Captions come back from every format as they were written; bad files are told of."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.postprocess.datasets import reading
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.read_published import from_json
from piecework.postprocess.datasets.reading import from_csv, from_lines, from_parquet, read_captions
from piecework.postprocess.datasets.reading_faults import UnreadableError, read_concept_lists
from piecework.report.corpus.image_groups import difficulties, text_of_images
from tests.for_each import for_each
from tests.postprocess.made_tables import captions_table, contents

MakeRow = Callable[..., Mapping[str, object]]


@pytest.fixture
def folder(tmp_path: Path, row: MakeRow, items: list[Item], facts: DatasetFacts) -> Path:
    """A dataset of piecework in all formats; img-2 has canned answers alone."""
    frame = captions_table(
        [
            row("a1", text="=a cup", text_detected="yes"),
            row("a2", text='a "red"\ncup', text_detected="yes"),
            row("a3", is_canned=True),
            row("a4", text="spam", is_rejected=True, text_detected="no"),
            row("a5", text="too many", is_surplus=True),
            row("b1", "img-2", is_canned=True),
        ]
    )
    made = contents(frame, items, facts, ("csv", "parquet", "vizwiz_json"))
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("name", ["captions.csv", "captions.parquet", "captions.json"])
def test_every_format_of_ours_reads_alike(folder: Path, name: str) -> None:
    """Text as it was, canned and rejected answers from the file beside, no surplus."""
    corpus = read_captions(folder / name)
    assert sorted(caption.text for caption in corpus.novel) == ["=a cup", 'a "red"\ncup']
    assert sorted(
        (caption.is_canned, caption.is_rejected)
        for caption in corpus.captions
        if caption.text != ""
    ) == [(False, False), (False, False), (False, True), (True, False), (True, False)]
    assert sorted(difficulties(corpus).values()) == ["medium", "unrecognizable"]
    assert "yes" in text_of_images(corpus).values()
    assert corpus.holds_canned


def test_a_folder_stands_for_its_captions(folder: Path) -> None:
    """The tables come before the JSON."""
    assert read_captions(folder).source.endswith("/captions.parquet")


def test_a_split_takes_only_its_own_images_from_what_was_set_aside(folder: Path) -> None:
    """Together the splits hold every answer once; a split without any is refused."""
    whole = read_captions(folder / "captions.json")
    split_captions: list[object] = []
    for split in ("train", "val", "test"):
        path = folder / f"captions_{split}.json"
        listed = {str(image["id"]) for image in json.loads(path.read_bytes())["images"]}
        if listed & {caption.image for caption in whole.captions}:
            split_captions += read_captions(path).captions
        else:
            with pytest.raises(ConfigError, match="contains no captions"):
                read_captions(path)
    assert sorted(map(repr, split_captions)) == sorted(map(repr, whole.captions))


def test_without_what_was_set_aside_difficulty_is_unknown(folder: Path) -> None:
    """No canned answer in the file does not make an image easy."""
    for name in ("csv", "parquet", "json"):
        (folder / f"set_aside.{name}").unlink()
        assert not read_captions(folder / f"captions.{name}").holds_canned


@pytest.mark.parametrize("name", ["captions.parquet", "captions.json"])
def test_a_rehearsal_stays_one(
    tmp_path: Path, row: MakeRow, items: list[Item], facts: DatasetFacts, name: str
) -> None:
    """Nobody may take simulated workers for people."""
    rehearsed = replace(facts, is_rehearsal=True)
    made = contents(captions_table([row("a1")]), items, rehearsed, ("parquet", "vizwiz_json"))
    for each, content in made.items():
        (tmp_path / each).write_bytes(content)
    (remark,) = read_captions(tmp_path / name).remarks
    assert "REHEARSAL" in remark


@pytest.mark.parametrize("name", ["captions.csv", "captions.json"])
def test_what_nobody_has_decided_is_read_as_neither(
    tmp_path: Path, row: MakeRow, items: list[Item], facts: DatasetFacts, name: str
) -> None:
    """Of an export half way: not accepted, and not rejected."""
    waiting = {**row("a2"), "is_rejected": True, "is_provisional": True}
    made = contents(captions_table([row("a1"), waiting]), items, facts, ("csv", "vizwiz_json"))
    for each, content in made.items():
        (tmp_path / each).write_bytes(content)
    aside = json.loads(made["set_aside.json"])["annotations"]
    assert [(row["set_aside"], row["is_rejected"]) for row in aside] == [("undecided", False)]
    assert len(read_captions(tmp_path / name).captions) == 1


def test_vizwiz_captions_as_published() -> None:
    """Flags of annotations and images; what COCO lacks may be missing."""
    annotation = {"id": 1, "image_id": 7, "caption": "a cup", "is_precanned": False}
    corpus = from_json(
        json.dumps(
            {
                "images": [{"id": 7, "text_detected": True}, {"id": 8}],
                "annotations": [
                    {**annotation, "is_rejected": False, "text_detected": False},
                    {**annotation, "is_precanned": True},
                ],
            }
        ).encode()
    )
    assert corpus.images == ["7", "8"]
    assert corpus.shows_text == {"7": "yes"}
    assert [caption.shows_text for caption in corpus.captions] == ["no", ""]
    assert [caption.is_canned for caption in corpus.captions] == [False, True]


def test_lines_of_flickr_name_their_images() -> None:
    """Other lines are images of their own; empty ones are nothing."""
    corpus = from_lines(b"1.jpg#0\ta cup\n1.jpg#1\ta mug\n\na # dog\n")
    assert [(caption.image, caption.text) for caption in corpus.captions] == [
        ("1.jpg", "a cup"),
        ("1.jpg", "a mug"),
        ("line 4", "a # dog"),
    ]


PUBLISHED = {
    "captions.txt": (
        "image,caption\n1.jpg,A dog , a cat , and a cup .\n"
        '1.jpg,"A dog, running"\n2.jpg,"Stop" on a sign\n2.jpg,"unclosed\n'
    ),
    "captions.csv": (
        "image,caption\n1.jpg,A dog , a cat , and a cup .\n"
        '1.jpg,"A dog, running"\n2.jpg,"Stop" on a sign\n2.jpg,"unclosed\n'
    ),
    "results.csv": (
        "image_name| comment_number| comment\n"
        "1.jpg| 0| A dog , a cat , and a cup .\n1.jpg| 1   A dog, running\n"
        '2.jpg| 0| "Stop" on a sign\n2.jpg| 1| "unclosed\n'
    ),
    "tabs.tsv": (
        "caption\tfilename\nA dog , a cat , and a cup .\t1.jpg\n"
        '"A dog, running"\t1.jpg\n"""Stop"" on a sign"\t2.jpg\n'
        '"""unclosed"\t2.jpg\n'
    ),
}
CAPTIONS = [
    ("1.jpg", "A dog , a cat , and a cup ."),
    ("1.jpg", "A dog, running"),
    ("2.jpg", '"Stop" on a sign'),
    ("2.jpg", '"unclosed'),
]


@pytest.mark.parametrize("name", PUBLISHED)
def test_tables_of_published_datasets_are_read(name: str, tmp_path: Path) -> None:
    """Captions hold separators and quotation marks, as their authors left them."""
    path = tmp_path / name
    path.write_text(PUBLISHED[name], encoding="utf-8-sig")
    corpus = read_captions(path)
    assert [(caption.image, caption.text) for caption in corpus.captions] == CAPTIONS
    assert [*corpus.images] == ["1.jpg", "2.jpg"]


_CELLS = ["Hello, world", 'say "hi"', "two\nlines", "a;b|c", 'it is 5"', '"Stop", he said']


@for_each(
    ("separator", "order"),
    product(",;|\t", permutations(["image", "title", "caption"])),
)
def test_quoted_cells_are_read_whatever_their_column(
    separator: str, order: tuple[str, ...]
) -> None:
    """Also with a line break, with few rows, and beside one row that is not CSV."""
    inside = "," if separator == "\t" else separator
    rows = [
        {"image": f"{n}{inside}.jpg", "title": title, "caption": caption}
        for n, (title, caption) in enumerate(product(_CELLS, repeat=2))
    ]
    file = io.StringIO()
    writer = csv.DictWriter(file, order, delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows * 3)
    with TemporaryDirectory() as folder:
        path = Path(folder, "captions.csv" if separator != "\t" else "captions.tsv")
        for fault in ("", separator.join(["1.jpg", "Hello", " world", "A dog", ""]) + "\n"):
            path.write_text(file.getvalue() + fault, encoding="utf-8")
            corpus = read_captions(path)
            assert [(each.image, each.text) for each in corpus.captions] == [
                (row["image"], row["caption"]) for row in rows * 3
            ]
            assert len(corpus.remarks) == bool(fault)
        path.write_text("".join(file.getvalue().splitlines(keepends=True)[:2]), encoding="utf-8")
        (caption,) = read_captions(path).captions
        assert (caption.image, caption.text) == (rows[0]["image"], rows[0]["caption"])


def test_a_row_that_is_not_csv_is_read_where_only_one_reading_fits() -> None:
    """Between 200 rows of CSV: marks of a text, and separators beside numbers."""
    rows = "".join(f'{n}.jpg,{n},"a, cup"\n' for n in range(200))
    odd = 'a.jpg,1,"Stop" on a sign\nb.jpg,2,a dog, running\nc.jpg,3,"unclosed\n'
    corpus = from_csv(f"image,number,caption\n{rows}{odd}{rows}".encode())
    assert [each.text for each in corpus.captions] == [
        *["a, cup"] * 200,
        *['"Stop" on a sign', "a dog, running", '"unclosed'],
        *["a, cup"] * 200,
    ]
    assert not corpus.remarks


LISTED: dict[str, object] = {
    "COCO's results": [{"image_id": image, "caption": text} for image, text in CAPTIONS],
    "Karpathy's splits": {
        "dataset": "flickr8k",
        "images": [
            {
                "imgid": number,
                "filename": image,
                "sentences": [
                    {"raw": text, "tokens": ["a"]} for own, text in CAPTIONS if own == image
                ],
            }
            for number, image in enumerate(("1.jpg", "2.jpg"))
        ],
    },
    "by image": {
        image: [text for own, text in CAPTIONS if own == image] for image in ("1.jpg", "2.jpg")
    },
}


@pytest.mark.parametrize("document", LISTED.values(), ids=LISTED)
def test_lists_of_published_captions_are_read(document: object, tmp_path: Path) -> None:
    """An image may have one caption, a list, or objects with a caption each."""
    path = tmp_path / "captions.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    corpus = read_captions(path)
    assert [(caption.image, caption.text) for caption in corpus.captions] == CAPTIONS


def test_an_entry_without_a_caption_does_not_stop_the_others(tmp_path: Path) -> None:
    """Also if many lack it: null is a missing caption, and the format is known."""
    rows: list[dict[str, object]] = [
        {"image": image, "captions": [text]} for image, text in CAPTIONS
    ]
    rows += [{"image": "3.jpg", "captions": None}] * 3
    (tmp_path / "a.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for name in ("a.json", "a.jsonl"):
        corpus = read_captions(tmp_path / name)
        assert [(caption.image, caption.text) for caption in corpus.captions] == CAPTIONS
        assert [*corpus.remarks] == ["Left out: 3 rows without a caption."]


def test_lines_of_json_are_read(tmp_path: Path) -> None:
    """Each is an image with its captions."""
    path = tmp_path / "captions.jsonl"
    lines = [json.dumps({"img": image, "captions": [text]}) for image, text in CAPTIONS]
    path.write_text("\n".join(lines), encoding="utf-8")
    corpus = read_captions(path)
    assert [(caption.image, caption.text) for caption in corpus.captions] == CAPTIONS


SPACES = ["\u2028", "\u2029", "\x85", "\v", "\f", "\x1c", "\x1d", "\x1e"]
"""What Python's `splitlines` takes for line breaks, and files of lines do not."""


def _table(captions: Sequence[str]) -> str:
    return "caption,image\n" + "".join(f"{text},{n}.jpg\n" for n, text in enumerate(captions))


def _object(caption: str) -> str:
    # VT and FF are escaped in JSON; U+2028 and others need not be.
    return json.dumps({"image": "1.jpg", "caption": caption}, ensure_ascii=False)


@for_each(
    ("name", "content"),
    [
        ("captions.csv", _table),
        ("captions.txt", lambda captions: "\n".join(f"1.jpg#0\t{text}" for text in captions)),
        ("lines.txt", "\n".join),
        ("captions.jsonl", lambda captions: "\n".join(map(_object, captions))),
    ],
)
def test_only_ends_of_lines_end_captions(name: str, content: Callable[[list[str]], str]) -> None:
    """Crowds paste texts of PDF files and web pages, with spaces of any kind."""
    captions = [f"a dog{space}on a sofa" for space in SPACES]
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        for end in ("\n", "\r\n", "\r"):
            path.write_text(content(captions), encoding="utf-8", newline=end)
            assert [caption.text for caption in read_captions(path).captions] == captions, [end]


@pytest.mark.parametrize("name", ["captions.txt", "captions.tsv", "captions.csv"])
def test_a_stray_carriage_return_in_a_line_makes_no_caption(name: str, tmp_path: Path) -> None:
    """In a file with other line ends it is a part of the text, and invents no picture."""
    texts = {"a.jpg": "A dog\ron grass.", "b.jpg": "A cat."}
    heads = {".txt": "", ".tsv": "image\tcaption\n", ".csv": "image,caption\n"}
    form = {".txt": "{}#0\t{}\n", ".tsv": "{}\t{}\n", ".csv": "{},{}\n"}
    path = tmp_path / name
    lines = "".join(form[path.suffix].format(*pair) for pair in texts.items())
    path.write_bytes((heads[path.suffix] + lines).encode())
    corpus = read_captions(path)
    assert {caption.image: caption.text for caption in corpus.captions} == texts
    assert not corpus.remarks


def test_lists_of_names_end_their_lines_as_any_system_does(tmp_path: Path) -> None:
    """Old Macs wrote a carriage return alone."""
    for end in ("\n", "\r\n", "\r"):
        (tmp_path / "pets.txt").write_text("cat\ndog\n", encoding="utf-8", newline=end)
        assert read_concept_lists([tmp_path / "pets.txt"]) == {"pets": ["cat", "dog"]}


def test_a_row_without_a_caption_does_not_stop_the_others(tmp_path: Path) -> None:
    """It is left out and reported; many of them are another format."""
    path = tmp_path / "captions.txt"
    path.write_text("image,caption\n1.jpg,a cup\n2.jpg\n", encoding="utf-8")
    corpus = read_captions(path)
    assert len(corpus.captions) == 1
    assert [*corpus.remarks] == ["Left out: line 3: has no image with a caption."]


BAD = {
    "empty.csv": (b" \n", "the file is empty"),
    "latin.csv": (
        "image_id,caption\n1,caf\xe9".encode("latin-1"),
        "line 2: is not UTF-8; as Latin-1 it reads '1,café'",
    ),
    "columns.csv": (b"a,b\n1,2\n", "no column 'caption' (found: 'a', 'b')"),
    "ids.csv": (b"caption\na cup\n", "no column 'item_id' or 'image_id'"),
    "header.csv": (b"image_id,caption\n", "contains no captions"),
    "short.csv": (b"caption,image_id\na cup\n", "line 2: the number of cells"),
    "long.csv": (b"image_id,caption\n1,a,cup\n", "line 2: the number of cells"),
    "quote.csv": (b'image_id,caption\n1,"a cup\n', "not CSV"),
    "flag.csv": (b"image_id,caption,is_precanned\n1,a,maybe\n", "'maybe'; allowed are"),
    "sign.csv": (b"image_id,caption,text_detected\n1,a,some\n", "'some'; allowed are"),
    "no_id.csv": (b"image_id,caption\n,a cup\n", "line 2: the image id is missing"),
    "no.parquet": (b"PAR1 not really", "not a Parquet file"),
    "no.json": (b"{", "line 1: not JSON"),
    "number.json": (b"3", "neither an object"),
    "deep.json": (b"[" * 200_000, "nested too deeply"),
    "digits.json": (b"[" + b"1" * 5000 + b"]", "thousands of digits"),
    "other.json": (b'{"data": []}', "keys found: 'data'"),
    "none.json": (b'{"annotations": []}', "contains no captions"),
    "strange.json": (
        b'{"images": [1], "annotations": [{"image_id": 1, "is_rejected": "no"}]}',
        "images[0]: not an object with an 'id'",
    ),
    "votes.json": (b'[{"image": "a", "unrecognizable": 6}]', "whole numbers from 0"),
    "flaws.json": (b'[{"image": "a", "unrecognizable": 1, "flaws": [1]}]', "whole numbers from 0"),
    "nothing.json": (b"[]", "contains no captions"),
    "list.json": (b"[1]", "entry 0: neither a caption"),
    "half.txt": (b"image,caption\n1.jpg\n2.jpg\n3.jpg,a cup", "line 2: has no image"),
    "lines.jsonl": (b"{}\n[]\n", "line 1: has no image with a caption"),
    "blank.txt": (b"\xef\xbb\xbf\n \n", "contains no captions"),
    "picture.png": (b"PNG", "files that end in .csv"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_used_is_told_of_in_a_sentence(tmp_path: Path, name: str) -> None:
    """Each fault names the file, and what was found or is allowed."""
    content, sentence = BAD[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        read_captions(path)
    assert sentence in str(raised.value)
    assert all(fault.startswith(f"{path}: ") for fault in raised.value.faults)


def test_every_fault_is_told_and_of_many_the_first_twenty(tmp_path: Path) -> None:
    """25 rows without an image: twenty sentences and the number of the others."""
    path = tmp_path / "many.csv"
    path.write_text("image_id,caption\n" + ",a cup\n" * 25, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        read_captions(path)
    assert len(raised.value.faults) == 21
    assert raised.value.faults[-1] == "... and 5 more"


def test_what_is_not_there_or_no_dataset_is_said(tmp_path: Path) -> None:
    """A missing file, a folder without captions, and one of another task."""
    with pytest.raises(ConfigError, match="cannot be read"):
        read_captions(tmp_path / "missing.csv")
    with pytest.raises(ConfigError, match=r"without captions\.parquet or"):
        read_captions(tmp_path)
    (tmp_path / "answers.csv").write_bytes(b"answer_id,rating\n1,5\n")
    with pytest.raises(ConfigError, match="answers of a task without captions"):
        read_captions(tmp_path)
    with pytest.raises(ConfigError, match="no column 'caption'"):
        read_captions(tmp_path / "answers.csv")


def test_a_huge_file_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size and the limit are named."""
    monkeypatch.setattr(reading, "LARGEST_BYTES", 1000)
    path = tmp_path / "huge.csv"
    path.write_bytes(b"x" * 1001)
    with pytest.raises(ConfigError, match="1,001 bytes; at most 1,000 are read"):
        read_captions(path)


def test_a_caption_like_a_book_is_cut_and_that_is_said(tmp_path: Path) -> None:
    """200,000 characters are cut after 2,000."""
    path = tmp_path / "long.csv"
    path.write_text("image_id,caption\n1," + "cup " * 50_000, encoding="utf-8")
    corpus = read_captions(path)
    assert len(corpus.captions[0].text) == 2000
    assert list(corpus.remarks) == ["Captions cut after 2,000 characters: 1."]


@given(st.binary(max_size=200))
def test_no_bytes_are_met_with_anything_but_a_sentence(content: bytes) -> None:
    """Any reader either reads, or says what is wrong."""
    faults: list[str] = []
    for read in (from_csv, from_json, from_lines, from_parquet):
        try:
            read(content)
        except UnreadableError as error:
            faults += error.faults
    assert all(faults)
