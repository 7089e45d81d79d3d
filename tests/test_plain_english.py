"""The check of language sees what people read, and nothing else."""

from pathlib import Path

from tools.plain_english import phrases


def _lines(name: str, text: str) -> list[int]:
    return [phrase.line for phrase in phrases(Path(name), text)]


def test_a_phrase_of_the_list_is_named_with_its_place_and_what_to_write() -> None:
    """Line and column are those of the file, also where the phrase is broken."""
    (phrase,) = phrases(Path("page.md"), "# Title\n\nColumn `x`, of\nwhich we speak.\n")
    assert (phrase.line, phrase.column) == (3, 13)
    assert "a sentence with a verb" in phrase.message


def test_code_links_and_addresses_of_a_page_are_not_read() -> None:
    """What a fence, a backtick or a link holds is no prose."""
    fence = "```python\nanew = of_which\n# lest it fails\n```\n"
    assert _lines("page.md", fence + "`anew` and [this](lest.md), https://a.org/anew\n") == []


def test_docstrings_comments_and_sentences_of_a_module_are_read() -> None:
    """Names, keys and short strings are not."""
    source = (
        '"""Read the file anew."""\n'
        "anew = 1  # lest it changes\n"
        'KEY = "anew"\n'
        'MESSAGE = "the file that was read anew has no rows"\n'
    )
    assert _lines("module.py", source) == [1, 2, 4]


def test_a_sentence_in_two_strings_is_read_as_one() -> None:
    """A phrase is seen across the quotes between two literals."""
    source = 'M = (\n  "the column that you named and of "\n  "which it has no cell"\n)\n'
    assert _lines("module.py", source) == [2]


def test_a_person_is_they_and_a_word_is_written_once() -> None:
    """The two rules that are patterns."""
    assert _lines("page.md", "The worker sends his HIT.\n\nPay the the worker.\n") == [1, 3]


def test_a_check_of_proselint_is_made_too() -> None:
    """The house list is beside the chosen checks, not instead of them."""
    assert _lines("page.md", "It waits for ever.\n") == [1]
