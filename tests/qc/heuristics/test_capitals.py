"""Laws of text in capitals."""

import pytest

from piecework.qc.heuristics import capitals
from piecework.qc.heuristics.capitals import Params, score
from tests.qc.tables import evidence, flagged, row, table


def is_flagged(text: str, params: Params) -> bool:
    """Whether a text alone is flagged."""
    return bool(flagged(score(table(row("a", text=text)), params)))


@pytest.mark.parametrize(
    ("text", "caps"),
    [
        ("A CAT SITS ON A MAT", True),  # 14 of 19 characters
        ("A cat sits on a mat", False),
        ("ABCDefgh", False),  # 4 of 8: half is not more than half
        ("ABCDefg", True),  # 4 of 7
        ("CODE 12345678901", False),  # 4 of 16 characters
        ("", False),
        ("12 345 !!", False),
        ("TV", False),  # two letters say nothing
        ("قطة تجلس على حصيرة", False),  # letters without case
    ],
)
def test_more_than_half_of_all_characters(text: str, caps: bool) -> None:  # noqa: FBT001 - a case
    """The paper's rule: capitals against all characters, spaces and digits included."""
    assert is_flagged(text, Params()) is caps


def test_letters_alone_find_what_digits_hide() -> None:
    """4 of 4 letters, though 4 of 16 characters."""
    assert is_flagged("CODE 12345678901", Params(letters_only=True))


def test_evidence_says_how_much_and_of_what() -> None:
    """4 of 7 is 57 %."""
    scores = score(table(row("a", text="ABCDefg")), Params())
    sentence = evidence(scores, "a")
    assert "57.1 % of its characters" in sentence
    assert sentence.endswith(": “ABCDefg”")


def test_texts_of_other_scripts_change_nothing_for_the_rest() -> None:
    """Ä and Ö count like A and O, before and after texts in ASCII."""
    texts = {"a": "ABCDefg", "b": "ÄÖÜDefg", "c": "a cat", "d": "ein Käse", "e": "MATS"}
    rows = [row(name, text=text) for name, text in texts.items()]
    assert flagged(score(table(*rows), Params())) == {"a", "b", "e"}


def test_counting_some_texts_at_a_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the last ones are fewer."""
    rows = [
        row(str(n), text=text) for n, text in enumerate(["ABCDefg", "ÄÖÜDefg", "", "MATS", "a"])
    ]
    whole = score(table(*rows), Params())
    monkeypatch.setattr(capitals, "_AT_ONCE", 2)
    assert score(table(*rows), Params()).equals(whole)


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
