"""Descriptions with one error: minimal pairs, balanced, and drawn as they say."""

import csv
from collections import Counter

from tests.for_each import for_each
from tools.examples.items_files import EXAMPLES, FOLDER, as_csv, pictures
from tools.examples.one_error import ERRORS, STIMULI, Row, rows

FILES = {"zh-Hant": "severity.csv", "en": "severity_en.csv"}


def items(language: str) -> list[Row]:
    """The items of the main experiment."""
    return [row for row in rows(language) if not row["practice"]]


def apart(first: str, second: str) -> int:
    """At how many places two texts of one length differ."""
    return sum(a != b for a, b in zip(first, second, strict=True))


@for_each("row", [*rows("zh-Hant")])
def test_a_chinese_error_is_one_character(row: Row) -> None:
    """So that measures of textual likeness give every error the same (section 4.2)."""
    assert apart(row["reference"], row["description"]) == 1


@for_each("row", [*rows("en")])
def test_an_english_error_is_one_word(row: Row) -> None:
    """Everything else, articles included, stays."""
    both = row["reference"].split(), row["description"].split()
    assert len(both[0]) == len(both[1])
    assert sum(a != b for a, b in zip(*both, strict=True)) == 1


def test_there_are_28_items_and_four_trials() -> None:
    """Seven pictures, each with each of four errors; a trial for each error."""
    for language in FILES:
        made = items(language)
        assert Counter(row["error"] for row in made) == dict.fromkeys(ERRORS, 7)
        assert Counter(row["url"] for row in made) == dict.fromkeys(
            [f"person_{n}.svg" for n in range(1, 8)], 4
        )
        trials = [row for row in rows(language) if row["practice"]]
        assert sorted(row["error"] for row in trials) == sorted(ERRORS)
        assert not {row["url"] for row in trials} & {row["url"] for row in made}


def test_the_papers_own_sentences_are_kept() -> None:
    """Figure 2, the pitcher's reference and figure 3, to the letter."""
    chinese = {row["description"] for row in items("zh-Hant")}
    assert {
        "一位女人穿著黃色上衣在網球場打網球",
        "一位男孩穿著黃色上衣在網球場打網球",
        "一位男人穿著黃色大衣在網球場打網球",
        "一位男人穿著紫色上衣在網球場打網球",
    } <= chinese
    references = {row["reference"] for row in items("zh-Hant")}
    assert "一位男童穿著黑色上衣在棒球場投球" in references
    english = items("en")
    assert ("A woman in a pink skirt throws a frisbee.",
            "A man in a pink skirt throws a frisbee.") in {
        (row["reference"], row["description"]) for row in english
    }  # fmt: skip


def test_an_error_is_none_of_what_is_seen() -> None:
    """What is said instead is never what the person wears elsewhere in the picture."""
    for stimulus in STIMULI:
        worn = stimulus.portrait
        assert stimulus.wrong_garment != worn.garment
        assert stimulus.wrong_colour != worn.colour
        if worn.garment == "skirt":  # with it, a white blouse is drawn
            assert "white" not in {worn.colour, stimulus.wrong_colour}


def test_the_files_in_config_are_made_by_the_module() -> None:
    """Nobody edits rows or pictures by hand and forgets the function."""
    for name in FILES.values():
        made = as_csv(list(EXAMPLES[name]()))
        assert (FOLDER / name).read_text("utf-8") == made
    drawn = pictures()
    for name, text in drawn.items():
        assert (FOLDER / name).read_text("utf-8") == text
    folder = FOLDER / "severity_pictures"
    assert {f"{folder.name}/{path.name}" for path in folder.iterdir()} == set(drawn)
    for name in FILES.values():
        with (FOLDER / name).open(encoding="utf-8") as file:
            assert {f"{folder.name}/{row['url']}" for row in csv.DictReader(file)} == (set(drawn))
