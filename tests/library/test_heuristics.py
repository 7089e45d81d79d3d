"""Heuristics on a frame find what the command finds in a file."""

from pathlib import Path
from time import process_time

import pandas as pd
import pytest

import piecework
from piecework.domain.imported import Reading
from piecework.importing.assessing import assess_files
from piecework.library.answers import opened_answers
from tests.importing.batches import row, write

TEXTS = ["a dog on wet grass", "two red cups on a table", "a blue door in a wall"]


def _written() -> pd.DataFrame:
    """Two careful workers and one who always writes the same, three tasks each."""
    return pd.DataFrame(
        {
            "task": ["t1", "t2", "t3"] * 3,
            "worker": ["w1"] * 3 + ["w2"] * 3 + ["w3"] * 3,
            "assignment": ["A1"] * 3 + ["A2"] * 3 + ["A3"] * 3,
            "text": [*TEXTS, *(text.replace("a ", "one ") for text in TEXTS)]
            + ["NICE PICTURE HERE"] * 3,
        },
        index=pd.Index(range(10, 19)),
    )


def _batch(path: Path) -> Path:
    """Forty answers of four workers, one of whom always says yes."""
    rows = [
        row(
            10 * item + number,
            f"W{number}",
            hit=f"HIT{item}",
            shown={"sentence": f"Sentence {item}"},
            sent={"stance": "yes" if number == 3 or item % 2 else "no"},
            seconds=2 if number == 2 else 40,
        )
        for item in range(10)
        for number in range(4)
    ]
    write(path, rows)
    return path


@pytest.mark.full
def test_a_frame_that_was_read_is_judged_as_the_file_is(tmp_path: Path) -> None:
    """The same flags with the same evidence; ids of workers are the file's own."""
    batch = _batch(tmp_path / "batch.csv")
    answers = piecework.read_results(batch)
    findings = piecework.assess(answers)
    flags = findings[findings["flag"] & (findings["heuristic"] != "random_sample")]
    expected = assess_files([batch], Reading()).findings
    assert len(expected)
    assert sorted(zip(flags["heuristic"], flags["evidence"], strict=True)) == sorted(
        zip(expected["heuristic"], expected["evidence"], strict=True)
    )
    of_workers = flags[flags["subject_kind"] == "worker"]
    assert {*of_workers["subject"]} == {"W3"}


def test_subjects_are_what_the_caller_calls_them() -> None:
    """An answer by its label, an assignment by its id, a worker by theirs."""
    findings = piecework.assess(
        _written(), heuristics=["capitals", "same_sentence_in_hit", "same_sentence"]
    )
    by_kind = findings.groupby("subject_kind")["subject"].agg(set)
    assert by_kind["answer"] == {"16", "17", "18"}
    assert by_kind["assignment"] == {"A3"}
    assert findings["suspicion"].is_monotonic_decreasing
    assert {*findings["heuristic"]} == {*("capitals", "same_sentence_in_hit", "same_sentence")}


def test_a_frame_of_a_few_columns_is_enough() -> None:
    """Without assignments each row was sent by itself; the order does not matter."""
    few = _written()[["task", "worker", "text"]]
    findings = piecework.assess(few, heuristics="capitals")
    assert {*findings["subject"]} == {"16", "17", "18"}
    turned = piecework.assess(few.iloc[::-1], heuristics="capitals")
    key = ["subject"]
    pd.testing.assert_frame_equal(
        findings.sort_values(key, ignore_index=True), turned.sort_values(key, ignore_index=True)
    )


def test_known_answers_and_settings_count() -> None:
    """The worker who is wrong on most gold answers is flagged, whatever the name."""
    items = [f"t{number}" for number in range(6)]
    right = ["yes", "no"] * 3
    answers = pd.DataFrame(
        {
            "task": items * 3,
            "worker": ["w1"] * 6 + ["w2"] * 6 + ["w3"] * 6,
            "Stance": right + right + right[::-1],
            "gold.Stance": right * 3,
        }
    )
    findings = piecework.assess(
        answers, heuristics="gold_failed", settings={"gold_failed": {"min_items": 5}}
    )
    assert findings.loc[findings["flag"], "subject"].tolist() == ["w3"]
    named = answers.replace({"worker": {"w3": "row 0"}})
    findings = piecework.assess(
        named, heuristics="gold_failed", settings={"gold_failed": {"min_items": 5}}
    )
    assert findings.loc[findings["flag"], "subject"].tolist() == ["row 0"]
    silent = piecework.heuristics(answers)["silent_because"]
    assert silent["gold_failed"] == ""
    assert silent["capitals"] == "no answer has a text"
    without = piecework.heuristics(answers.drop(columns="gold.Stance"))
    assert without.loc["gold_failed", "silent_because"] == "no item has a known answer"


def test_a_task_of_the_gallery_brings_its_rules() -> None:
    """A caption of three words breaks a rule of `caption`."""
    captions = _written().rename(columns={"text": "caption"})
    findings = piecework.assess(captions, task="caption", heuristics="rule_violation")
    evidence = findings.set_index("subject")["evidence"]
    assert "min_words" in evidence["16"]


def test_workers_who_are_not_known_are_different_people() -> None:
    """Nothing is held against one of them together."""
    answers = _written().assign(worker=None)
    findings = piecework.assess(answers, heuristics=["same_sentence", "capitals"])
    assert {*findings["heuristic"]} == {"capitals", "same_sentence"}
    alone = answers.drop(columns="assignment")
    findings = piecework.assess(alone, heuristics=["same_sentence", "capitals"])
    assert {*findings["heuristic"]} == {"capitals"}


def test_subjects_of_numbered_workers_are_the_callers() -> None:
    """Ids that piecework makes may have a worker's number in them, or be a worker's name."""
    names = {"w1": 0, "w2": 1, "w3": 2}
    numbered = _written().replace({"worker": names})
    for answers in (numbered, numbered.replace({"worker": {2: "row 0"}})):
        findings = piecework.assess(
            answers, heuristics=["capitals", "same_sentence_in_hit", "same_sentence"]
        )
        by_kind = findings.groupby("subject_kind")["subject"].agg(set)
        assert by_kind["answer"] == {"16", "17", "18"}
        assert by_kind["assignment"] == {"A3"}


def test_a_row_without_an_assignment_is_one_of_its_own() -> None:
    """And its worker is its own, whatever the row before it has."""
    stated = [*("A1", None, "A1"), *(None, "A2", float("nan")), *("", "A3", "A3")]
    for dtype in ("object", "category"):
        answers = _written().assign(assignment=pd.Series(stated, range(10, 19), dtype=dtype))
        answers.loc[10, "worker"] = None  # the other row of A1 has it
        with opened_answers(answers, fields={}, task="") as stored:
            table = stored.opened.answers()
        sent = [
            (stored.subjects["assignment", str(assignment)], worker)
            for assignment, worker in zip(table["assignment_id"], table["worker_id"], strict=True)
        ]
        assert sorted(sent) == [
            *(("11", "w1"), ("13", "w2"), ("15", "w2"), ("16", "w3")),
            *(("A1", "w1"), ("A1", "w1"), ("A2", "w2"), ("A3", "w3"), ("A3", "w3")),
        ]


def test_workers_and_columns_are_compared_in_linear_time() -> None:
    """A table may have the same assignment in each row, or tens of thousands of columns."""
    rows, columns = 40_000, [f"c{n}" for n in range(40_000)]
    answers = pd.DataFrame({"task": "t", "worker": [f"w{n}" for n in range(rows)], "q": "yes"})
    wide = pd.DataFrame([["x"] * len(columns)], columns=columns)
    begun = process_time()
    with pytest.raises(piecework.ConfigError, match="'w0' and 'w1'"):
        piecework.assess(answers.assign(assignment="A1"))
    with pytest.raises(piecework.ConfigError, match="has no column 'task'"):
        piecework.assess(wide)
    assert process_time() - begun < 10


def test_an_assignment_of_two_workers_is_refused() -> None:
    """One of them would get the answers of both."""
    answers = _written().assign(assignment="A1")
    with pytest.raises(piecework.ConfigError, match="'A1' has two workers, 'w1' and 'w2'"):
        piecework.assess(answers)


def test_columns_may_have_any_names_but_each_its_own() -> None:
    """A number names a column of answers; two columns of a name would lose one."""
    prices = _written().drop(columns="text").assign(price=range(9))
    named = prices.rename(columns={"price": 2024})
    with opened_answers(named, fields={}, task="") as stored:
        (field,) = stored.opened.campaign.task.fields
    assert field.sent_as == "2024"
    for columns in (("text", "text"), (1, "1")):
        twice = _written()[["task", "worker", "text", "text"]].set_axis(
            ["task", "worker", *columns], axis="columns"
        )
        with pytest.raises(
            piecework.ConfigError, match=f"answers: two columns have the name '{columns[1]}'"
        ):
            piecework.assess(twice)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"seconds": "soon"}, "column 'seconds' is str, but must hold numbers"),
        ({"submitted_at": "now"}, "'submitted_at' is str, but must hold datetimes"),
        ({"task": None}, "answers: row 10, column 'task': is missing"),
        ({"gold.stance": "yes"}, "'gold.stance' has no column of answers"),
    ],
)
def test_columns_that_are_wrong_are_named(changed: dict[str, str | None], sentence: str) -> None:
    """The column, what it holds, and what it must hold."""
    with pytest.raises(piecework.ConfigError) as fault:
        piecework.assess(_written().assign(**changed))
    assert sentence in str(fault.value)


def test_all_else_that_cannot_be_is_refused() -> None:
    """No answers at all, a repeated index, unknown names."""
    answers = _written()
    with pytest.raises(piecework.ConfigError, match="no column has answers"):
        piecework.assess(answers[["task", "worker"]])
    with pytest.raises(piecework.ConfigError, match="two rows have the index 10"):
        piecework.assess(pd.concat([answers, answers]))
    with pytest.raises(piecework.ConfigError, match="no heuristic 'capital'; did you"):
        piecework.assess(answers, heuristics="capital")
    with pytest.raises(piecework.ConfigError, match=r"heuristics\.capitals\.shar"):
        piecework.assess(answers, settings={"capitals": {"shar": 1}})
    with pytest.raises(piecework.ConfigError, match="no column 'caption'; the col"):
        piecework.assess(answers, fields={"caption": "text"})
    with pytest.raises(piecework.ConfigError, match="There is no task 'captoin'"):
        piecework.assess(answers, task="captoin")


@pytest.mark.parametrize("labels", [("0", "1"), ("3", "1", "2", "5", "4")], ids=["two", "codes"])
def test_a_choice_between_numbers_is_no_scale(labels: tuple[str, ...]) -> None:
    """Three of four workers meet no rare label, and none of them uses a scale too little."""
    rows = [
        (f"t{item}", f"w{worker}", labels[(item % len(labels)) * (item % 3 == 0)])
        for item in range(48)
        for worker in range(8)
        if worker < 2 or item % 3
    ]
    votes = pd.DataFrame(rows, columns=["task", "worker", "label"])
    kinds = piecework.heuristics(votes, fields={"label": "choice"})
    assert kinds.loc["low_scale_variance", "silent_because"] == "the task has no scale"
    findings = piecework.assess(votes, fields={"label": "choice"})
    assert set(findings["heuristic"][findings["flag"]]) == {"random_sample"}


def test_rules_hold_for_what_was_asked() -> None:
    """A frame without a question of the task breaks no rule about it."""
    texts = [f"A small red bird sits on a wire above street {n}." for n in range(4)]
    frame = pd.DataFrame({"task": ["a", "a", "b", "b"], "worker": ["x", "y"] * 2, "caption": texts})
    assert not _violations(frame)
    asked = frame.assign(has_text=["yes", "no", "", "no"])
    assert _violations(asked) == ["2"]
    # A caption that has too few words breaks a rule that was asked.
    assert _violations(frame.assign(caption=["A bird.", *texts[1:]])) == ["0"]


def test_many_different_numbers_of_a_frame_are_numbers() -> None:
    """A dtype says it, where the cells of a file would be codes."""
    frame = pd.DataFrame(
        {
            "task": [f"t{n % 12}" for n in range(48)],
            "worker": [f"w{n // 12}" for n in range(48)],
            "price": range(1000, 1480, 10),
        }
    )
    for dtype, kind in (("int64", "number"), ("str", "text")):
        typed = frame.astype({"price": dtype})
        with opened_answers(typed, fields={}, task="") as answers:
            (field,) = answers.opened.campaign.task.fields
        assert field.kind == kind


def _violations(frame: pd.DataFrame) -> list[str]:
    findings = piecework.assess(frame, task="caption", heuristics="rule_violation")
    return [*findings.loc[findings["flag"], "subject"]]
