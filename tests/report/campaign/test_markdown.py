"""The report's first page in Markdown says what the page in HTML says."""

from collections.abc import Callable
from functools import partial

from markdown_it import MarkdownIt

from piecework.report.facts import ReportFacts
from piecework.report.model import report_model
from piecework.report.page import render_markdown
from piecework.report.sections import summary
from tests.for_each import for_each
from tests.report.campaign import by_hand, hostile, made_up

_CAMPAIGNS: dict[str, Callable[[], ReportFacts]] = {
    "empty": made_up.empty,
    "small": by_hand.small,
    "small and real": partial(by_hand.small, is_rehearsal=False),
    **{
        f"hostile {place}": partial(hostile.campaign, (text, text))
        for place, text in enumerate(hostile.NASTY)
    },
}


@for_each("campaign", _CAMPAIGNS.values())
def test_a_reader_of_markdown_sees_the_key_figures_and_notes(
    campaign: Callable[[], ReportFacts],
) -> None:
    """A row a figure and an item a note, with text that is text and nothing else."""
    facts = campaign()
    tokens = MarkdownIt("commonmark").enable("table").parse(render_markdown(facts))
    kinds = [token.type for token in tokens]
    model = report_model(facts)
    # The heading of the table is a row, too.
    assert kinds.count("tr_open") == 1 + len(summary.key_figures(model))
    assert kinds.count("list_item_open") == len(summary.summary_notes(model))
    assert kinds.count("heading_open") == 1
    inline = {child.type for token in tokens for child in token.children or ()}
    assert inline <= {"text", "strong_open", "strong_close", "softbreak"}
    assert not {"html_block", "code_block", "fence"} & {*kinds}


def test_the_words_are_those_of_the_report() -> None:
    """Figures and notes stand in it as a person reads them."""
    facts = by_hand.small()
    tokens = MarkdownIt("commonmark").enable("table").parse(render_markdown(facts))
    text = " ".join(child.content for token in tokens for child in token.children or ())
    model = report_model(facts)
    assert facts.campaign in text
    for figure in summary.key_figures(model):
        assert figure.value in text
        assert figure.beside in text
    for note in summary.summary_notes(model):
        assert note.text in text


def test_it_says_which_file_the_answers_were_decided_by() -> None:
    """The last of the files that passes used, as the page says too."""
    facts = by_hand.small()
    assert f"the sha256 {facts.sources[-1].sha256}." in render_markdown(facts)
