"""`data clean`, `assess`, `analyse` and `describe` on tables that other programs wrote."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.domain.imported import NamedColumns, Reading
from piecework.importing.captions import read_captions_of, read_captions_to_compare
from piecework.importing.named_columns import FOR_ASSESSING
from piecework.importing.opened_sources import opened_files
from piecework.library.cleaning import clean_texts
from piecework.library.labels import krippendorff_alpha
from piecework.postprocess.datasets.image_columns import read_marks_of
from piecework.results.large.cleaning import clean_frame
from piecework.results.large.work_folder import here
from tests.for_each import for_each

SURVEY = (
    "ResponseId;StartDate;Frage;Bild;Kommentar\n"
    "R_1;2026-03-01 10:00;q1;café.jpg;a dog on teh sofa\n"
    'R_2;2026-03-01 10:05;q1;café.jpg;"two dogs; one sofa"\n'
    "R_3;2026-03-01 10:09;q2;b.jpg;a bird in teh tree\n"
)
"""As a German survey tool exports it: semicolons, Windows-1252, quotes where needed."""

LABEL_STUDIO = (
    "annotation_id,annotator,caption,created_at,id,image,lead_time,updated_at\n"
    "11,1,a dog on teh sofa,2026-03-01T10:00:00Z,1,/data/a.jpg,12.5,2026-03-01T10:00:00Z\n"
    "12,2,a brown dog,2026-03-01T10:01:00Z,1,/data/a.jpg,9.1,2026-03-01T10:01:00Z\n"
    "13,1,a bird,2026-03-01T10:02:00Z,2,/data/b.jpg,4.0,2026-03-01T10:02:00Z\n"
)
"""Its CSV export."""

HUGGING_FACE: list[dict[str, object]] = [
    {"image_id": 7, "caption": "a dog on teh sofa", "tags": ["dog"], "meta": {"src": "web"}},
    {"image_id": 7, "caption": "a brown dog"},
    {"image_id": 8, "caption": None, "tags": []},
]
"""Lines of JSON as `Dataset.to_json` writes them, some members absent."""

VOTES = "q,w,answer\n1,a,yes\n1,b,yes\n1,c,no\n2,a,no\n2,b,no\n3,a,yes\n3,c,yes\n"


def piecework(*words: object) -> Result:
    """Run a command of `piecework data`."""
    return CliRunner().invoke(main, ["data", *map(str, words)], catch_exceptions=False)


def done(*words: object) -> str:
    """What a command prints, if it succeeds."""
    result = piecework(*words)
    assert result.exit_code == 0, result.output
    return result.output


def survey(path: Path) -> Path:
    """A survey's export, in the encoding of old spreadsheets."""
    path.write_bytes(SURVEY.encode("cp1252"))
    return path


def lines(path: Path, rows: list[dict[str, object]]) -> Path:
    """JSON Lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def pictures(path: Path) -> Path:
    """A Parquet file as the Hugging Face hub keeps pictures: bytes in an object."""
    rows = [
        {
            "image": {"bytes": b"\x89PNG", "path": f"{name}.png"},
            "text": text,
            "label": number,
        }
        for number, (name, text) in enumerate([("a", "a dog on teh sofa"), ("b", "a bird")])
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def read(path: Path) -> list[dict[str, object]]:
    """The rows of a file of any kind."""
    if path.suffix == ".parquet":
        rows: list[dict[str, object]] = pq.read_table(path).to_pylist()
        return rows
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return [*csv.DictReader(text.splitlines(), delimiter="\t" if path.suffix == ".tsv" else ",")]


def test_a_survey_keeps_its_columns_and_gets_clean_texts(tmp_path: Path) -> None:
    """In UTF-8; what was guessed about the file is said."""
    file, to = survey(tmp_path / "survey.csv"), tmp_path / "cleaned.csv"
    words = ("--text", "Kommentar", "--item", "Bild")
    printed = done("clean", file, "--to", to, *words)
    assert "Kommentar holds the texts, Bild the items" in printed
    assert "read as Windows-1252" in printed
    before = list(csv.DictReader(SURVEY.splitlines(), delimiter=";"))
    after = read(to)
    assert [{**row, "clean_text": ""} for row in before] == [
        {**row, "clean_text": ""} for row in after
    ]
    assert after[0]["clean_text"] == "a dog on the sofa"
    assert after[1]["clean_text"] == "two dogs; one sofa"


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_the_edits_beside_lead_from_the_text_to_the_clean_text(tmp_path: Path, ending: str) -> None:
    """Whatever the format; columns of rows that lack them stay absent or empty."""
    file, to = lines(tmp_path / "train.jsonl", HUGGING_FACE), tmp_path / f"cleaned{ending}"
    done("clean", file, "--to", to)
    rows, (edit,) = read(to), read(tmp_path / f"cleaned.edits{ending}")
    assert int(str(edit["row"])) == 1
    text, start, end = str(rows[0]["caption"]), int(str(edit["start"])), int(str(edit["end"]))
    assert text[start:end] == edit["before"] == "teh"
    assert rows[0]["clean_text"] == f"{text[:start]}{edit['after']}{text[end:]}"
    assert rows[0]["clean_text"] == "a dog on the sofa"
    assert not rows[2].get("clean_text")
    if ending == ".jsonl":
        assert [{k: v for k, v in row.items() if k != "clean_text"} for row in rows] == HUGGING_FACE


def test_nested_parquet_keeps_its_types_and_refuses_what_csv_cannot_hold(tmp_path: Path) -> None:
    """Bytes of pictures stay where they are."""
    file, to = pictures(tmp_path / "train.parquet"), tmp_path / "cleaned.parquet"
    done("clean", file, "--to", to, "--edits", tmp_path / "edits.csv")
    before, after = pq.read_table(file), pq.read_table(to)
    assert after.drop_columns(["clean_text"]).equals(before)
    assert after["clean_text"].to_pylist() == ["a dog on the sofa", "a bird"]
    assert len(read(tmp_path / "edits.csv")) == 1
    refused = piecework("clean", file, "--to", tmp_path / "cleaned.csv")
    assert refused.exit_code == 2
    assert "the column 'image' has bytes, which .csv cannot hold" in refused.output
    assert not (tmp_path / "cleaned.csv").exists()


def test_what_a_format_cannot_hold_ends_no_cleaning(tmp_path: Path) -> None:
    """Parquet: numbers of 65 bits, objects without members, lists in lists; JSON: infinity."""
    deep: object = 1
    for _ in range(200):
        deep = [deep]
    rows: list[dict[str, object]] = [
        {"caption": "teh dog", "id": 2**63 + n, "own": {"id": 2**64}, "meta": {}, "of": [{}]}
        | {"deep": deep, "a\ud800": None, "small": n}
        for n in range(2)
    ]
    to = tmp_path / "cleaned.parquet"
    done("clean", lines(tmp_path / "train.jsonl", rows), "--to", to)
    first, second = read(to)
    assert (first["id"], second["id"]) == (str(2**63), str(2**63 + 1))
    assert (first["own"], first["meta"], first["of"]) == (f'{{"id": {2**64}}}', "{}", "[{}]")
    assert (json.loads(str(first["deep"])), second["small"]) == (deep, 1)
    assert first["clean_text"] == "the dog"
    scores = [float("inf"), float("-inf"), float("nan"), 0.5]
    table = pa.table({"caption": ["teh dog"] * 4, "score": scores, "of": [[n] for n in scores]})
    pq.write_table(table, tmp_path / "scores.parquet")
    done("clean", tmp_path / "scores.parquet", "--to", tmp_path / "scores.jsonl")
    assert [row["score"] for row in read(tmp_path / "scores.jsonl")] == [None, None, None, 0.5]
    done("clean", tmp_path / "scores.parquet", "--to", tmp_path / "scores.csv")
    cells = [(row["score"], row["of"]) for row in read(tmp_path / "scores.csv")]
    assert cells[1:] == [("-Infinity", "[null]"), ("", "[null]"), ("0.5", "[0.5]")]
    done("clean", tmp_path / "scores.jsonl", "--text", "caption", "--to", tmp_path / "again")


@pytest.mark.parametrize("column", ["clean_text", "bytes"])
def test_what_no_copy_can_hold_is_refused_before_texts_are_cleaned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    """Cleaning may take hours."""

    def cleaned(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("piecework.cli.clean._cleaned", cleaned)
    cells, fault = {
        "clean_text": (["a"], "has a column 'clean_text' already"),
        "bytes": ([b"a"], "the column 'bytes' has bytes, which .csv cannot hold"),
    }[column]
    pq.write_table(pa.table({"caption": ["teh dog"], column: cells}), tmp_path / "a.parquet")
    refused = piecework("clean", tmp_path / "a.parquet", "--to", tmp_path / "b.csv")
    assert refused.exit_code == 2
    assert fault in refused.output


def test_parts_make_the_edits_of_the_whole(tmp_path: Path) -> None:
    """So a table is cleaned on Dask as in one process."""
    texts = pd.DataFrame(
        {"text": ["a dog on teh sofa", None, "a brwon dog"], "task": ["1", "1", "2"]}
    )
    clean, edits = clean_frame(texts, here(lambda *_: None), tmp_path)
    whole = clean_texts(texts)
    assert clean.tolist() == whole.texts["clean_text"].fillna("").tolist()
    pd.testing.assert_frame_equal(edits, whole.edits, check_dtype=False)


def test_tables_of_any_kind_are_cleaned_to_a_folder_together(tmp_path: Path) -> None:
    """Each text has the name of its file and its line."""
    files = [lines(tmp_path / "a.jsonl", HUGGING_FACE), tmp_path / "b.csv"]
    files[1].write_text("image_id,caption\n9,teh end\n", encoding="utf-8")
    done("clean", *files, "--to", tmp_path / "clean")
    rows = {row["answer_id"]: row for row in pq.read_table(tmp_path / "clean").to_pylist()}
    assert rows["a.jsonl:1"]["clean_text"] == "a dog on the sofa"
    assert (rows["b.csv:2"]["item_id"], rows["b.csv:2"]["clean_text"]) == ("9", "the end")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_plain_columns_are_found_and_said(tmp_path: Path) -> None:
    """By their names, without case and punctuation."""
    file = tmp_path / "table.csv"
    file.write_text("Image ID,Annotator,Caption\n1,a,a dog\n1,b,a cat\n", encoding="utf-8")
    columns = {"text": "Caption", "item": "Image ID", "worker": "Annotator", "label": []}
    assessed = json.loads(done("assess", file, "--json"))
    assert assessed["columns"] == columns
    sentence = "Caption holds the texts, Image ID the items"
    assert sentence in " ".join(done("describe", file).split())
    assert sentence in done("clean", file, "--to", tmp_path / "cleaned.jsonl")


def test_texts_beside_labels_are_judged_as_texts(tmp_path: Path) -> None:
    """If both are named; heuristics on texts have them."""
    file = tmp_path / "table.csv"
    file.write_text("q,who,why,vote\n1,a,it is red,yes\n1,b,so bright,no\n", encoding="utf-8")
    stated = NamedColumns(text="why", item="q", worker="who", label=("vote",))
    with opened_files(
        [file], Reading(), task_name="", stated=stated, wanted=FOR_ASSESSING
    ) as sources:
        answers = sources.opened.answers()
    assert answers["text"].tolist() == ["it is red", "so bright"]
    assert answers["value.vote"].tolist() == ["yes", "no"]


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_every_line_break_stays_in_its_cell(tmp_path: Path, ending: str) -> None:
    """Also those that are no line's end in CSV."""
    breaks = ["\r", "\r\n", "\n", "\u2028", "\x85", "\v", "\f"]
    captions = [f"a dog{mark}on a sofa" for mark in breaks]
    images: list[dict[str, object]] = [
        {"image": f"{n}.jpg", "caption": text} for n, text in enumerate(captions)
    ]
    file, to = lines(tmp_path / "train.jsonl", images), tmp_path / f"cleaned{ending}"
    done("clean", file, "--to", to)
    with to.open(encoding="utf-8", newline="") as table:
        rows = [*csv.DictReader(table, delimiter="\t" if ending == ".tsv" else ",", strict=True)]
    assert [row["caption"] for row in rows] == captions


def test_findings_lead_to_files_and_lines_that_workers_are_named_like(tmp_path: Path) -> None:
    """Nobody's pseudonym replaces a part of a file's name or of a line's number."""
    stated = NamedColumns(text="why", item="q", worker="who")
    files = [tmp_path / "a.csv", tmp_path / "2.csv"]
    for file in files:
        file.write_text("q,who,why\n1,a,it is red\n1,2,so bright\n1,line3,it was\n")
    with opened_files(
        files, Reading(), task_name="", stated=stated, wanted=FOR_ASSESSING
    ) as sources:
        ids = sources.opened.answers()["assignment_id"]
    assert {*ids} == {f"{file.name}:line{line}" for file in files for line in (2, 3, 4)}


def test_a_text_that_all_rows_of_an_item_share_is_what_was_shown(tmp_path: Path) -> None:
    """Then the labels are the answers, and no worker repeated a sentence."""
    file = tmp_path / "table.csv"
    file.write_text(
        "item,text,worker,label\n1,so bad,a,neg\n1,so bad,b,neg\n2,fine,a,pos\n", encoding="utf-8"
    )
    columns = json.loads(done("assess", file, "--json"))["columns"]
    assert (columns["text"], columns["label"]) == ("", ["label"])


def test_a_folder_of_findings_has_those_of_one_process(tmp_path: Path) -> None:
    """With --to, a table of any origin is judged in parts."""
    file = tmp_path / "table.csv"
    rows = [f"{n},w{n % 3},{'THE SAME SHOUTED TEXT' if n % 3 == 0 else f'a dog {n}'}"
            for n in range(60)]  # fmt: skip
    file.write_text("\n".join(["image,worker,caption", *rows, ""]), encoding="utf-8")
    findings = json.loads(done("assess", file, "--json"))["findings"]
    # The first row is line 2, and shouts; an answer's id is its line and its place in it.
    assert {"line2.1", "line5.1"} <= {each["subject_id"] for each in findings}
    done("assess", file, "--to", tmp_path / "findings")
    parts = pq.read_table(tmp_path / "findings").to_pandas()
    flagged = parts[parts["flag"] & (parts["heuristic"] != "random_sample")]
    assert set(flagged["heuristic"]) == {each["heuristic"] for each in findings} != set()
    assert len(flagged) == len(findings)


def test_votes_with_columns_of_any_name_agree_as_in_the_library(tmp_path: Path) -> None:
    """The same alpha, and a label for each item by majority and by ability."""
    file = tmp_path / "votes.csv"
    file.write_text(VOTES, encoding="utf-8")
    words = ("--label", "answer", "--item", "q", "--worker", "w")
    analysis = json.loads(done("analyse", file, *words, "--json"))
    table = pd.read_csv(file, dtype=str)
    votes = table.rename(columns={"q": "task", "w": "worker", "answer": "label"})
    (field,) = analysis["agreement"]
    assert field["alpha"] == pytest.approx(krippendorff_alpha(votes).alpha)
    assert {row["method"] for row in analysis["labels"]} >= {"majority", "ability"}


def test_a_table_with_other_columns_is_described(tmp_path: Path) -> None:
    """Counted by hand; a row without a caption is left out, and said."""
    file = lines(tmp_path / "table.jsonl", [{"p": row["image_id"], "c": row["caption"]}
                 for row in HUGGING_FACE])  # fmt: skip
    figures = json.loads(done("describe", file, "--text", "c", "--item", "p", "--json"))
    assert (figures["images"], figures["captions"]) == (1, 2)


@pytest.mark.parametrize(
    "names",
    [("image_id", "caption"), ("image_id", "Caption"), ("image", "caption"), ("Photo", "Sentence")],
)
def test_a_table_means_the_same_however_it_is_written_and_given(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    """As the dataset or beside it, with its columns named or not; some rows have only one cell."""
    cells = [
        *(("1", "a dog, a cat"), ("1", "a dog"), ("2", None), ("3", "a café")),
        *((None, "a bird"), (" ", "a cow")),
    ]
    rows: list[dict[str, object]] = [dict(zip(names, pair, strict=True)) for pair in cells]
    table = pd.DataFrame(rows)
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_csv(tmp_path / "answers.csv", index=False, sep=";", encoding="cp1252")
    table.to_parquet(tmp_path / "c.parquet")
    files = [tmp_path / name for name in ("a.csv", "answers.csv", "c.parquet")]
    files.append(lines(tmp_path / "d.jsonl", rows))
    wanted = [(image, text) for image, text in cells if image and image.strip() and text]
    item, text = names
    for file in files:
        corpora = [
            read_captions_of(file, NamedColumns()),
            read_captions_of(file, NamedColumns(text=text, item=item)),
            read_captions_to_compare(file),
        ]
        for corpus in corpora:
            assert [(each.image, each.text) for each in corpus.captions] == wanted, file
            assert [*corpus.images] == ["1", "3"], file
            assert "Left out: 3 rows without an image or a caption." in corpus.remarks
            assert f"{text} holds the texts, {item} the items" in corpus.remarks[0]
        assert read_marks_of(file) is None


def test_each_side_of_a_comparison_reads_any_table(tmp_path: Path) -> None:
    """`describe --against` and `score --against`; a fault there names no option of the other."""
    pq.write_table(
        pa.table({"caption": ["a red cup", "a dog"], "image": ["1", "2"]}), tmp_path / "p.parquet"
    )
    figures = json.loads(
        done("describe", tmp_path / "p.parquet", "--against", tmp_path / "p.parquet", "--json")
    )
    assert figures["against"]["composition"] == figures["composition"]["all"]
    made = [{"image_id": 1, "caption": "a red cup"}, {"image_id": 2, "caption": "a dog"}]
    (tmp_path / "model.json").write_text(json.dumps(made), encoding="utf-8")
    done("score", tmp_path / "model.json", "--against", tmp_path / "p.parquet")
    (tmp_path / "bad.csv").write_text("a,b\n1,x\n", encoding="utf-8")
    for command in (
        ("describe", tmp_path / "p.parquet", "--against", tmp_path / "bad.csv"),
        ("score", tmp_path / "model.json", "--against", tmp_path / "bad.csv"),
    ):
        refused = piecework(*command)
        assert refused.exit_code == 2
        assert "next: call its columns caption and image_id" in refused.output


def test_lists_of_captions_in_parquet_are_no_captions(tmp_path: Path) -> None:
    """They would be described with their brackets."""
    pq.write_table(pa.table({"image_id": [1], "caption": [["a dog"]]}), tmp_path / "p.parquet")
    refused = piecework("describe", tmp_path / "p.parquet")
    assert refused.exit_code == 2
    assert "the column caption holds lists" in refused.output


def test_published_names_of_captions_are_said_too(tmp_path: Path) -> None:
    """And numbers are no captions."""
    file = tmp_path / "table.csv"
    file.write_text("image,caption\n1,a dog\n", encoding="utf-8")
    assert "caption holds the texts, image the items" in " ".join(done("describe", file).split())
    file.write_text("image,caption\n1,5\n2,6\n", encoding="utf-8")
    refused = piecework("describe", file)
    assert refused.exit_code == 2
    assert "has only numbers, such as '5'" in refused.output


def test_a_known_tool_needs_no_names(tmp_path: Path) -> None:
    """Label Studio's file says who annotated what; to clean it, its columns are plain."""
    file = tmp_path / "project.csv"
    file.write_text(LABEL_STUDIO, encoding="utf-8")
    refused = piecework("assess", file, "--text", "caption")
    assert refused.exit_code == 2
    assert "a known tool wrote this file" in refused.output
    done("clean", file, "--to", tmp_path / "cleaned.csv")
    rows = read(tmp_path / "cleaned.csv")
    assert [row["clean_text"] for row in rows] == ["a dog on the sofa", "a brown dog", "a bird"]
    assert rows[0]["lead_time"] == "12.5"


def _nested(path: Path) -> None:
    pq.write_table(pa.table({"id": [1], "caption": [["a dog", "a cat"]]}), path)


_BAD: dict[str, tuple[str | bytes | Callable[[Path], None], str, str]] = {
    "no such column": ("image,caption\n1,a\n", "clean --text captoin", "did you mean 'caption'?"),
    "no text": ("a,b\n1,2\n", "clean", "says it holds the texts; the columns are a, b"),
    "two texts": ("text,caption\na,b\n", "clean", "next: name the column: --text text or --text"),
    "two items": ("image,item,label\n1,2,x\n", "analyse", "image and item may each hold the items"),
    "neither": ("item,x\n1,2\n", "assess", "--text COLUMN or --label COLUMN"),
    "empty": ("", "clean", "is empty"),
    "header only": ("image,caption\n", "clean", "has no rows"),
    "numbers": ("image,caption\n1,5\n2,6.5\n", "clean", "has only numbers, such as '5'"),
    "numbers judged": ("image,text\n1,5\n2,6\n", "assess", "--label text judges numbers"),
    "empty column": ("image,caption\n1,\n2,\n", "clean", "is empty in every row"),
    "long row": ("image,caption\n1,a\n2,b,c\n", "clean", "line 3: has 3 cells"),
    "twice": ("caption,caption\n1,a\n", "clean", "appears twice"),
    "same": ("a,b\n1,x\n", "assess --text b --item b", "two options name this column"),
    "cut off": (b"PAR1" + b"\x15\x04" * 300, "clean", "not valid Parquet"),
    "lists": (_nested, "clean --text caption", "holds lists, not one value"),
    "lists of usual names": (_nested, "clean", "the column caption holds lists"),
    "clean already": ("caption,clean_text\na,b\n", "clean", "has a column 'clean_text' already"),
    "no object": ('{"caption": "a"}\n[1]\n', "clean", "line 2: not a JSON object"),
}


@for_each("name", list(_BAD))
def test_a_table_that_cannot_be_used_ends_in_a_sentence(name: str) -> None:
    """With exit code 2, and nothing written."""
    content, words, sentence = _BAD[name]
    command, *options = words.split()
    with TemporaryDirectory() as folder:
        file = Path(folder, "table.any")
        if callable(content):
            content(file)
        else:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        to = ["--to", str(file.with_name("out.csv"))] if command == "clean" else []
        refused = piecework(command, file, *options, *to)
        assert refused.exit_code == 2
        assert sentence in " ".join(refused.output.split())
        assert [path.name for path in file.parent.iterdir()] == ["table.any"]


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_half_letters_and_controls_end_no_cleaning(tmp_path: Path, ending: str) -> None:
    """JSON can hold half of a letter; members of objects can be named."""
    texts = ["teh \ud800 dog", "a\x00b", "=1+1", "\u202eteh cat"]
    file = lines(
        tmp_path / "table.jsonl",
        [{"image": {"path": f"{n}\udc00"}, "say": {"it": text}} for n, text in enumerate(texts)],
    )
    words = ("--text", "say.it", "--item", "image.path")
    done("clean", file, "--to", tmp_path / f"cleaned{ending}", *words)
    done("clean", file, "--to", tmp_path / "clean", *words)
    rows = pq.read_table(tmp_path / "clean").to_pylist()
    assert {row["clean_text"] for row in rows} >= {"the ? dog", "=1+1"}


def test_files_that_are_judged_together_need_the_same_columns(tmp_path: Path) -> None:
    """The message names the file that lacks one."""
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("image,caption\n1,a dog\n", encoding="utf-8")
    second.write_text("image,title\n1,a dog\n", encoding="utf-8")
    refused = piecework("assess", first, second)
    assert refused.exit_code == 2
    assert f"{second}: has no column 'caption', which is read in {first}" in refused.output


def test_a_byte_that_a_copy_would_lose_is_refused_with_its_line(tmp_path: Path) -> None:
    """Cells stay as they are, whether the copy is a file or a folder."""
    file = tmp_path / "mixed.csv"
    file.write_bytes("item,text\n1,naïve größe\n2,".encode() + "café\n".encode("cp1252"))
    for to in ("cleaned.csv", "cleaned"):
        refused = piecework("clean", file, "--to", tmp_path / to)
        assert refused.exit_code == 2
        assert f"{file}: line 3: the byte 0xE9 is not UTF-8" in refused.output
        assert "in Windows-1252 the byte is 'é'" in refused.output
    assert [*tmp_path.iterdir()] == [file]
    assert "UTF-8 with 1 damaged character, shown as" in done("describe", file)


@pytest.mark.parametrize("command", ["data assess", "data clean", "export"])
def test_a_folder_is_not_named_as_a_file(tmp_path: Path, command: str) -> None:
    """It would look like a table that no program can open."""
    file, to = survey(tmp_path / "survey.csv"), tmp_path / "out.xlsx"
    refused = CliRunner().invoke(main, [*command.split(), str(file), "--to", str(to)])
    assert refused.exit_code == 2
    assert f"{to}" in refused.output.replace("\n", "")
    assert not to.exists()


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    """Nor the table itself."""
    file = lines(tmp_path / "table.jsonl", HUGGING_FACE)
    before = file.read_bytes()
    assert "already exists" in piecework("clean", file, "--to", file).output
    assert file.read_bytes() == before
