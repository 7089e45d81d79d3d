"""What is guessed about files: codes, numbers, items, lists, separators, times."""

import csv
import io
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from piecework.importing.numbered_names import shared_numbers
from piecework.importing.survey import ColumnSurvey
from tests.for_each import for_each
from tests.importing.batches import row, write
from tests.importing.test_importing import answers, done, piecework


def understood(*words: object) -> dict[str, Any]:
    """What `data import --dry-run` understands."""
    document: dict[str, Any] = json.loads(done("data", "import", *words, "--dry-run", "--json"))
    return document


def batch(path: Path, sent: Sequence[Mapping[str, str]], **shown: str) -> Path:
    """A batch with an assignment for each answer, four to an item."""
    return write(
        path,
        [
            row(
                number,
                f"W{number % 4}",
                shown=shown or {"url": f"http://127.0.0.1/{number // 4}.jpg"},
                sent=cells,
                hit=f"H{number // 4}",
            )
            for number, cells in enumerate(sent)
        ],
    )


def kinds(document: Mapping[str, object]) -> dict[str, str]:
    """The kind of each field."""
    fields = document["fields"]
    assert isinstance(fields, dict)
    return {name: field["kind"] for name, field in fields.items()}


def otherwise(document: Mapping[str, object]) -> list[str]:
    """The lines that state something other than what was guessed."""
    guesses = document["guesses"]
    assert isinstance(guesses, list)
    return [guess["otherwise"] for guess in guesses]


CODES = {
    "leading zeros": ("00603", "01203"),
    "underscores": ("1_0", "2_0"),
    "exponents": ("1e10", "2e10"),
    "plus": ("+1", "+2"),
    "other digits": ("١٢", "١٣"),
    "not a number": ("nan", "inf"),
    "spaces": (" 5", " 3", "4"),
    "hexadecimal": ("0x1F", "0x2A"),
    "dates": ("2017-03-01", "2017-03-02"),
    "versions": ("3.9", "3.10"),
    "long ids": ("5551234", "5551299"),
    "years": ("1999", "2004"),
    "negative zero": ("-0", "1", "2", "3"),
    "thousands": ("1,000", "2,000"),
}


@for_each("values", CODES.values())
def test_codes_are_no_numbers(values: Sequence[str]) -> None:
    """Whatever is not written as a measurement on a scale keeps its spelling."""
    survey = ColumnSurvey()
    for value in [*values] * 6:
        survey.see(value)
    assert survey.guess(survey.rows).kind in {"choice", "text"}


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        (("2", "3", "5"), 1, 5),
        (("0", "50", "100"), 0, 100),
        (("-2", "0", "1"), -2, 2),
        (("0.5", "0.75"), 0.5, 0.75),
        (("1.0", "4.0", "5.0"), 1, 5),
        (("3.50", "3.95"), 3.5, 3.95),
    ],
)
def test_scales_and_decimals_are_numbers(values: Sequence[str], low: float, high: float) -> None:
    """The grades of a scale that were not chosen are part of it."""
    survey = ColumnSurvey()
    for value in [*values] * 6:
        survey.see(value)
    field = survey.guess(survey.rows)
    assert (field.kind, field.minimum, field.maximum) == ("number", low, high)


def test_codes_come_out_of_the_dataset_as_they_went_in(tmp_path: Path) -> None:
    """Without means; and stated as a number, a code is one."""
    sent = [{"zip": code} for code in ("00603", "02134", "00603", "1e10")] * 4
    source = batch(tmp_path / "b.csv", sent)
    campaign = tmp_path / "codes.toml"
    done("data", "import", source, "--as", campaign)
    done("data", "assess", campaign)
    done("export", campaign)
    folder = tmp_path / "out/codes/dataset"
    with (folder / "answers.csv").open(encoding="utf-8") as file:
        kept = [line["zip"] for line in csv.DictReader(file)]
    assert {"00603", "1e10"} <= set(kept) <= {"00603", "02134", "1e10"}
    columns = tmp_path / "columns.toml"
    columns.write_text('[fields.zip]\nkind = "number"\n', encoding="utf-8")
    assert kinds(understood(source, "--columns", columns)) == {"zip": "number"}


def test_every_guess_is_shown_with_the_line_that_overrides_it(tmp_path: Path) -> None:
    """And the line is obeyed."""
    sent = [{"grade": str(number % 5 + 1)} for number in range(16)]
    source = batch(tmp_path / "b.csv", sent)
    document = understood(source)
    assert 'fields.grade.kind = "choice"' in otherwise(document)
    assert 'item = ["url"]' in otherwise(document)
    columns = tmp_path / "columns.toml"
    columns.write_text('fields.grade.kind = "choice"\n', encoding="utf-8")
    assert kinds(understood(source, "--columns", columns)) == {"grade": "choice"}
    printed = done("data", "import", source, "--dry-run")
    assert "guessed" in printed
    assert "grade holds numbers from 1 to 5" in " ".join(printed.split())


PAIR = {"image_1": "http://127.0.0.1/a.jpg", "image_2": "http://127.0.0.1/b.jpg"}
ASKED = {
    "other options": [("left one", "yes"), ("right one", "no")],
    "a text": [("one", f"because {n}") for n in range(8)],
    "sides": [("left", "left"), ("right", "right")],
}


@pytest.mark.parametrize("values", ASKED.values(), ids=ASKED)
def test_two_questions_about_a_pair_are_about_one_item(
    values: Sequence[tuple[str, str]], tmp_path: Path
) -> None:
    """Other values for the second number are answers to another question."""
    many = [*values] * (16 // len(values))
    sent = [{"better_1": first, "better_2": second} for first, second in many]
    document = understood(batch(tmp_path / "b.csv", sent, **PAIR))
    assert (document["answers"], document["items"]) == (16, 1)
    assert set(kinds(document)) == {"better_1", "better_2"}
    assert "numbers = [1, 2]" in otherwise(document)


def test_numbers_are_as_stated(tmp_path: Path) -> None:
    """`numbers = []` is one item a row, and numbers may begin with zero."""
    sent = [{"ok01": "yes", "ok02": "no"}, {"ok01": "no", "ok02": "yes"}] * 8
    shown = {"text01": "one", "text02": "two"}
    source = batch(tmp_path / "b.csv", sent, **shown)
    document = understood(source)
    assert (document["answers"], document["items"]) == (32, 2)
    campaign = tmp_path / "c.toml"
    done("data", "import", source, "--as", campaign)
    assert 'numbers = ["01", "02"]' in (tmp_path / "c.columns.toml").read_text(encoding="utf-8")
    assert len(answers(campaign)) == 32
    columns = tmp_path / "columns.toml"
    columns.write_text("numbers = []\n", encoding="utf-8")
    document = understood(source, "--columns", columns)
    assert (document["answers"], document["items"]) == (16, 1)
    single = tmp_path / "one.toml"
    done("data", "import", source, "--columns", columns, "--as", single)
    assert len(answers(single)) == 16


WIDE = {
    "numbers inside": ("image{}_url", "label{}_text"),
    "between signs": ("image_{}_url", "q.{}.label"),
    "first": ("{}.image", "{}.caption"),
    "inside and at the end": ("Text {}", "answer{}_text"),
    "with another number": ("v2_image{}_url", "mp3_{}_heard"),
}


def wide(path: Path, image: str, label: str) -> Path:
    """A table with three items in a row, and other numbers in names."""
    shown = {
        **{image.format(n): f"http://127.0.0.1/{n}.jpg" for n in (1, 2, 3)},
        "mp3_url": "http://127.0.0.1/a.mp3",
        "sha256": "e3b0c4",
        "q2w_source": "paper",
    }
    sent = [
        {**{label.format(n): f"the words {row} about {n}" for n in (1, 2, 3)}, "q2w_answer": "yes"}
        for row in range(8)
    ]
    return batch(path, sent, **shown)


@pytest.mark.parametrize(("image", "label"), WIDE.values(), ids=WIDE)
def test_a_number_may_stand_anywhere_in_a_column(image: str, label: str, tmp_path: Path) -> None:
    """Items are told apart by it; other numbers are part of a name."""
    document = understood(wide(tmp_path / "b.csv", image, label))
    assert document["numbers"] == ["1", "2", "3"]
    assert (document["answers"], document["items"]) == (24, 3)
    assert len(kinds(document)) == 2
    assert "q2w_answer" in kinds(document)


def test_a_table_with_numbers_in_names_becomes_answers_about_its_items(tmp_path: Path) -> None:
    """The file of columns says how, so reading it again gives the same."""
    source, campaign = wide(tmp_path / "b.csv", *WIDE["numbers inside"]), tmp_path / "c.toml"
    for _ in range(2):
        done("data", "import", source, "--as", campaign)
        table = answers(campaign)
        assert (len(table), table["item_id"].nunique()) == (24, 3)
        assert table["value.label_text"].nunique() == 24
    columns = tomllib.loads((tmp_path / "c.columns.toml").read_text(encoding="utf-8"))
    assert {*columns["item"]} == {"image_url", "mp3_url", "sha256", "q2w_source"}


def test_numbers_that_do_not_count_are_part_of_a_name(tmp_path: Path) -> None:
    """And a column's name with and without a number are two columns."""
    shown = {"mp3_url": "a", "mp4_url": "b", "sha256": "c", "page1_of": "d"}
    sent = [{"q2w_answer": "yes", "q3w_answer": "no", "utf8_text": "a word"}] * 8
    document = understood(batch(tmp_path / "b.csv", sent, **shown))
    assert (document["numbers"], document["answers"]) == ([], 8)
    both = {"image1_url": "a", "image2_url": "b", "image_url": "c"}
    sent = [{"label1_text": "a word", "label2_text": "two words"}] * 8
    assert understood(batch(tmp_path / "c.csv", sent, **both))["numbers"] == []


def test_of_two_numbers_in_a_name_one_is_the_item_s() -> None:
    """The one after a word for an item, or the one that never falls."""
    names = ["img1_q1", "img1_q2", "img2_q1", "img2_q2"]
    of_img = {
        "img_q1": {"1": "img1_q1", "2": "img2_q1"},
        "img_q2": {"1": "img1_q2", "2": "img2_q2"},
    }
    assert shared_numbers(["img1", "img2"], names) == {("1", "2"): of_img}
    assert shared_numbers(["url_1", "url_2"], names) == {("1", "2"): of_img}
    turned = [f"q{q}_img{n}" for q in (1, 2) for n in (1, 2)]
    assert shared_numbers(["img1_url", "img2_url"], turned) == {
        ("1", "2"): {f"q{q}_img": {"1": f"q{q}_img1", "2": f"q{q}_img2"} for q in (1, 2)}
    }


LISTS = {
    "labels": ('{"labels": ["cat"]}', '{"labels": ["cat", "dog"]}'),
    "choices": ('{"choices": ["cat"]}', '{"choices": ["cat", "dog"]}'),
    "boxes": ('{"cat": true, "dog": false}', '{"cat": true, "dog": true}'),
    "a list": ('["cat"]', '["cat", "dog"]'),
    "Python's list": ("['cat']", "['cat', 'dog']"),
    "brackets": ("[cat]", "[cat, dog]"),
    "bars": ("cat", "cat|dog"),
    "lines": ("cat", "cat\ndog"),
}


@pytest.mark.parametrize("cells", LISTS.values(), ids=LISTS)
def test_lists_of_labels_are_what_was_ticked(cells: tuple[str, str], tmp_path: Path) -> None:
    """In every spelling, and no answer breaks a rule."""
    source = batch(tmp_path / "b.csv", [{"animals": cell} for cell in cells * 8])
    campaign = tmp_path / "c.toml"
    done("data", "import", source, "--as", campaign)
    table = answers(campaign)
    assert [*table["value.animals"]] == [("cat",), ("cat", "dog")] * 8
    assert set(table["problems"]) == {()}


def test_brackets_in_some_answers_are_text(tmp_path: Path) -> None:
    """A column is of lists only if every cell is one."""
    sent = [{"note": note} for note in ("[unclear]", "a cat", "{}", "[1] a dog")]
    campaign = tmp_path / "c.toml"
    done("data", "import", batch(tmp_path / "b.csv", sent * 4), "--as", campaign)
    assert set(answers(campaign)["value.note"]) == {"[unclear]", "a cat", "", "[1] a dog"}


def test_an_option_in_brackets_is_an_option(tmp_path: Path) -> None:
    """What another cell writes without brackets does not change it."""
    sent = [{"kind": kind} for kind in ("[none]", "cat")]
    campaign = tmp_path / "c.toml"
    done("data", "import", batch(tmp_path / "b.csv", sent * 8), "--as", campaign)
    table = answers(campaign)
    assert set(table["value.kind"]) == {"[none]", "cat"}
    assert set(table["problems"]) == {()}


def test_flattened_buttons_and_boxes_are_one_answer(tmp_path: Path) -> None:
    """As MTurk writes crowd forms; a row of another page has none of them."""
    sent = [
        {f"rating.{n}": "true" if n == number % 5 + 1 else "false" for n in range(1, 6)}
        | {"flaws.blur": "true", "flaws.dark": "TRUE" if number % 2 else "FALSE"}
        for number in range(15)
    ]
    sent.append(dict.fromkeys(sent[0], ""))
    campaign = tmp_path / "c.toml"
    source = batch(tmp_path / "b.csv", sent)
    assert set(kinds(understood(source))) == {"rating", "flaws"}
    done("data", "import", source, "--as", campaign)
    table = answers(campaign)
    assert [*table["value.rating"]][:5] == [1, 2, 3, 4, 5]
    assert [*table["value.flaws"]][:2] == [("blur",), ("blur", "dark")]
    assert set(table["problems"]) == {()}


def table(path: Path, lines: Sequence[Sequence[str]], separator: str) -> Path:
    """A plain table of answers."""
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(lines)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path


LINES = [
    ["", "text", "who", "when", "label"],
    *(
        [str(n), f"a; b, c | {n // 4}", f"w{n % 4}", f"{n + 1}.3.2024 10:00", "ab"[n % 2]]
        for n in range(16)
    ),
]
COLUMNS = """item = ["text"]
answers = { label = "label" }
[columns]
worker = "who"
"""


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_out(separator: str, tmp_path: Path) -> None:
    """Cells may hold the others; what is not a comma is shown."""
    columns = tmp_path / "columns.toml"
    columns.write_text(COLUMNS, encoding="utf-8")
    source = table(tmp_path / "t.csv", LINES, separator)
    document = understood(source, "--columns", columns)
    assert (document["answers"], document["items"]) == (16, 4)
    is_shown = any(line.startswith("separator =") for line in otherwise(document))
    assert is_shown == (separator != ",")


def test_an_unnamed_column_is_never_the_time(tmp_path: Path) -> None:
    """Nor anything else that nobody stated; several are allowed."""
    columns = tmp_path / "columns.toml"
    columns.write_text(COLUMNS, encoding="utf-8")
    lines = [[*line, ""] for line in LINES]
    campaign = tmp_path / "c.toml"
    source = table(tmp_path / "t.csv", lines, ",")
    done("data", "import", source, "--columns", columns, "--as", campaign)
    read = answers(campaign)
    assert read["submitted_at"].isna().all()
    assert set(read["worker_id"]) == {"w0", "w1", "w2", "w3"}


def test_a_spreadsheet_s_line_states_the_separator(tmp_path: Path) -> None:
    """The header is the second line, and so are the numbers of faulty lines."""
    source = table(tmp_path / "t.csv", [*LINES, ["short"]], ";")
    text = source.read_text(encoding="utf-8")
    source.write_text("sep=;\n" + text, encoding="utf-8")
    columns = tmp_path / "columns.toml"
    columns.write_text(COLUMNS, encoding="utf-8")
    assert "line 19" in done("data", "import", source, "--columns", columns, "--dry-run")


def test_the_order_of_day_and_month_is_stated_or_asked(tmp_path: Path) -> None:
    """MTurk's sites write the month first; any other table must show it."""
    lines = [[*line[:3], line[3].replace(".", "/"), *line[4:]] for line in LINES[:10]]
    columns = tmp_path / "columns.toml"
    columns.write_text(COLUMNS + 'submitted = "when"\n', encoding="utf-8")
    source = table(tmp_path / "t.csv", lines, ",")
    refused = piecework("data", "import", source, "--columns", columns, "--dry-run")
    assert refused.exit_code
    assert "state day_first = true" in " ".join(refused.output.split())
    columns.write_text("day_first = true\n" + columns.read_text(), encoding="utf-8")
    campaign = tmp_path / "c.toml"
    done("data", "import", source, "--columns", columns, "--as", campaign)
    assert {*answers(campaign)["submitted_at"].dt.month} == {3}
    later = table(
        tmp_path / "later.csv",
        LINES[:1]
        + [
            [line[0], "new", *line[2:3], line[3].replace(".", "/"), *line[4:]]
            for line in LINES[1:3]
        ],
        ",",
    )
    done("data", "import", later, "--as", campaign)
    assert {*answers(campaign)["submitted_at"].dt.month} == {3}


def test_mturk_s_order_of_day_and_month_is_known(tmp_path: Path) -> None:
    """A batch that a spreadsheet wrote again; it is shown as a guess."""
    cells = row(1, "W1", shown={"url": "x"}, sent={"label": "cat"})
    cells |= {"AcceptTime": "3/4/2017 9:01", "SubmitTime": "3/4/2017 9:02"}
    source = write(tmp_path / "b.csv", [cells])
    assert "day_first = true" in otherwise(understood(source))
    campaign = tmp_path / "c.toml"
    done("data", "import", source, "--as", campaign)
    assert {*answers(campaign)["submitted_at"].dt.month} == {3}


@pytest.mark.parametrize(
    ("content", "shown", "label"),
    [
        ("naïve".encode("cp1252"), 'encoding = "latin2"', "naïve"),
        ("naïve".encode() * 3 + b"\xff", 'encoding = "cp1252"', "naïve" * 3 + "�"),
    ],
)
def test_an_encoding_that_is_guessed_is_shown(
    content: bytes, shown: str, label: str, tmp_path: Path
) -> None:
    """One damaged byte does not turn a file of UTF-8 into another encoding."""
    source = batch(tmp_path / "b.csv", [{"label": "LABEL"}] * 4)
    source.write_bytes(source.read_bytes().replace(b"LABEL", content))
    assert shown in otherwise(understood(source))
    campaign = tmp_path / "c.toml"
    done("data", "import", source, "--as", campaign)
    assert set(answers(campaign)["value.label"]) == {label}


def test_utf_16_without_a_mark_is_read(tmp_path: Path) -> None:
    """As some exports of Windows are."""
    source = batch(tmp_path / "b.csv", [{"label": "Zürich"}] * 4)
    text = source.read_text(encoding="utf-8")
    source.write_bytes(text.encode("utf-16-le"))
    assert understood(source)["answers"] == 4


EXPORT = """Submission id,Participant id,Status,Started at,Completed at,Time taken
s1,p1,APPROVED,2024-03-31T00:50:00Z,2024-03-31T01:10:00Z,1200
s2,p2,RETURNED,2024-03-31T00:50:00Z,,
s3,p3,AWAITING REVIEW,2024-03-31T00:50:00Z,2024-03-31T01:10:00Z,1200
"""
TRIALS = """trial,PROLIFIC_PID,SESSION_ID,stimulus,answer
1,p1,s1,a.jpg,cat
1,p3,s3,b.jpg,cat
2,p1,s1,b.jpg,dog
2,p3,s3,a.jpg,cat
1,p2,s2,a.jpg,cat
"""


def test_a_row_for_each_trial_is_an_answer_of_its_submission(tmp_path: Path) -> None:
    """All rows are kept, wherever they stand; who answered is no answer."""
    export, trials = tmp_path / "export.csv", tmp_path / "trials.csv"
    export.write_text(EXPORT, encoding="utf-8")
    trials.write_text(TRIALS, encoding="utf-8")
    campaign = tmp_path / "c.toml"
    done("data", "import", export, trials, "--as", campaign)
    read = answers(campaign)
    assert len(read) == 4
    assert read["assignment_id"].nunique() == 2
    assert [*read["item_id"]].count(read["item_id"].iloc[0]) == 2
    assert {name for name in read.columns if name.startswith("value.")} == {
        *("value.trial", "value.answer")
    }
    assert set(read["submitted_at"].dt.hour) == {1}


def test_columns_are_obeyed_for_a_survey_of_participants(tmp_path: Path) -> None:
    """What is stated about items and answers replaces the guess."""
    export, trials = tmp_path / "export.csv", tmp_path / "trials.csv"
    export.write_text(EXPORT, encoding="utf-8")
    trials.write_text(TRIALS, encoding="utf-8")
    columns = tmp_path / "columns.toml"
    columns.write_text('item = ["trial"]\nanswers = { seen = "stimulus" }\n', encoding="utf-8")
    document = understood(export, trials, "--columns", columns)
    assert (document["answers"], document["items"]) == (4, 2)
    assert set(kinds(document)) == {"seen"}


def test_a_stated_answer_that_is_missing_is_refused(tmp_path: Path) -> None:
    """With the columns that a survey has; nothing is read without it."""
    export, trials = tmp_path / "export.csv", tmp_path / "trials.csv"
    export.write_text(EXPORT, encoding="utf-8")
    trials.write_text(TRIALS.replace("trial,", "Unnamed: 0,"), encoding="utf-8")
    columns = tmp_path / "columns.toml"
    columns.write_text('answers = { seen = "anwser" }\n', encoding="utf-8")
    refused = piecework("data", "import", export, trials, "--columns", columns, "--dry-run")
    assert refused.exit_code
    assert "did you mean 'answer'" in " ".join(refused.output.split())
    # What pandas calls an index that has no name is no answer.
    assert set(kinds(understood(export, trials))) == {"answer"}


def test_rows_of_an_assignment_may_stand_apart(tmp_path: Path) -> None:
    """Sorted by item, each worker's rows still are one assignment."""
    columns = tmp_path / "columns.toml"
    columns.write_text(COLUMNS + 'assignment = ["who"]\n', encoding="utf-8")
    campaign = tmp_path / "c.toml"
    source = table(tmp_path / "t.csv", LINES, ",")
    done("data", "import", source, "--columns", columns, "--as", campaign)
    read = answers(campaign)
    assert (len(read), read["assignment_id"].nunique()) == (16, 4)
