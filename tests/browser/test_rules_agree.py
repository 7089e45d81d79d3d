"""The page and Python give the same verdict on the same text.

A worker must never be stopped by the page for what Python lets through, nor the other
way round. The corpus is made by hand where the rules have edges, by hypothesis (fixed
seed) where nobody would look, and by mixing fragments that the rules speak about.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from piecework.domain.assignment import FieldValue
from piecework.domain.task import Task
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.rules import _texts, check, words
from piecework.hit_templates.tasks import load_task
from tests.browser.host import Host
from tests.hit_templates.examples import example_of

pytestmark = pytest.mark.browser

FRAGMENTS = [
    "There is", "this is", "It's", "It\u2019s", "it`s", "The picture", "These are",
    "The image", "island", "-perfect", "'s", "a", "dog", "St.", "Dr.", "oz.", "12oz.",
    "No.", "no.", "in.", "10", "8.5", "1,000", "U.S.", "U.S", "p.m.", "J.", "e.g.",
    "Yahoo!", "Stop!", "why?", "?!", "...", "\u2026", ".", ",", ";", ":", "-", "--",
    "\u2014", "\u2013", "&", "$5", "(", ")", "[x]", '"', "\u201c", "\u201d", "\u00ab",
    "'", "\u2018", "\u2033", "|", "\\", "^", "]", "{}", "\n", "\r\n", "\t", "\x0b",
    "\x1c", "\x85", "\xa0", "\u200b", "\u200d", "\ufeff", "\u2028", "\u3000", "\u180e",
    "\u00ad", "\u2060", "\x00", "\x7f", "e\u0301", "\u00e9", "\u1e9e", "\u0130",
    "\u01c5",
    "\u03a3", "\u1112\u1161\u11ab", "\u3164", "\u2800", "\U0001f415", "\U0001f3fd",
    "\U0001f468\u200d\U0001f469", "\U0001f1fa\U0001f1f8", "\U0001d400", "\U00010400.",
    "\ufb01", "\u017f", "\u212a", "\u216b", "\u00bd", "\u0661", "\u72ac", "\u3002",
    "\ufe0f", "\u2603", "\U000e0041", "\uff0e", "\uff07", "Z\u0335\u0321",
    "這是", "圖片", "の", "\U00020b9f", "\uff01", "\uff1f", "\uff61", "「", "」", "Yahoo\uff01",
]  # fmt: skip

BY_HAND = [
    "",
    " ",
    "A red mug with a chipped handle on a table.",
    "Quality issues are too severe to recognize visual content.",
    "The arch of St. Louis, approx. 630 ft. tall, by a river.",
    'A sign says "Stop. Go back." in red. Nobody reads it.',
    '"A dog. A cat."',
    "\u201cA dog.\u201d A cat",
    "A bottle of No. 5 in a 10 in. box. It is big.",
    "A Pronto! keyboard? On a Table!",
    "A dog.) (A cat",
    "A dog. \U0001f415",
    "The picture-perfect garden behind a white fence",
    "The image's corner shows a dog on a mat",
    "This island has a red house and a mill",
    "x" * 1000,
    "x" * 1001,
    "\U0001f415" * 1000,
    "e\u0301" * 1000,
    "e\u0301" * 1001,
]

UNSPACED = [
    "這是一隻狗。牠很大。",
    "這是一隻狗",
    "圖片\U00020b9f",
    "牌子上寫著「停。看。」的路口",
    "手機上的Yahoo\uff01奇摩首頁",
]


def mixed(number: int) -> list[str]:
    """Fragments put together, with and without spaces."""
    rng = random.Random(20190420)  # noqa: S311 - a corpus, no secret
    texts = []
    for _ in range(number):
        parts = rng.choices(FRAGMENTS, k=rng.randint(1, 12))
        texts.append("".join(part + rng.choice(["", " ", " "]) for part in parts))
    return texts


def generated(number: int) -> list[str]:
    """Texts of any characters, as hypothesis thinks of them; always the same."""
    texts: list[str] = []

    @seed(20190420)
    @settings(
        max_examples=number,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    # Characters assigned since Unicode 14, Python 3.11's, may be composed differently.
    @given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=60))
    def collect(text: str) -> None:
        texts.append(text)

    collect()
    return texts


def corpus() -> list[dict[str, FieldValue]]:
    """Values of all fields, with the texts in both text fields."""
    texts = [*BY_HAND, *FRAGMENTS, *mixed(800), *generated(500)]
    # Each fragment also in the middle, at the start and at the end of a sentence.
    texts += [f"{part} is on a red table near the door" for part in FRAGMENTS]
    texts += [f"A dog {part} Sits on a red mat" for part in FRAGMENTS]
    texts += [f"A dog sits{part} a mat{part}" for part in FRAGMENTS]
    texts += UNSPACED
    options = ["blur", "other", "none", ""]
    choices = [chosen for size in range(4) for chosen in itertools.product(options, repeat=size)]
    values: list[dict[str, FieldValue]] = [{"caption": text} for text in texts]
    for i, chosen in enumerate(choices):
        for has_text in ("yes", ""):
            text = texts[i]
            values.append({"flaws": chosen, "flaw_other": text, "has_text": has_text})
    return values


def with_more_beginnings(task: Task) -> Task:
    """The task, with beginnings that no space follows banned as well."""
    return replace(
        task,
        rules=tuple(
            replace(rule, parameters={"prefixes": [*_texts(rule, "prefixes"), "這是", "圖片", " "]})
            if rule.kind == "banned_prefixes"
            else rule
            for rule in task.rules
        ),
    )


def test_page_and_python_agree_on_every_text(host: Host, open_page: Callable[..., Page]) -> None:
    """Same broken rules in the same order, and the same words, for all the corpus."""
    task = with_more_beginnings(load_task("caption"))
    host.page = render_hit(task, example_of(task).items)
    values = corpus()
    page = open_page(host.preview_address())
    verdicts = page.evaluate(
        """(values) => {
          const data = JSON.parse(document.getElementById("page-data").textContent);
          const rules = pieceworkRules(data.characters);
          return values.map((value) => ({
            broken: rules.check(data.rules, value).map((rule) => rule.name),
            words: rules.words(value.caption || ""),
          }));
        }""",
        values,
    )
    assert len(values) > 1_500
    for value, verdict in zip(values, verdicts, strict=True):
        assert verdict["broken"] == [rule.name for rule in check(task, value)], value
        assert verdict["words"] == words(str(value.get("caption", ""))), value


def test_the_corpus_breaks_and_keeps_every_rule() -> None:
    """Agreement means something: each rule is broken by many texts, kept by many."""
    task = load_task("caption")
    values = corpus()
    for rule in task.rules:
        broken = sum(rule in check(task, value) for value in values)
        assert 1 <= broken <= len(values) - 10, rule.name
    sentences = sum(
        "caption_one_sentence" in [rule.name for rule in check(task, value)] for value in values
    )
    assert sentences >= 100
