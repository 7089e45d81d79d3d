"""Laws of reading the original pipeline's results, on lines in its own format."""

from datetime import UTC, datetime

import pytest

from domain.errors import ConfigError
from domain.tables import COLLECTED, faults
from qc.vizwiz_results import COLUMNS, moment, read, unpack

LINE = {
    "hitid": "H1",
    "assignmentid": "A1",
    "workerid": "W1",
    "assignmentaccepttime": "Sat Apr 20 16:20:50 CDT 2019",
    "assignmentsubmittime": "Sat Apr 20 16:21:50 CDT 2019",
    "Answer.HIT_ST_TIME": "1555795251000",
    "Answer.HIT_END_TIME": "1555795301000",
    "Answer.IMG": "a.jpg|b.jpg",
    "Answer.IMG_ST_TIME": "1555795251000|1555795263500",
    "Answer.IMG_END_TIME": "1555795263500|-999",
    "Answer.IMG_CAPTION": "a box|tin of beans|<END>|two “cats” sit|<END>",
    "Answer.TEXT_DETECT": "Y|<END>|N|<END>",
    "Answer.Q_ISSUE": "BLR|OTH|<END>|NONE|<END>",
    "Answer.Q_ISSUE_OTH": "glare|<END>||<END>",
}


def results(*changes: dict[str, str], encoding: str = "utf-8") -> bytes:
    """A file of such lines, each with its changes."""
    lines = ["\t".join(f'"{name}"' for name in COLUMNS)]
    for change in changes:
        line = LINE | change
        quoted = [line[name].replace('"', '""') for name in COLUMNS]
        lines.append("\t".join(f'"{cell}"' for cell in quoted))
    return "\n".join(lines).encode(encoding)


def test_one_line_is_one_row_an_image() -> None:
    """Packed fields fall apart by image; 60 s for two images are 30 s each."""
    table = read(results({}), batch=3)
    assert faults(table, COLLECTED) == []
    assert table.index.tolist() == ["A1.1", "A1.2"]
    assert table["item_id"].tolist() == ["a.jpg", "b.jpg"]
    assert table["text"].tolist() == ["a box|tin of beans", "two “cats” sit"]
    assert table["value.has_text"].tolist() == ["yes", "no"]
    assert table["value.flaws"].tolist() == [("blur", "other"), ("none",)]
    assert table["value.flaw_other"].tolist() == ["glare", ""]
    assert table["market_seconds"].tolist() == [30.0, 30.0]
    assert table["page_seconds"].tolist() == [25.0, 25.0]
    assert table["batch"].tolist() == [3, 3]


def test_a_time_that_was_never_set_is_missing_and_not_negative() -> None:
    """-999 as an end would otherwise be 49 years before the start."""
    shown = read(results({}))["shown_seconds"]
    assert shown.tolist()[0] == 12.5
    assert shown.isna().tolist() == [False, True]
    never = read(results({"Answer.HIT_END_TIME": "-999"}))
    assert never["page_seconds"].isna().all()


def test_a_negative_time_stays_negative() -> None:
    """A clock that was set back is for the heuristics to see."""
    change = {"Answer.IMG_END_TIME": "1555795250000|1555795264500"}
    assert read(results(change))["shown_seconds"].tolist() == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sat Apr 20 16:20:50 CDT 2019", datetime(2019, 4, 20, 21, 20, 50, tzinfo=UTC)),
        ("Sat Jan 05 16:20:50 CST 2019", datetime(2019, 1, 5, 22, 20, 50, tzinfo=UTC)),
        ("Mon Dec 31 20:00:00 CST 2018", datetime(2019, 1, 1, 2, 0, 0, tzinfo=UTC)),
    ],
)
def test_central_time_is_five_or_six_hours_behind(
    text: str, expected: datetime
) -> None:
    """Summer time is UTC-5 and winter time UTC-6."""
    assert moment(text) == expected


def test_clocks_set_back_between_two_times_cost_no_hour() -> None:
    """01:59:50 CDT and 01:00:20 CST on the night of the change are 30 s apart."""
    change = {
        "assignmentaccepttime": "Sun Nov 03 01:59:50 CDT 2019",
        "assignmentsubmittime": "Sun Nov 03 01:00:20 CST 2019",
    }
    assert read(results(change))["market_seconds"].tolist() == [15.0, 15.0]


@pytest.mark.parametrize(
    ("packed", "texts"),
    [
        ("a|<END>|b|<END>", ["a", "b"]),
        ("|<END>||<END>", ["", ""]),
        ("a|<END>", ["a"]),
        ("x %3CEND%3E y <END> z|<END>", ["x <END> y <END> z"]),
        ("a||<END>|b|<END>", ["a|", "b"]),
        ("", []),
        ("unpacked", ["unpacked"]),
    ],
)
def test_what_a_worker_typed_survives_the_packing(
    packed: str, texts: list[str]
) -> None:
    """Bars and ends that were typed are not taken for the packing's own."""
    assert unpack(packed) == texts


def test_parts_that_nobody_can_assign_are_a_problem_of_every_row() -> None:
    """A typed end with its bar makes three parts of two: none is guessed."""
    change = {"Answer.IMG_CAPTION": "a |<END> b|<END>|c|<END>"}
    table = read(results(change))
    assert table["text"].tolist() == ["", ""]
    assert table["problems"].tolist() == [("packing_img_caption",)] * 2


def test_times_that_do_not_fit_the_images_are_missing() -> None:
    """One time for two images belongs to neither."""
    table = read(results({"Answer.IMG_ST_TIME": "1555795251000"}))
    assert table["shown_seconds"].isna().all()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_the_encoding_is_found(encoding: str) -> None:
    """Curly quotes come through in each encoding that such files have."""
    assert read(results({}, encoding=encoding))["text"].tolist()[1] == "two “cats” sit"


def test_canned_text_with_spaces_behind_is_canned() -> None:
    """Workers touched it; the original compared it trimmed."""
    canned = "Quality issues are too severe to recognize visual content.  "
    table = read(results({"Answer.IMG_CAPTION": f"{canned}|<END>|cat|<END>"}))
    assert table["is_canned"].tolist() == [True, False]


def test_all_unreadable_lines_are_named_at_once() -> None:
    """A zone nobody knows and a time that is none, each with its line."""
    bad = {"assignmentaccepttime": "Sat Apr 20 16:20:50 MESZ 2019"}
    worse = {"assignmentsubmittime": "yesterday"}
    with pytest.raises(ConfigError) as caught:
        read(results(bad, {}, worse))
    assert [fault.split(":")[0] for fault in caught.value.faults] == [
        "line 2",
        "line 4",
    ]
    assert "'yesterday'" in caught.value.faults[1]


def test_missing_columns_are_all_named() -> None:
    """Another file of the pipeline is refused with reasons."""
    with pytest.raises(ConfigError) as caught:
        read(b'"hitid"\t"hittypeid"\n')
    assert len(caught.value.faults) == len(COLUMNS) - 1


def test_a_file_without_lines_is_an_empty_table() -> None:
    """The right columns and no rows."""
    table = read(results())
    assert table.empty
    assert faults(table, COLLECTED) == []
