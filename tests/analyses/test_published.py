"""Published figures are met, and the page says what is found."""

import re
from pathlib import Path

import pytest

from piecework.analyses.minimal_pairs import corpus_bleu
from tests.analyses import published
from tests.for_each import for_each

SOURCES = sorted((published.ROOT / "src/piecework/analyses").glob("*.py"))

shared = [
    pytest.mark.shared,
    pytest.mark.skipif(not published.DATA.is_dir(), reason="../shared/data is not on this machine"),
]

ROUNDED = {
    "so 3 degrees of freedom become": "2.325",
    "eta squared": "0.19 if partial, so it is another kind",
}
"""What the page explains: 2.325 is printed as 2.33, and 0.05 is another kind."""


@for_each("path", SOURCES)
def test_every_method_is_on_the_page(path: Path) -> None:
    """docs/internals/methods.md names each module."""
    if path.stem != "__init__":
        assert f"`{path.stem}`" in published.METHODS.read_text(encoding="utf-8")


@pytest.mark.full
class TestData:
    """What only the data can show."""

    pytestmark = shared

    @pytest.mark.full
    def test_the_page_is_what_the_data_say(self) -> None:
        """If this fails: `python -m tests.analyses.published`."""
        page = published.PAGE.read_text(encoding="utf-8")
        assert published.with_blocks(page) == page

    @pytest.mark.full(weeks=4)
    def test_the_replay_is_what_the_data_say(self) -> None:
        """If this fails: `python -m tests.analyses.published`."""
        page = published.PAGE.read_text(encoding="utf-8")
        assert published.with_replay(page) == page

    def test_what_was_published_is_found(self) -> None:
        """To the last printed digit, but for two that the page explains."""
        for name, rows in published.computed_rows().items():
            met = [self.is_met(*row) for row in rows if row[1] != "-"]
            assert met, name
            assert all(met), name

    @staticmethod
    def is_met(what: str, printed: str, computed: str) -> bool:
        """Whether what is found begins with what was said, or is below it."""
        if what in ROUNDED:
            return computed == ROUNDED[what]
        if printed.startswith("< "):
            return float(computed) < float(printed.removeprefix("< "))
        return re.match(rf"{re.escape(printed)}(?![\d.])", computed) is not None

    def test_every_matching_n_gram_of_the_authors_is_counted(self) -> None:
        """All orders of all six versions, and BLEU-4 to its ninth digit."""
        original, corrected, references = published.versions()
        for kind, candidates in {"nothing": original, **corrected}.items():
            bleu = corpus_bleu(candidates, references)
            assert bleu.matches == published.MATCHES[kind]
            # Their script adds 1e-9 here and there against division by zero.
            assert bleu.scores[3] == pytest.approx(published.BLEU_4[kind], abs=1e-9)

    def test_dawid_and_skene_beat_the_majority(self) -> None:
        """With all votes and with any fewer; ability beats both where votes are few.

        With seven votes it is as often right as they are, within half a per cent.
        """
        figures = {what: says for what, _, says in published.computed_rows()["rte"]}
        assert float(figures["Dawid-Skene"]) > 0.8969 + 0.02
        for most in (3, 5, 7):
            what = f"{most} votes an item: majority, Dawid-Skene, ability"
            plain, tables, able = map(float, figures[what].split(", "))
            assert tables > plain + 0.02
            assert able > (tables if most < 7 else tables - 0.005)
