"""The page as a whole: complete, the same each time, and readable by all."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from piecework.report.facts import ReportFacts
from piecework.report.item_sample import ShownItem, choose_items
from piecework.report.page import render_report, with_code
from tests.postprocess.answers_by_hand import TASK, rows
from tests.report.campaign import by_hand, hostile, made_up

_ROOT = Path(__file__).resolve().parents[3]

_VOID = {"meta", "link", "br", "img", "hr"}


class _Tree(HTMLParser):
    """All elements with their attributes and the text inside, in document order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[int] = []
        self.feed(page)
        assert not self._open, "an element is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.elements.append((tag, values, []))
        if tag not in _VOID:
            self._open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}, []))

    def handle_endtag(self, tag: str) -> None:
        opened = self.elements[self._open.pop()][0]
        assert opened == tag, f"<{opened}> is closed by </{tag}>"

    def handle_data(self, data: str) -> None:
        for place in self._open:
            self.elements[place][2].append(data)

    def all(self, tag: str) -> Iterator[tuple[dict[str, str], str]]:
        for name, attributes, texts in self.elements:
            if name == tag:
                yield attributes, "".join(texts)


def _of_one_answer() -> ReportFacts:
    """A caption that somebody sent, and nothing else."""
    small = by_hand.small()
    answers = small.answers.iloc[[0]]
    (kind,) = choose_items(answers, small.task).items()
    return replace(
        small,
        answers=answers,
        workers=small.workers[small.workers.index == answers["worker"].iloc[0]],
        findings=small.findings.iloc[:0],
        decisions=small.decisions.iloc[:0],
        shown_items=(ShownItem(item_id=kind[0], kind=kind[1]),),
        is_finished=False,
    )


def _of_one_judgement() -> ReportFacts:
    """One worker's judgement of one item, on every kind of field."""
    values = {"fit": "yes", "grade": "1", "ticks": ("a",), "place": 3.0}
    answers = rows([("a", "i1", values)])
    shown = ShownItem(item_id="i1", kind="plain", columns={"a": "an axe", "b": "a bow"})
    return replace(made_up.empty(), task=TASK, answers=answers, items=1, shown_items=(shown,))


_CAMPAIGNS = {
    "one answer": _of_one_answer(),
    "one judgement": _of_one_judgement(),
    "empty": made_up.empty(),
    "empty and real": made_up.empty(is_rehearsal=False),
    "small": by_hand.small(),
    "small and real": by_hand.small(is_rehearsal=False),
    "unfinished": replace(by_hand.small(), is_finished=False),
    "large": made_up.large(items=60),
    "hostile": hostile.campaign(hostile.NASTY),
}

of_any_campaign = pytest.mark.parametrize("name", _CAMPAIGNS)


@cache
def _page(name: str) -> str:
    return render_report(_CAMPAIGNS[name])


@of_any_campaign
def test_every_element_is_closed_and_every_id_is_unique(name: str) -> None:
    """The page is a tree, its ids are unique, and each reference finds its target."""
    tree = _Tree(_page(name))
    ids = [attributes["id"] for _, attributes, _ in tree.elements if "id" in attributes]
    wanted = {
        target
        for _, attributes, _ in tree.elements
        for name in ("aria-labelledby", "href", "clip-path")
        for target in re.findall(
            r"[^\s#()]+", attributes.get(name, "").replace("data:,", "").replace("url", "")
        )
    }

    assert len(ids) == len(set(ids))
    assert wanted <= set(ids)


@of_any_campaign
def test_headings_follow_in_order(name: str) -> None:
    """One first heading, and no level is skipped or empty."""
    headings = re.findall(r"<h([1-6])[^>]*>(.*?)</h", _page(name))
    levels = [int(level) for level, _ in headings]

    assert levels[:2] == [1, 2]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(words for _, words in headings)


@of_any_campaign
def test_every_table_has_a_caption_and_scopes(name: str) -> None:
    """A screen reader can tell for each cell which row and column it is of."""
    tree = _Tree(_page(name))
    scopes = [attributes.get("scope") for attributes, _ in tree.all("th")]
    tables, titles = [*tree.all("table")], [*tree.all("caption")]

    assert len(tables) == len(titles)
    assert all(words.strip() for _, words in titles)
    assert set(scopes) == {"col", "row"}
    assert scopes.count("row") == len([*tree.all("tr")]) - len(tables)


@of_any_campaign
def test_every_plot_says_in_words_what_it_shows(name: str) -> None:
    """An image by role, with a title and a description that holds a number."""
    tree = _Tree(_page(name))
    plots = [*tree.all("svg")]
    descriptions = [words for _, words in tree.all("desc")]

    assert plots
    assert all(
        attributes["role"] == "img" and attributes["aria-labelledby"] for attributes, _ in plots
    )
    assert len(descriptions) == len(plots)
    numbered = [words for words in descriptions if re.search(r"\d|Dark", words)]
    assert numbered == descriptions


@pytest.mark.parametrize("name", [name for name in _CAMPAIGNS if name != "hostile"])
def test_nothing_is_loaded_from_anywhere(name: str) -> None:
    """No address of another host, no script, and a policy that forbids both."""
    page = _page(name)

    assert not re.findall(r"https?:|//\w|@import", page)
    assert "<script" not in page
    assert "default-src 'none'" in page


@pytest.mark.parametrize("name", ["empty", "small", "hostile"])
def test_a_second_rendering_is_equal(name: str) -> None:
    """Equal facts give equal bytes."""
    assert render_report(_CAMPAIGNS[name]) == _page(name)


@pytest.mark.full
def test_another_process_writes_the_same_bytes() -> None:
    """Neither the order of sets nor the age of the process shows in the page."""
    program = (
        "import sys; from piecework.report.page import render_report; "
        "from tests.report.campaign import by_hand; "
        "sys.stdout.buffer.write(render_report(by_hand.small()).encode())"
    )
    pages = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            cwd=_ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(_ROOT)},
        ).stdout
        for seed in ("1", "2")
    }

    assert pages == {_page("small").encode()}


def test_the_order_of_rows_does_not_matter() -> None:
    """Frames are sets of rows: turned around they tell the same story."""
    facts = _CAMPAIGNS["large"]
    turned = replace(
        facts,
        answers=facts.answers.iloc[::-1],
        findings=facts.findings.iloc[::-1],
        workers=facts.workers.iloc[::-1],
    )

    assert render_report(turned) == _page("large")


def test_a_command_in_a_sentence_is_set_as_code_and_the_rest_is_escaped() -> None:
    """A single backtick stays one."""
    assert with_code("<i> `a<b` c`") == "&lt;i&gt; <code>a&lt;b</code> c`"


def test_one_answer_is_shown_and_compared_with_nothing() -> None:
    """No interval, no agreement and no pair is made up for it."""
    caption, judged = _page("one answer"), _page("one judgement")

    assert "the red bottle stands" in caption
    assert "1 of 3 images, and the answers" in caption
    assert "No item has two accepted answers." in judged
    assert not re.search(r"\bnan\b", caption + judged)
    assert 'id="agreement-title"' not in judged


def test_a_rehearsal_says_so_loudly() -> None:
    """Simulated workers and no money come first; a real campaign says neither."""
    rehearsed = _page("small")
    real = _page("small and real")
    warning = "The workers were simulated and no money moved."

    assert rehearsed.index(warning) < rehearsed.index("<h1>")
    assert "<title>Rehearsal: " in rehearsed
    assert "simulated" not in real
    assert "Rehearsal" not in real


def test_the_end_of_mturk_is_told() -> None:
    """A reader who knows MTurk learns that it closed, and when."""
    assert "Mechanical Turk closed to new HITs on 2026-09-30" in _page("empty")


def test_an_unfinished_campaign_says_so_first() -> None:
    """The first remark on the page is that the campaign is not finished."""
    page = _page("unfinished")
    (first, *_) = re.findall(r'<li class="(\w+)"><span class="word">', page)

    assert first == "problem"
    assert "The campaign is not finished" in page


def test_one_worker_is_a_whole_crowd() -> None:
    """With one worker there is a median, a tenth of the crowd, and a page."""
    facts = by_hand.small()
    alone = facts.answers["worker"] == "ann"
    page = render_report(
        replace(
            facts, answers=facts.answers[alone], workers=facts.workers[facts.workers.index == "ann"]
        )
    )

    # 60 cents in 288 s: 750 cents an hour.
    assert "The median hourly wage, $7.50/h, meets hourly_wage" in page
    assert "the busiest tenth (1 worker) wrote 100.0 %" in page


@pytest.mark.full
def test_six_thousand_images_make_a_page_one_can_send() -> None:
    """Under 600 kB for 6,000 images, 30,000 answers and 300 workers."""
    page = render_report(made_up.large(items=6000, crowd=300))

    assert len(page.encode()) < 600_000
