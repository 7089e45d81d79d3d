"""Each format read by hand-written samples: who, when, what, and what became of it."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from piecework.config.shared_files import read_reading
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Times
from piecework.hit_templates.own_html.control_kinds import REGIONS
from piecework.importing.readers.crowd_form import flattened
from piecework.importing.readers.moments import moment
from piecework.importing.readers.recognise import recognise
from piecework.importing.readers.results_file import unpack
from piecework.importing.readers.rows import ImportedRow, NotSent, Read, Unreadable
from tests.for_each import for_each
from tests.importing.batches import row, stances, write

XSD = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
    "QuestionFormAnswers.xsd"
)
NOON = datetime(2019, 4, 20, 12, tzinfo=UTC)


def answer_xml(text: str) -> str:
    """An answer document with one field."""
    inside = f"<QuestionIdentifier>caption</QuestionIdentifier><FreeText>{text}"
    return (
        f'<QuestionFormAnswers xmlns="{XSD}"><Answer>{inside}</FreeText></Answer>'
        "</QuestionFormAnswers>"
    )


def assignment(number: int, text: str = "a dog") -> dict[str, str]:
    """An assignment as boto3 gives it, its times as text."""
    return {
        "AssignmentId": f"A{number}",
        "WorkerId": "W1",
        "HITId": "H1",
        "AssignmentStatus": "Approved",
        "AcceptTime": "2019-04-20T13:59:00+02:00",
        "SubmitTime": "2019-04-20T14:00:00+02:00",
        "Answer": answer_xml(text),
        "RequesterFeedback": "thanks",
    }


def rows_of(tmp_path: Path, text: str, name: str = "file") -> tuple[str, list[Read]]:
    """The format of a file with this text, and its rows."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (source,) = recognise([path])
    return source.format_name, list(source.rows())


def only(rows: Sequence[Read]) -> ImportedRow:
    """The one row there is, which could be read."""
    (imported,) = rows
    assert isinstance(imported, ImportedRow)
    return imported


@for_each(
    ("text", "expected"),
    [
        ("Sat Apr 20 07:00:00 CDT 2019", NOON),
        ("2019-04-20T12:00:00Z", NOON),
        ("2019-04-20 12:00:00", NOON),
        ("2019-04-20 05:00:00-07:00", NOON),
        ("1555761600", NOON),
        ("1555761600000", NOON),
        ("4/20/2019 12:00", NOON),
        ("4/20/19 12:00:00 PM", NOON),
        ("20/4/2019 12:00", NOON),
        ("20.04.2019 12:00", NOON),
        ("2019/04/20 12:00", NOON),
        ("Apr 20, 2019 12:00:00 PM", NOON),
        ("Sat, 20 Apr 2019 14:00:00 +0200", NOON),
        ("20-Apr-2019 12:00", NOON),
        ("Sat Apr 20 14:00:00 CEST 2019", NOON),
        ("Sat Apr 20 13:00:00 BST 2019", NOON),
        ("Sat Apr 20 21:00:00 JST 2019", NOON),
        ("Sat Apr 20 17:30:00 IST 2019", NOON),
        ("Sat Apr 20 09:00:00 -03 2019", NOON),
        ("Sat Apr 20 09:00:00 GMT-03:00 2019", NOON),
        ("Sat Apr 20 14:00:00 Europe/Berlin 2019", NOON),
        ("2019-04-20 14:00:00 CEST", NOON),
        ("2019-04-20 17:30:00 +0530", NOON),
        ("20.04.2019 14:00 CEST", NOON),
        ("", None),
    ],
)
def test_moments_of_all_tools_are_one(text: str, expected: datetime | None) -> None:
    """Both of MTurk's forms, the API's, epochs, and a spreadsheet's."""
    assert moment(text) == expected


@pytest.mark.parametrize("text", ["yesterday", "2019-13-01", "0", "1e9"])
def test_what_is_no_moment_is_said(text: str) -> None:
    """With what is allowed."""
    with pytest.raises(ValueError, match="times such as"):
        moment(text)


def test_a_date_that_may_be_read_in_two_ways_is_asked_about() -> None:
    """A day above 12, or a statement, shows which number is the month."""
    with pytest.raises(ValueError, match="state day_first = true"):
        moment("03/04/2019 12:00")
    march = moment("03/04/2019 12:00", Times(day_first=False))
    april = moment("03/04/2019 12:00", Times(day_first=True))
    assert (march, april) == (
        datetime(2019, 3, 4, 12, tzinfo=UTC),
        datetime(2019, 4, 3, 12, tzinfo=UTC),
    )


def test_zones_are_as_stated() -> None:
    """For times without a zone, and for abbreviations that mean several."""
    berlin = Times(zone="Europe/Berlin", zones={"IST": "Asia/Jerusalem"})
    assert moment("2019-04-20 14:00:00", berlin) == NOON
    assert moment("Sat Apr 20 15:00:00 IST 2019", berlin) == NOON
    with pytest.raises(ValueError, match=r"zones = \{ QQQ ="):
        moment("Sat Apr 20 15:00:00 QQQ 2019")


def test_a_batch_says_its_input_answer_times_and_status(tmp_path: Path) -> None:
    """Approval rates are no part of it."""
    cells = row(1, "W1", shown={"url": "x"}, sent={"caption": "a dog", "flaw": "{}"})
    path = write(tmp_path / "b.csv", [{**cells, "RequesterFeedback": "thanks"}])
    (source,) = recognise([path])
    imported = only(list(source.rows()))
    assert source.format_name == "MTurk batch results (CSV)"
    assert (imported.shown, imported.sent) == ({"url": "x"}, {"caption": "a dog", "flaw": ""})
    assert (imported.outcome, imported.feedback) == ("Submitted", "thanks")
    assert imported.reward_cents == 10
    assert imported.submitted_at == datetime(2017, 4, 3, 15, 1, tzinfo=UTC)


def test_a_crowd_form_is_taken_apart(tmp_path: Path) -> None:
    """Boxes become the names of those that are ticked, a label its text."""
    answers = [{"caption": "a dog", "flaws": {"blur": True, "dark": False}}]
    sent = {"taskAnswers": json.dumps(answers)}
    path = write(tmp_path / "b.csv", [row(1, "W1", shown={}, sent=sent)])
    (source,) = recognise([path])
    assert only(list(source.rows())).sent == {"caption": "a dog", "flaws": "blur"}


@for_each("part", sorted({*REGIONS.values()}))
def test_marks_keep_the_name_of_their_kind(part: str) -> None:
    """However many they are, and with or without the picture's size; what was chosen does not."""
    mark = {"label": "Cat", "x": 1, "y": 2}
    for marks in ([], [mark], [mark, mark]):
        for sent in ({part: marks}, {part: marks, "inputImageProperties": {"width": 9}}):
            assert json.loads(flattened(json.dumps({"a": sent}))["a"]) == sent
    assert flattened(json.dumps({"a": {"labels": ["Cat"]}, "b": {"choices": []}})) == {
        "a": "Cat",
        "b": "",
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_is_found_out(encoding: str, tmp_path: Path) -> None:
    """Of what spreadsheets write; with a mark or without."""
    cells = row(1, "W1", shown={"text": "Zürich"}, sent={"answer": "naïve"})
    path = write(tmp_path / "b.csv", [cells])
    path.write_bytes(path.read_text(encoding="utf-8").encode(encoding))
    (source,) = recognise([path])
    imported = only(list(source.rows()))
    assert (imported.shown["text"], imported.sent["answer"]) == ("Zürich", "naïve")


@pytest.mark.parametrize("form", ["page", "list", "lines", "pages"])
def test_answers_of_the_api_in_every_form(form: str, tmp_path: Path) -> None:
    """One page, a list, one a line, or pages one after another; the HIT's reward."""
    many = [assignment(1), assignment(2, "a &lt;b&gt; &amp; 日本")]
    hit = {"HIT": {"HITId": "H1", "Reward": "0.25"}}
    page = {"NumResults": 2, "Assignments": many}
    text = {
        "page": json.dumps(page, indent=2),
        "list": json.dumps(many, indent=2),
        "lines": "\n".join(map(json.dumps, many)),
        "pages": json.dumps(hit, indent=2) + json.dumps(page, indent=2),
    }[form]
    name, rows = rows_of(tmp_path, text)
    assert name == "MTurk API (JSON)"
    first, second = rows
    assert isinstance(first, ImportedRow)
    assert isinstance(second, ImportedRow)
    assert (first.sent, second.sent) == ({"caption": "a dog"}, {"caption": "a <b> & 日本"})
    assert (first.submitted_at, first.outcome) == (NOON, "Approved")
    assert first.reward_cents == (25 if form == "pages" else None)


def test_an_answer_document_that_cannot_be_read_is_put_aside(tmp_path: Path) -> None:
    """One with an entity in it, too: it is hostile."""
    broken = {**assignment(1), "Answer": "<Answer><broken"}
    bomb = {**assignment(2), "Answer": '<!DOCTYPE x [<!ENTITY a "b">]>' + answer_xml("&a;")}
    _, rows = rows_of(tmp_path, json.dumps([broken, bomb, assignment(3)], indent=1))
    kinds = [type(read).__name__ for read in rows]
    assert kinds == ["Unreadable", "Unreadable", "ImportedRow"]
    assert isinstance(rows[0], Unreadable)
    assert rows[0].column == "Answer"


def test_a_file_that_was_cut_off_says_so(tmp_path: Path) -> None:
    """What stands before the cut comes in."""
    text = json.dumps([assignment(1), assignment(2)], indent=1)[:-40]
    _, rows = rows_of(tmp_path, text)
    assert isinstance(rows[0], ImportedRow)
    assert isinstance(rows[-1], Unreadable)
    assert "cut off" in rows[-1].fault


def test_a_batch_folder_of_amti(tmp_path: Path) -> None:
    """Each HIT has a folder with its assignments and its reward."""
    folder = tmp_path / "batch" / "results" / "hit-H1"
    folder.mkdir(parents=True)
    (folder / "assignments.jsonl").write_text(json.dumps(assignment(1)) + "\n")
    (folder / "hit.jsonl").write_text(json.dumps({"HIT": {"HITId": "H1", "Reward": "0.25"}}))
    (source,) = recognise([tmp_path / "batch"])
    imported = only(list(source.rows()))
    assert (source.format_name, imported.reward_cents) == ("amti", 25)
    assert imported.sent == {"caption": "a dog"}


@pytest.mark.parametrize(
    ("amount", "cents"),
    [
        ("0.29", 29),
        # As a float it is 90071992547409.94.
        ("90071992547409.93", 9_007_199_254_740_993),
        # As a float it is below 1.005, and would be rounded down to 100.
        ("1.005", None),
        ("inf", None),
        ("many", None),
    ],
)
def test_a_reward_is_read_to_the_cent_or_not_at_all(
    tmp_path: Path, amount: str, cents: int | None
) -> None:
    """From a table, a page of JSON and a folder of amti."""
    hit = {"HITId": "H1", "Reward": amount}
    cells = row(1, "W1", shown={"url": "x"}, sent={"caption": "a dog"})
    table = write(tmp_path / "b.csv", [{**cells, "Reward": f"${amount}"}])
    folder = tmp_path / "batch" / "results" / "hit-H1"
    folder.mkdir(parents=True)
    (folder / "assignments.jsonl").write_text(json.dumps(assignment(1)) + "\n")
    (folder / "hit.jsonl").write_text(json.dumps({"HIT": hit}))
    page = tmp_path / "page.json"
    pages = ({"HIT": hit}, {"Assignments": [assignment(1)]})
    page.write_text("".join(json.dumps(part, indent=2) for part in pages))
    for path in (table, tmp_path / "batch", page):
        (source,) = recognise([path])
        assert only(list(source.rows())).reward_cents == cents


def test_an_output_of_simple_amt_is_an_object_an_item(tmp_path: Path) -> None:
    """A list of one is one item; of more, as many."""
    line = {
        "assignment_id": "A1",
        "hit_id": "H1",
        "worker_id": "W1",
        "submit_time": "2019-04-20 12:00:00+00:00",
        "output": [{"text": "a dog"}, {"text": "a cat"}],
    }
    name, rows = rows_of(tmp_path, json.dumps(line))
    imported = only(rows)
    assert name == "simple-amt"
    assert [part.sent for part in imported.parts] == [{"text": "a dog"}, {"text": "a cat"}]
    assert imported.submitted_at == NOON


def test_packed_fields_of_the_vizwiz_pipeline_fall_into_images(tmp_path: Path) -> None:
    """Captions with a bar of their own, codes as words, times where both were taken."""
    cells = {
        "hitid": "H1",
        "assignmentid": "A1",
        "workerid": "W1",
        "assignmentstatus": "Submitted",
        "assignmentaccepttime": "Sat Apr 20 06:59:00 CDT 2019",
        "assignmentsubmittime": "Sat Apr 20 07:00:00 CDT 2019",
        "reward": "$0.55",
        "Answer.IMG": "a.jpg|b.jpg",
        "Answer.IMG_ST_TIME": "1000|-999",
        "Answer.IMG_END_TIME": "3500|-999",
        "Answer.IMG_CAPTION": "a red|blue box|<END>|b %3CEND%3E|<END>",
        "Answer.TEXT_DETECT": "Y|<END>|N|<END>",
        "Answer.Q_ISSUE": "BLR|FRM|<END>|NONE|<END>",
        "Answer.Q_ISSUE_OTH": "|<END>||<END>",
    }
    lines = ["\t".join(f'"{cell}"' for cell in line) for line in (cells, cells.values())]
    name, rows = rows_of(tmp_path, "\n".join(lines) + "\n")
    imported = only(rows)
    assert name == "MTurk command line tools (.results)"
    assert [dict(part.shown) for part in imported.parts] == [
        {"image_id": "a.jpg"},
        {"image_id": "b.jpg"},
    ]
    assert imported.parts[0].sent == {
        "caption": "a red|blue box",
        "has_text": "yes",
        "flaws": "blur|framing",
        "flaw_other": "",
    }
    assert imported.parts[0].measured == {"shown_ms": "2500"}
    assert imported.parts[1].sent["caption"] == "b <END>"
    assert imported.parts[1].measured == {}
    assert (imported.reward_cents, imported.submitted_at) == (55, NOON)
    short = lines[1].replace("Y|<END>|N|<END>", "Y|<END>")
    _, rows = rows_of(tmp_path, "\n".join([lines[0], short]) + "\n")
    (aside,) = rows
    assert isinstance(aside, Unreadable)
    assert (aside.column, aside.fault) == ("Answer.TEXT_DETECT", "has 1 parts for 2 images")


def test_an_end_that_is_missing_is_no_part_of_its_own() -> None:
    """The text behind the last end is a part, which then are too many."""
    assert unpack("a|<END>|b") == ["a", "b"]


EXPORT = (
    "Submission id,Participant id,Status,Started at,Completed at,Time taken,"
    "Completion code\n"
    "s1,p1,APPROVED,2019-04-20T11:59:00Z,2019-04-20T12:00:00Z,60,C1\n"
    "s2,p2,RETURNED,2019-04-20T11:59:00Z,,,\n"
    "s3,p3,REJECTED,2019-04-20T11:59:00Z,,60,C1\n"
)


def test_prolifics_export_alone_tells_who_and_when(tmp_path: Path) -> None:
    """Who returned the study has sent nothing; a time that is missing is counted."""
    name, rows = rows_of(tmp_path, EXPORT)
    assert name == "Prolific export"
    first, returned, rejected = rows
    assert isinstance(first, ImportedRow)
    assert isinstance(returned, NotSent)
    assert isinstance(rejected, ImportedRow)
    assert returned.why == "returned"
    assert (first.worker_id, first.outcome) == ("p1", "APPROVED")
    assert first.submitted_at == rejected.submitted_at == NOON
    (source,) = recognise([tmp_path / "file"])
    ((guess, otherwise),) = source.guesses()
    assert "no file has their answers" in guess
    assert "together with the file of the answers" in otherwise


def test_answers_are_joined_to_prolifics_export(tmp_path: Path) -> None:
    """By the column that holds its ids, whatever it is called."""
    (tmp_path / "export.csv").write_text(EXPORT)
    answers = tmp_path / "answers.csv"
    answers.write_text("link,mood\ns1,good\ns3,bad\ns9,bad\n")
    (source,) = recognise([answers, tmp_path / "export.csv"])
    first, second, stranger = source.rows()
    assert isinstance(first, ImportedRow)
    assert isinstance(second, ImportedRow)
    assert (first.worker_id, first.sent, first.outcome) == ("p1", {"mood": "good"}, "APPROVED")
    assert second.outcome == "REJECTED"
    assert isinstance(stranger, Unreadable)
    assert "'s9' is not a submitted visit in export.csv" in stranger.fault


def test_units_of_mephisto(tmp_path: Path) -> None:
    """Inputs, outputs and times; a unit that was returned was never sent."""
    unit = {
        "unit_id": "7",
        "worker_id": "3",
        "assignment_id": "5",
        "status": "accepted",
        "task_start": 1555761540,
        "task_end": 1555761600,
        "data": {
            "inputs": {"text": "Rain"},
            "outputs": {"final_data": {"stance": "yes", "tags": ["a", "b"]}},
        },
    }
    text = json.dumps([unit, {**unit, "unit_id": "8", "status": "returned"}])
    name, (first, second) = rows_of(tmp_path, text)
    assert name == "Mephisto"
    assert isinstance(first, ImportedRow)
    assert first.shown == {"text": "Rain"}
    assert first.sent == {"stance": "yes", "tags": "a|b"}
    assert (first.worker_id, first.submitted_at) == ("3", NOON)
    assert isinstance(second, NotSent)


def test_a_unit_of_mephisto_that_nobody_sent(tmp_path: Path) -> None:
    """Its agent has accepted it, which is not that the requester did."""
    unit = {"unit_id": "7", "worker_id": "3", "assignment_id": "5"}
    data = {"inputs": {"text": "Rain"}, "outputs": None}
    _, (not_sent,) = rows_of(tmp_path, json.dumps([{**unit, "status": "accepted", "data": data}]))
    assert not_sent == NotSent(line=1, why="accepted")


def test_a_chat_of_mephisto(tmp_path: Path) -> None:
    """Its messages are an answer; a chat without any has no time."""
    unit = {"unit_id": "7", "worker_id": "3", "assignment_id": "5", "status": "approved"}
    messages = [{"id": "Ann", "text": "hi"}, {"id": "Bot", "text": "it rains", "timestamp": 1}]
    chat = {"initial_data": {"topic": "rain"}, "messages": messages, "save_data": None}
    times = {"task_start": 0, "task_end": 0}
    _, rows = rows_of(tmp_path, json.dumps([{**unit, **times, "data": chat}]))
    imported = only(rows)
    assert imported.shown == {"topic": "rain"}
    assert imported.sent == {"messages": "Ann: hi\nBot: it rains"}
    assert imported.submitted_at is None


def test_a_dataset_of_ours_is_read_as_it_was_typed(tmp_path: Path) -> None:
    """Before cleaning; what became of an answer there is an outcome here."""
    cells = {
        "answer_id": ["A1.1", "A1.2", "A2.1"],
        "item_id": ["i1", "i2", "i1"],
        "worker": ["w1", "w1", "w2"],
        "submitted_at": [NOON] * 3,
        "shown_seconds": [1.5, None, 2.0],
        "caption": ["A dog.", "A cat.", "A dog."],
        "caption_original": ["A dgo.", "A cat.", "A dog."],
        "flaws": [["blur", "dark"], [], []],
        "set_aside": ["rejected", "", ""],
    }
    path = tmp_path / "set_aside.parquet"
    pq.write_table(pa.table(cells), path)
    (source,) = recognise([path])
    first, second = source.rows()
    assert isinstance(first, ImportedRow)
    assert isinstance(second, ImportedRow)
    assert (first.assignment_id, first.worker_id) == ("A1", "w1")
    assert first.parts[0].sent == {"caption": "A dgo.", "flaws": "blur|dark"}
    assert first.parts[0].measured == {"shown_ms": "1500"}
    assert first.outcomes == {1: "rejected", 2: "accepted"}
    assert (second.submitted_at, len(second.parts)) == (NOON, 1)


def _divided(rows: Sequence[tuple[str, str, str]]) -> pa.Table:
    return pa.table(
        {
            "answer_id": [answer_id for answer_id, _, _ in rows],
            "item_id": [f"i{answer_id}" for answer_id, _, _ in rows],
            "worker": [answer_id.partition(".")[0].lower() for answer_id, _, _ in rows],
            "caption": [caption for _, caption, _ in rows],
            "set_aside": [why for _, _, why in rows],
        }
    )


def test_answers_of_an_assignment_are_read_from_all_tables(tmp_path: Path) -> None:
    """In the order of their positions; the tables are those that an export writes."""
    kept = [("A1.1", "one", ""), ("A1.10", "ten", ""), ("A1.3", "three", ""), ("A2.1", "b", "")]
    aside = [("A1.2", "two", "dropped"), ("A3.1", "c", "canned"), ("A1.4", "four", "surplus")]
    paths = [tmp_path / "captions.parquet", tmp_path / "set_aside.parquet"]
    for path, rows in zip(paths, (kept, aside), strict=True):
        pq.write_table(_divided(rows), path)
    for order in (paths, paths[::-1]):
        sources = recognise(order)
        reads = [each for source in sources for each in source.rows()]
        read = {row.assignment_id: row for row in reads if isinstance(row, ImportedRow)}
        assert ({*read}, len(reads)) == ({"A1", "A2", "A3"}, 3)
        captions = [part.sent["caption"] for part in read["A1"].parts]
        assert captions == ["one", "two", "three", "four", "ten"]
        assert read["A1"].outcomes == {
            1: "accepted",
            2: "dropped",
            3: "accepted",
            4: "surplus",
            5: "accepted",
        }


def test_the_same_answer_in_two_tables_is_one(tmp_path: Path) -> None:
    """The later outcome holds; another text is a fault, and another worker another person."""
    paths = [tmp_path / "monday.parquet", tmp_path / "friday.parquet"]
    before = _divided([("A1.1", "one", "undecided"), ("A1.2", "two", "")])
    after = _divided([("A1.1", "one", "dropped"), ("A1.2", "other", "")])
    other = after.set_column(2, "worker", pa.array(["x", "x"]))
    pq.write_table(before, paths[0])
    pq.write_table(after, paths[1])
    fault, row = (row for source in recognise(paths) for row in source.rows())
    assert isinstance(fault, Unreadable)
    assert (fault.line, "A1.2 differs" in fault.fault) == (2, True)
    assert isinstance(row, ImportedRow)
    assert [part.sent["caption"] for part in row.parts] == ["one", "two"]
    assert row.outcomes == {1: "dropped", 2: "accepted"}
    pq.write_table(other, paths[1])
    rows = [row for source in recognise(paths) for row in source.rows()]
    assert [len(row.parts) for row in rows if isinstance(row, ImportedRow)] == [2, 2]


def mapped(tmp_path: Path, text: str, columns: str) -> list[Read]:
    """The rows of a table of which these columns are spoken."""
    (tmp_path / "columns.toml").write_text(columns)
    path = tmp_path / "table"
    path.write_text(text)
    (source,) = recognise([path], read_reading(tmp_path / "columns.toml"))
    return list(source.rows())


def test_any_table_by_its_columns(tmp_path: Path) -> None:
    """Rows of one assignment that follow each other are one; seconds give the start."""
    rows = mapped(
        tmp_path,
        "task,who,when,took,text,said,label\n"
        "1,ada,2019-04-20 12:00:00,60,Rain,wet,Correct\n"
        "1,ada,2019-04-20 12:00:00,60,Sun,dry,Cheating\n"
        "1,bob,2019-04-20 12:00:00,soon,Sun,dry,Correct\n",
        'item = "text"\nanswers = { mood = "said" }\n'
        '[columns]\nassignment = ["task", "who"]\nworker = "who"\n'
        'submitted = "when"\nseconds = "took"\noutcome = "label"\n',
    )
    first, second = rows
    assert isinstance(first, ImportedRow)
    assert isinstance(second, Unreadable)
    assert (first.assignment_id, first.worker_id) == ("1/ada", "ada")
    assert first.accepted_at == datetime(2019, 4, 20, 11, 59, tzinfo=UTC)
    assert [dict(part.shown) for part in first.parts] == [{"text": "Rain"}, {"text": "Sun"}]
    assert first.outcomes == {1: "Correct", 2: "Cheating"}
    assert (second.column, second.fault) == ("took", "'soon' is not a number of seconds")


def test_every_line_about_columns_counts(tmp_path: Path) -> None:
    """A file without a header, in an old encoding, with times of two zones."""
    (tmp_path / "columns.toml").write_text(
        'header = ["task", "who", "from", "to", "text", "said", "label", "note"]\n'
        'separator = ";"\nencoding = "cp1252"\nday_first = true\n'
        'zone = "Europe/Berlin"\nzones = { IST = "Asia/Jerusalem" }\n'
        'item = "text"\nanswers = { mood = "said" }\n'
        '[columns]\nhit = "task"\nworker = "who"\naccepted = "from"\n'
        'submitted = "to"\noutcome = "label"\nfeedback = "note"\n'
    )
    path = tmp_path / "table"
    path.write_bytes(
        "7;zoë;03/04/2019 14:00;03/04/2019 14:30;Rain;wet;ok;merci, zoë\n".encode("cp1252")
    )
    (source,) = recognise([path], read_reading(tmp_path / "columns.toml"))
    imported = only(list(source.rows()))
    assert (imported.hit_id, imported.worker_id) == ("7", "zoë")
    noon = datetime(2019, 4, 3, 12, tzinfo=UTC)
    assert (imported.accepted_at, imported.submitted_at) == (noon, noon + timedelta(minutes=30))
    assert imported.sent == {"said": "wet"}
    assert imported.feedback == "merci, zoë"
    assert imported.outcomes == {1: "ok"} or imported.outcome == "ok"


def test_counted_votes_are_as_many_answers(tmp_path: Path) -> None:
    """By people who are not known; a file without a line of columns is told them."""
    rows = mapped(tmp_path, "i1\t2\t1.0\ni2\t\t0\n", COUNTED)
    votes = [imported.sent for imported in rows if isinstance(imported, ImportedRow)]
    assert votes == [{"fits": "yes"}, {"fits": "yes"}, {"fits": "no"}]
    assert len(votes) == len(rows)


COUNTED = (
    'header = ["item", "yes", "no"]\nitem = "item"\nvotes = { fits = { yes = "yes", no = "no" } }\n'
)


@pytest.mark.parametrize("count", ["many", "-1", "2.5", "100001", "10000000000", "9" * 5000])
@pytest.mark.parametrize("column", ["yes", "no"])
def test_a_row_with_a_count_that_is_none_has_no_votes(
    count: str, column: str, tmp_path: Path
) -> None:
    """Half of its votes would say the opposite of all."""
    cells = {"yes": "2", "no": "3", column: count}
    rows = mapped(tmp_path, f"i1\t{cells['yes']}\t{cells['no']}\ni2\t1\t1\n", COUNTED)
    fault, *votes = rows
    assert isinstance(fault, Unreadable)
    assert (fault.line, fault.column) == (1, column)
    assert [row.hit_id or row.shown for row in votes if isinstance(row, ImportedRow)] == [
        {"item": "i2"}
    ] * 2


@pytest.mark.parametrize("form", ["lines", "list", "document"])
def test_a_number_that_is_none_is_no_answer(form: str, tmp_path: Path) -> None:
    """Pandas and Python write NaN for what is missing; an infinite number is a fault."""
    objects = [
        '{"item": "a", "who": NaN, "said": NaN}',
        '{"item": "b", "who": "w", "said": [1, -Infinity]}',
        '{"item": "c", "who": "w", "said": "wet"}',
    ]
    text = {
        "lines": "\n".join(objects),
        "list": f"[{', '.join(objects)}]",
        "document": "\n".join(text.replace(", ", ",\n") for text in objects),
    }[form]
    columns = 'columns.worker = "who"\nitem = "item"\nanswers = { said = "said" }\n'
    first, second, third = mapped(tmp_path, text, columns)
    assert isinstance(first, ImportedRow)
    assert (first.worker_id, first.sent) == ("", {"said": ""})
    assert isinstance(second, Unreadable)
    assert second.fault == "has the number -Infinity, which is not valid JSON"
    assert isinstance(third, ImportedRow)
    assert third.sent == {"said": "wet"}


def test_one_object_of_answers(tmp_path: Path) -> None:
    """Each of its members is a row of the two columns that are named."""
    rows = mapped(
        tmp_path,
        '{"1": ["a", "b"], "2": "c"}',
        'header = ["item", "said"]\nitem = "item"\nanswers = { tags = "said" }\n',
    )
    assert [imported.sent for imported in rows if isinstance(imported, ImportedRow)] == [
        {"said": "a|b"},
        {"said": "c"},
    ]


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With the one that was meant."""
    with pytest.raises(
        ConfigError, match=r"column 'sayd', named in the mapping, is missing.*'said'"
    ):
        mapped(tmp_path, "text,said\na,b\n", 'answers = { mood = "sayd" }\n')


def test_every_shipped_file_of_columns_can_be_read() -> None:
    """config/columns/ holds examples."""
    files = sorted(Path("config/columns").glob("*.toml"))
    assert len(files) >= 8
    for file in files:
        reading = read_reading(file)
        assert reading.answers or reading.votes


def test_the_order_of_columns_and_rows_is_the_file_s(tmp_path: Path) -> None:
    """As an editor counts them, also behind a line break in a cell."""
    cells = stances()
    cells[0]["Answer.note"] = "two\nlines"
    path = write(tmp_path / "b.csv", cells)
    (source,) = recognise([path])
    assert [read.line for read in source.rows()] == [2, 4, 5]


@for_each(
    ("header", "cells"),
    [
        ("HITId,AssignmentId,WorkerId,SubmitTime,Answer.a", "H,A,ann,BAD,x"),
        ("HITId,AssignmentId,WorkerId,AssignmentStatus,AcceptTime", "H,A,ann,Approved,BAD"),
        ("hitid,assignmentid,workerid,assignmentaccepttime,assignmentsubmittime", "H,A,ann,,BAD"),
        ("Submission id,Participant id,Status,Completed at", "S,ann,APPROVED,BAD"),
        ("id,annotation_id,annotator,lead_time,text,mood", "1,2,ann,BAD,a,b"),
        ("_unit_id,_worker_id,_created_at,text,mood", "1,ann,BAD,a,b"),
    ],
)
def test_a_row_with_an_unreadable_cell_is_of_its_worker(header: str, cells: str) -> None:
    """In every table that says who wrote it; a row of another length may say it anywhere."""
    with TemporaryDirectory() as folder:
        text = "\n".join((header, cells.replace("BAD", "yesterday"), f"{cells},more", ""))
        _, (row, longer) = rows_of(Path(folder), text, "table.csv")
    assert isinstance(row, Unreadable)
    assert isinstance(longer, Unreadable)
    assert (row.worker_id, longer.worker_id) == ("ann", "")
