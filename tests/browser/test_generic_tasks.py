"""Tasks whose question is in the campaign file, in a real browser."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from piecework.campaign.assembling import load_campaign
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.task import Task
from piecework.domain.toml_text import toml_value
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.render import render_hit
from tests.browser.host import serving
from tests.browser.pages import SIZES, ends_of_first_screen, violations
from tests.browser.test_first_screen import PICTURES
from tests.campaign.test_generic_tasks import KINDS, written
from tests.conftest import in_full

pytestmark = pytest.mark.browser
Open = Callable[..., Page]

TRIED = {
    "describe": ["", "Too short", "There is soup on the table", "One is hot. Two are cold.",
                 "It\u2019s a long text here", "A bowl of soup", "x " * 300,
                 "A BOWL OF HOT soup", "A BOWL of hot soup", "TV \u00c9T\u00c9 \u01c5 a",
                 "w " * 60],
    "choose": ["", "yes", "unsure"],
    "several": ["", "price", "food|the service"],
    "compare": ["", "left", "the same"],
    "rate": ["", "1", "5"],
    "grades": ["", "1", "3"],
}  # fmt: skip


ARABIC = "السعر 25.50$ (books) فقط!"
INSTRUCTIONS = f'instructions = ["{"Read each word and compare them with the whole image. " * 5}"]'
"""Nearly as long as those that come before the first item."""


def hardest(kind: str) -> tuple[str, list[dict[str, str]]]:
    """The kind with instructions, and with a picture beside what its items show."""
    stated, rows = KINDS[kind]
    head, rest = stated.split("\n", 1)
    asked = stated if "instructions" in rest else f"{head}\n{INSTRUCTIONS}\n{rest}"
    return asked, [{"photo": "https://e.org/photo.png", **row} for row in rows]


def shown(
    folder: Path, stated: str, rows: Sequence[Mapping[str, str]]
) -> tuple[Task, str, Mapping[ItemId, Mapping[str, str]]]:
    """The task, the page of its first item, and the item's columns."""
    campaign = load_campaign(written(folder, stated, rows))
    item = campaign.items[0]
    columns = {
        name: cell.replace("https://e.org/", "/pictures/") for name, cell in item.columns.items()
    }
    served = type(item)(item_id=item.item_id, columns=columns)
    return campaign.task, render_hit(campaign.task, [served]), {item.item_id: item.columns}


def answer(page: Page, value: str) -> None:
    """Fill in the only item by what its controls are."""
    box = page.locator("textarea[name='answer.1']")
    if box.count():
        box.fill(value)
        return
    for control in page.locator("input[name='answer.1']").all():
        wanted = control.get_attribute("value") in value.split("|")
        if control.get_attribute("type") == "checkbox":
            control.set_checked(wanted)
        elif wanted:
            control.check()


@pytest.mark.parametrize("kind", KINDS)
def test_page_and_server_accept_the_same_answers(
    tmp_path: Path, open_page: Open, kind: str
) -> None:
    """What the page sends has no problem, and what it holds back breaks a rule."""
    task, html, columns = shown(tmp_path, *KINDS[kind])
    with serving() as host:
        host.page = html
        for value in TRIED[kind]:
            host.posted.clear()
            page = open_page(host.address(f"A{len(value)}"))
            answer(page, value)
            page.click("#send")
            message = page.locator("#faults-answer-1 span").first
            expect(message.or_(page.get_by_text("Thank you"))).to_be_visible()
            form: dict[str, str] = {}
            for name, part in host.posted[0][1] if host.posted else []:
                form[name] = f"{form[name]}|{part}" if name in form else part
            ids = list(columns)
            of = AssignmentId(f"A{len(value)}")
            sent = form or {"item.1": ids[0], "answer.1": value}
            (read,) = read_answers(task, of, ids, sent, columns=columns)
            rules = {rule.name for rule in task.rules}
            broken = [problem for problem in read.problems if problem in rules]
            assert bool(host.posted) == (not broken), (value, read.problems)
            assert not (host.posted and read.problems), (value, read.problems)


@pytest.mark.parametrize(("task", "options"), [("choose", [ARABIC, "no"]), ("compare", ["a", "b"])])
def test_each_text_has_the_direction_of_its_language(
    tmp_path: Path, open_page: Open, task: str, options: list[str]
) -> None:
    """The sign that ends an Arabic sentence is at its left, also in a page in English."""
    words = {"task": task, "question": ARABIC, "instructions": [ARABIC] * 2, "options": options}
    stated = "".join(f"{name} = {toml_value(value)}\n" for name, value in words.items())
    rows = [{"a": ARABIC, "b": f"{ARABIC}!", "c": ARABIC}]
    with serving() as host:
        host.page = shown(tmp_path, stated, rows)[1]
        page = open_page(host.address())
        texts = page.get_by_text(ARABIC).all()
        styles = [text.evaluate("each => getComputedStyle(each).unicodeBidi") for text in texts]
        assert len(styles) > len(options) + 2
        assert {*styles} == {"plaintext"}


@pytest.mark.parametrize("kind", ["choose", "compare"])
def test_code_in_a_cell_keeps_its_indentation(tmp_path: Path, open_page: Open, kind: str) -> None:
    """Workers see the spaces and line breaks of a text, beside a text and in a card."""
    stated, rows = KINDS[kind]
    code = "def area(r):\n    if r:\n\treturn  3 * r"
    rows = [{name: f"{code}\n# {name}" for name in row} for row in rows]
    with serving() as host:
        host.page = shown(tmp_path, stated, rows)[1]
        page = open_page(host.address())
        texts = [text.inner_text() for text in page.get_by_text("def area(r)").all()]
        assert texts
        assert {text.rpartition("\n")[0] for text in texts} == {code}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_item_question_and_first_control_are_in_the_first_screen(
    tmp_path: Path, open_page: Open, kind: str, size: str
) -> None:
    """Nothing is wider than the window, and axe has nothing against it."""
    width, height = SIZES[size]
    _, html, _ = shown(tmp_path, *hardest(kind))
    with serving() as host:
        host.page = html
        host.picture = PICTURES["portrait"]
        page = open_page(host.address(), width=width, height=height)
        page.wait_for_load_state("networkidle")
        assert max(ends_of_first_screen(page).values()) <= height
        assert violations(page) == []
        page.click("#send")
        expect(page.locator("#faults-answer-1 span").first).to_be_visible()
        assert violations(page) == []


def test_digits_choose_what_stands_there_and_a_lost_picture_is_named(
    tmp_path: Path, open_page: Open
) -> None:
    """The two sides are in a random order, and the value is the column's name."""
    _, html, _ = shown(tmp_path, *KINDS["compare"])
    with serving() as host:
        host.page = html
        seen = set()
        for n in range(12):
            page = open_page(host.address(f"B{n}"))
            page.keyboard.press("1")
            seen.add(page.locator("input[name='answer.1']:checked").get_attribute("value"))
            page.keyboard.press("3")
            expect(page.locator("input[value='the same']")).to_be_checked()
            if seen == {"left", "right"}:
                break
        assert seen == {"left", "right"}
        host.has_pictures = False
        page = open_page(host.address())
        expect(page.get_by_text("This picture did not load.").first).to_be_visible()
        assert violations(page) == []


def test_a_digit_chooses_the_number_of_a_scale(tmp_path: Path, open_page: Open) -> None:
    """A scale may begin at any number; a digit that is not on it does nothing."""
    stated = 'task = "rate"\nquestion = "How polite?"\nscale = [0, 5]\n'
    campaign = load_campaign(written(tmp_path, stated))
    with serving() as host:
        host.page = render_hit(campaign.task, campaign.items[:1])
        page = open_page(host.address())
        for digit in ("5", "0"):
            page.keyboard.press(digit)
            chosen = page.locator("input[name='answer.1']:checked")
            expect(chosen).to_have_value(digit)
        page.keyboard.press("9")
        expect(page.locator("input[name='answer.1'][value='0']")).to_be_checked()


LONG_TEXTS = {
    "Latin": "Donaudampfschifffahrtsgesellschaft" * 8,
    "Hebrew": "בית אדום עומד ליד עמוד. " * 20,
    "Chinese": "一座紅色的房子立在柱子旁邊。" * 20,
}


@pytest.mark.parametrize("script", ["Hebrew", *in_full("Latin", "Chinese")])
def test_fifty_long_options_and_a_text_of_2000_characters_fit(
    tmp_path: Path, open_page: Open, script: str
) -> None:
    """The most options, in scripts without spaces and from right to left, also at 300 %."""
    text = LONG_TEXTS[script]
    options = ", ".join(f'"{n} {text[: 20 + 2 * n]}"' for n in range(50))
    stated = f'task = "choose"\nquestion = "What is it?"\noptions = [{options}]\n'
    rows = [{"text": (text * 20)[:2000]}, {"text": text}]
    campaign = load_campaign(written(tmp_path, stated, rows))
    with serving() as host:
        host.page = render_hit(campaign.task, list(campaign.items[:1]))
        for width, height in (*SIZES.values(), (844, 390), (427, 300)):
            page = open_page(host.address(), width=width, height=height)
            assert page.locator(".step:visible input[type=radio]").count() == 50
            assert violations(page) == [], (width, height)
            page.click("#send")
            expect(page.locator("#faults-answer-1 span").first).to_be_visible()
            expect(page.locator(".step:visible legend")).to_be_in_viewport()
