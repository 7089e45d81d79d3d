"""Words that cleaning doubts: asked of workers, decided, and used by the dataset."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import OpenedCampaign
from piecework.cli.main import main
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AnswerId
from piecework.domain.verdicts import WORKERS, WordVerdict
from piecework.engine.opening import open_to_look
from piecework.postprocess.edits import replay
from piecework.results.cleaning import clean_answers
from piecework.results.follow_up_items import (
    WordQuestion,
    _typed,
    _word_labels,
    take_words,
    word_questions,
    write_word_items,
)
from piecework.store import results
from tests.importing.test_importing import done
from tests.review import stores

TEXTS = (
    "A bottle of coffee beans on a countr beside a window",
    "A person with a hatt and a scarff in a green park",
    "A bowl of soop and a spon on a wooden table",
    "A countr made of wood beside an open window frame",
)


def _asked(folder: Path, votes: dict[str, list[tuple[str, str]]], items: Path) -> Path:
    """Import a campaign of `which_word`: by word, each worker's answer."""
    with items.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    own = [*rows[0]]
    answered = [
        {**row, "worker": f"w{number}", "meant": meant, "other_word": typed}
        for row in rows
        for number, (meant, typed) in enumerate(votes.get(row["word"].casefold(), ()))
    ]
    table, columns = folder / "asked.csv", folder / "columns.toml"
    with table.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, [*own, "worker", "meant", "other_word"])
        writer.writeheader()
        writer.writerows(answered)
    columns.write_text(
        f'item = {json.dumps(own)}\nitem_id = "word_id"\n'
        'columns = { worker = "worker" }\n'
        'answers = { meant = "meant", other_word = "other_word" }\n'
    )
    path = folder / "asked.toml"
    done("data", "import", table, "--as", path, "--task", "which_word", "--columns", columns)
    path.write_text(path.read_text().replace('by = "person"', 'by = "policy"'))
    return path


def _clean_texts(opened: OpenedCampaign) -> str:
    texts, made = opened.answers()["text"], results.load_edits(opened.store)
    return "\n".join(
        replay(str(text), made.get(AnswerId(str(answer_id)), ()))
        for answer_id, text in texts.items()
    )


def test_doubted_words_become_items_with_their_sentences(tmp_path: Path) -> None:
    """The most mistakes first; words that cleaning is sure of are not asked about."""
    with stores.opened(tmp_path, workers=1, texts=TEXTS) as run:
        clean_answers(run)
        questions = word_questions(run)
        asked = {question.word: question for question in questions}
        assert {"countr", "hatt"} <= {*asked}
        assert "scarff" in asked, "made, but only with a probability of .87"
        assert asked["countr"].times == 2
        assert asked["countr"].proposed == "counter"
        assert ("A bottle of coffee beans on a ", "countr", " beside a window") in (
            asked["countr"].sentences
        )
        mistakes = [question.mistakes for question in questions]
        assert mistakes == sorted(mistakes, reverse=True)
        assert 0 < asked["scarff"].mistakes < 0.3 < asked["hatt"].mistakes < 0.8
        items = tmp_path / "words.csv"
        write_word_items(questions, items)
    with items.open(encoding="utf-8", newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["word"] == "countr")
    shown = row["before"] + row["word"] + row["after"]
    assert {shown, row["also_1"]} == {TEXTS[0], TEXTS[3]}


def test_workers_read_sentences_as_they_were_written(tmp_path: Path) -> None:
    """A sentence that begins like a formula has no apostrophe before it; NUL is a symbol."""
    question = WordQuestion(
        word="hatt",
        proposed="hat",
        times=1,
        mistakes=1.0,
        sentences=[("- A man with a ", "hatt", "\x00"), ("=1+1, a ", "hatt", "")],
    )
    write_word_items([question], tmp_path / "words.csv")
    with (tmp_path / "words.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["before"], row["after"]) == ("- A man with a ", "\u2400")
    assert row["also_1"] == "=1+1, a hatt"


def test_what_workers_say_decides_words(tmp_path: Path) -> None:
    """Replaced, right, typed, unsure; a reviewer's word stays, and twice is once."""
    with stores.opened(tmp_path, workers=1, texts=TEXTS) as run:
        clean_answers(run)
        results.keep_word(
            run.store,
            WordVerdict(word="spon", meant=None, reviewer="ada", reviewed_at=run.clock.now()),
        )
        items = tmp_path / "words.csv"
        questions = word_questions(run)
        assert "spon" not in {question.word for question in questions}
        write_word_items(questions, items)
        with items.open("a", encoding="utf-8") as file:
            file.write('"word_spon","A ","spon"," here","spoon","",""\n')
            file.write('"word_gone","A ","gone"," here","done","",""\n')
        sure = [("proposed", "")] * 3
        votes = {
            "countr": sure,
            "hatt": [("written", "")] * 3,
            "soop": [("other", "Soup ")] * 2 + [("other", "soap")],
            "scarff": [("proposed", ""), ("written", ""), ("unclear", "")],
            "spon": sure,
            "gone": sure,
        }
        path = _asked(tmp_path, votes, items)
        with open_to_look(load_campaign(path)) as asked:
            taken = take_words(run, asked)
            again = take_words(run, asked)
        assert taken == again
        assert (taken.replaced, taken.right) == (2, 1)
        assert (taken.unsure, taken.by_reviewer, taken.unknown) == (1, 1, 1)
        kept = results.load_words(run.store)
        assert kept["countr"].meant == "counter"
        assert kept["countr"].reviewer == f"{WORKERS}asked"
        assert kept["soop"].meant == "soup"
        assert kept["hatt"].meant is None
        assert kept["spon"].reviewer == "ada"
        assert "scarff" not in kept
        clean_answers(run)
        texts = _clean_texts(run)
    assert "counter made of wood" in texts
    assert "a hatt and" in texts
    assert "soup and a spon" in texts


def test_an_answer_that_is_no_option_decides_no_word() -> None:
    """The others' answers do, about this word and about all."""
    options = ["proposed", "written"]
    cast = pd.DataFrame(
        [(item, f"w{n}", "written") for item in ("soop", "hatt") for n in range(4)]
        + [("soop", "w5", "no idea")],
        columns=["item_id", "worker", "value"],
    )
    assert _word_labels(cast, options) == {"soop": "written", "hatt": "written"}
    assert _word_labels(cast[cast["value"] == "no idea"], options) == {}


def test_a_word_that_nobody_typed_twice_stays_unsure(tmp_path: Path) -> None:
    """Three different words are no answer, and neither is one person's word."""
    with stores.opened(tmp_path, workers=1, texts=TEXTS) as run:
        clean_answers(run)
        items = tmp_path / "words.csv"
        write_word_items(word_questions(run), items)
        typed = [("other", "soup"), ("other", "soap"), ("other", "sop")]
        path = _asked(tmp_path, {"soop": typed, "countr": typed[:1]}, items)
        with open_to_look(load_campaign(path)) as asked:
            taken = take_words(run, asked)
        assert (taken.replaced, taken.right) == (0, 0)
        assert not results.load_words(run.store)


@pytest.mark.parametrize(
    ("written", "typed", "meant"),
    [
        ("mcdonlds", ["McDonald\u2019s ", "McDonald\u2019s", "mcdonald's"], "McDonald\u2019s"),
        ("Mcdonlds", ["McDonald's", "McDonald's", ""], "McDonald's"),
        # The word that they read begins its text, or their keyboard wrote the capital.
        ("Skatebaord", ["Skateboard", "Skateboard", "skateboard"], "skateboard"),
        ("soop", ["Soup ", "Soup", "soap"], "soup"),
        ("SKATEBAORD", ["SKATEBOARD", "skateboard"], "skateboard"),
        ("soop", ["soup", "Soap", "soap", "SOUP"], None),
    ],
)
def test_a_typed_word_keeps_its_own_capitals(
    written: str, typed: list[str], meant: str | None
) -> None:
    """Spellings of one word count together, and the most frequent one is meant."""
    assert _typed(pd.Series(typed, dtype="str"), written) == meant


def test_a_question_proposes_a_word_without_the_capital_of_a_beginning(tmp_path: Path) -> None:
    """What workers choose there also replaces the word within sentences."""
    texts = (TEXTS[3].replace("A countr", "Countr"), TEXTS[0])
    with stores.opened(tmp_path, workers=1, items=2, texts=texts) as run:
        clean_answers(run)
        asked = {question.word: question for question in word_questions(run)}
        assert asked["countr"].proposed == "counter"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_commands_agree(tmp_path: Path, options: list[str]) -> None:
    """The list names a price; the file has as many rows; decisions change edits."""
    with stores.opened(tmp_path, workers=1, texts=TEXTS) as run:
        path = run.campaign.path
    listed = CliRunner().invoke(main, ["data", "words", str(path), *options])
    items = tmp_path / "words.csv"
    written = CliRunner().invoke(
        main, ["export", str(path), "--items-for", "which_word", str(items), *options]
    )
    assert (listed.exit_code, written.exit_code) == (0, 0), listed.output
    with items.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    asked = _asked(tmp_path, {"countr": [("proposed", "")] * 3}, items)
    taken = CliRunner().invoke(main, ["data", "words", str(path), "--from", str(asked), *options])
    assert taken.exit_code == 0, taken.output
    if options:
        facts = json.loads(listed.output)
        assert len(facts["words"]) == len(rows) == json.loads(written.output)["rows"]
        assert (facts["hits"], facts["assignments"], facts["cents"]) == (1, 3, 90)
        assert json.loads(taken.output)["replaced"] == 1
    else:
        assert f"{len(rows)} words that cleaning doubts" in listed.output
        assert "Three answers to each cost $0.90: 1 HIT of which_word" in listed.output
        assert "1 word replaced, 0 right as written" in taken.output


def test_simulated_answers_decide_no_words_of_people(tmp_path: Path) -> None:
    """A rehearsal's answers are refused for a campaign of people, and not otherwise."""
    with stores.opened(tmp_path, workers=1, texts=TEXTS) as run:
        clean_answers(run)
        items = tmp_path / "words.csv"
        write_word_items(word_questions(run), items)
        path = _asked(tmp_path, {"countr": [("proposed", "")] * 3}, items)
        with open_to_look(load_campaign(path)) as asked:
            simulated = replace(asked, is_rehearsal=True)
            with pytest.raises(ConfigError, match="its answers are simulated"):
                take_words(replace(run, is_rehearsal=False), simulated)
            assert not results.load_words(run.store)
            taken = take_words(replace(run, is_rehearsal=True), simulated)
        assert taken.replaced == 1


def test_bad_input_is_a_sentence(tmp_path: Path) -> None:
    """Another task's campaign is refused, and so is a file without words."""
    texts = ("A red cup on a table beside a window",)
    with stores.opened(tmp_path, workers=1, texts=texts) as run:
        path = run.campaign.path
    for arguments, message in (
        (["data", "words", str(path), "--from", str(path)], "has the task caption"),
        (
            ["export", str(path), "--items-for", "which_word", str(tmp_path / "w.csv")],
            "cleaning doubts no word",
        ),
    ):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 2, result.output
        assert message in result.output
    assert not (tmp_path / "w.csv").exists()
