"""`data analyse TABLE --label COLUMN`: a result or a stated silence, whatever the labels are."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from piecework.importing.survey import MOST_CHOSEN
from piecework.report.analysis import page
from tests.cli.test_any_table import done, piecework
from tests.for_each import for_each

WORDS = ("--label", "answer", "--item", "q", "--worker", "w")
Vote = tuple[object, object, object]


def votes(path: Path, rows: Iterable[Vote]) -> Path:
    """A table of votes: item, worker, label."""
    cells = "\n".join(",".join(map(str, row)) for row in rows)
    path.write_text(f"q,w,answer\n{cells}\n", encoding="utf-8")
    return path


def by_three(label: Callable[[int], object], number: int = 180) -> list[Vote]:
    """Three workers on each item, who agree."""
    return [(n // 3, f"w{n % 3}", label(n // 3)) for n in range(number)]


def analysed(file: Path, *words: object) -> dict[str, Any]:
    """All rows, and the remarks."""
    document: dict[str, Any] = json.loads(done("analyse", file, *words, "--json"))
    return document


_CHOICES: dict[str, list[Vote]] = {
    "forty labels": by_three(lambda item: f"class {item % 40}"),
    "more labels than a guess remembers": by_three(lambda item: f"class {item}", 630),
    "one label": by_three(lambda _: "yes"),
    "a label for each vote": [(n // 3, f"w{n % 3}", f"label {n}") for n in range(30)],
    "long labels": by_three(lambda item: f"{'a long label ' * 9}{item % 3}"),
    "one worker": [(n, "w", "ab"[n % 2]) for n in range(30)],
    "one vote an item": [(n, f"w{n}", "ab"[n % 2]) for n in range(30)],
    "one vote": [(1, "w", "yes")],
    "codes with zeros": by_three(lambda item: f"{item % 12:03}"),
    "large codes": by_three(lambda item: 60_000 + item % 12),
    "one number": by_three(lambda _: 1),
    "two numbers": by_three(lambda item: item % 2),
}


@for_each("name", list(_CHOICES))
def test_labels_are_choices_whatever_they_are(name: str) -> None:
    """Each item gets a label, every vote counts, and the kind is said."""
    rows = _CHOICES[name]
    with TemporaryDirectory() as folder:
        analysis = analysed(votes(Path(folder, "votes.csv"), rows), *WORDS)
    (agreement,) = analysis["agreement"]
    assert (agreement["answers"], agreement["compared_as"]) == (len(rows), "nominal")
    labels = {row["method"]: row for row in analysis["labels"]}
    assert {"majority", "ability"} <= labels.keys()
    assert labels["majority"]["items"] == len({item for item, *_ in rows})
    (kind,) = (remark for remark in analysis["remarks"] if remark.startswith("Guessed: "))
    assert "answer holds" in kind
    assert "fields.answer.kind = " in kind


@for_each("label", [lambda item: item % 10, lambda item: 1 + item % 5, lambda item: item % 7 / 2])
def test_numbers_on_a_scale_are_compared_as_numbers_and_this_is_said(
    label: Callable[[int], object],
) -> None:
    """With the line by which they become codes, which get labels."""
    with TemporaryDirectory() as folder:
        file = votes(Path(folder, "votes.csv"), by_three(label))
        analysis = analysed(file, *WORDS)
        assert analysis["agreement"][0]["compared_as"] in {"ordinal", "interval"}
        assert "labels" not in analysis
        (kind,) = (remark for remark in analysis["remarks"] if "answer holds numbers" in remark)
        line = 'fields.answer.kind = "choice"'
        assert f"({line})" in kind
        columns = Path(folder, "columns.toml")
        columns.write_text(
            f'item = ["q"]\nanswers = {{ answer = "answer" }}\n{line}\n[columns]\nworker = "w"\n'
        )
        stated = analysed(file, "--columns", columns)
    assert stated["agreement"][0]["compared_as"] == "nominal"
    assert stated["labels"]


def test_a_stated_choice_has_all_its_options(tmp_path: Path) -> None:
    """Also more than a guess remembers; too many are refused, and none too."""
    columns = tmp_path / "columns.toml"
    columns.write_text(
        'item = ["q"]\nanswers = { answer = "answer" }\nfields.answer.kind = "choice"\n'
        '[columns]\nworker = "w"\n'
    )
    file = votes(tmp_path / "votes.csv", by_three(lambda item: f"class {item}", 900))
    assert analysed(file, "--columns", columns)["agreement"][0]["answers"] == 900
    chance = Random(1)  # noqa: S311 - drawn labels
    many = [(n, "w", chance.getrandbits(60)) for n in range(MOST_CHOSEN + 1)]
    for rows, fault in ((many, "1,000 different values"), ([(1, "w", "")], "empty in every row")):
        for words in (("--columns", columns), WORDS):
            refused = piecework("analyse", votes(file, rows), *words)
            assert refused.exit_code == 2
            assert fault in " ".join(refused.output.split())


def test_assessing_reads_a_label_that_is_named_as_a_choice(tmp_path: Path) -> None:
    """And says what it guessed; a column that is only found may hold texts."""
    file = votes(tmp_path / "votes.csv", by_three(lambda item: f"class {item % 40}"))
    for words, kind in ((WORDS, "one option each"), (WORDS[2:], "text")):
        document = json.loads(done("assess", file, *words, "--json"))
        assert any(f"answer holds {kind}" in remark for remark in document["remarks"])


def test_answers_without_any_result_say_why(tmp_path: Path) -> None:
    """On the terminal and in JSON: here each label is the id of its worker."""
    rows = [(n // 3, f"annotator{n % 3}", f"annotator{n % 3}") for n in range(30)]
    file = votes(tmp_path / "votes.csv", rows)
    analysis = analysed(file, *WORDS)
    assert [*analysis] == ["remarks"]
    sentence = "No analysis has a result: these compare choices and numbers"
    assert analysis["remarks"][-1].startswith(sentence)
    assert sentence in " ".join(done("analyse", file, *WORDS).split())


def test_tables_of_errors_that_memory_cannot_hold_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other labels are there."""
    file = votes(tmp_path / "votes.csv", by_three(lambda item: f"class {item % 4}"))
    methods = {row["method"] for row in analysed(file, *WORDS)["labels"]}
    # Three workers with a table of four by four.
    monkeypatch.setattr(page, "_LARGEST_TABLES", 3 * 4 * 4 - 1)
    assert methods - {row["method"] for row in analysed(file, *WORDS)["labels"]} == {"Dawid-Skene"}
