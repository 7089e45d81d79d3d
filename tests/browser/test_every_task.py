"""Every task in a real browser: by keyboard, on a phone, and as Python reads it."""

import itertools
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from piecework.domain.assignment import FieldValue
from piecework.domain.field import Field
from piecework.domain.ids import AssignmentId
from piecework.domain.task import TRUTH, Task
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.messages import FOLDER as TASKS
from piecework.hit_templates.messages import languages
from piecework.hit_templates.order import item_order, shuffled
from piecework.hit_templates.page_compression import fitted
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.rules import check
from piecework.hit_templates.tasks import example_items, load_task, task_names
from tests.browser.host import serving
from tests.browser.pages import violations
from tests.conftest import in_full
from tests.hit_templates.examples import Example, example_of

pytestmark = pytest.mark.browser
Open = Callable[..., Page]

SPOKEN = [(name, language) for name in task_names() for language in languages(TASKS / name)]
SENTENCE = "A red house with a brown roof stands beside a post sign"
MOST_TABS = 90
STARTERS = sorted((TASKS / "_starters").iterdir())

SHORT = {("severity", "zh-Hant"), ("correction", "en")}
"""What is done each time: choices in another alphabet, a text that is mended. Captions
and pairs are done by keyboard in files of their own."""

every_task = pytest.mark.parametrize(
    ("name", "language"),
    [pytest.param(*pair, marks=() if pair in SHORT else (pytest.mark.full,)) for pair in SPOKEN],
    ids=[" ".join(pair) for pair in SPOKEN],
)


def described(page: Page) -> dict[str, str]:
    """Kind, name and value of the element that has the focus."""
    description: dict[str, str] = page.evaluate(
        """() => {
          const e = document.activeElement;
          const own = e.type || e.tagName.toLowerCase();
          const kind = e.matches("textarea") ? "text" : own;
          const isDone = e.name && Array.from(document.getElementsByName(e.name))
            .some((one) => one.checked);
          return {kind, id: e.id, name: e.name || "", value: e.value || "",
            done: isDone ? "yes" : "", text: e.value || ""};
        }"""
    )
    return description


def field_of(task: Task, wire: str) -> Field | None:
    """The field that a control's name on the wire belongs to."""
    parts = set(wire.split("."))
    return next((field for field in task.fields if field.name in parts), None)


def truth_of(example: Example, wire: str) -> str:
    """What the example says is true where this control asks; "" if it does not."""
    name, _, position = wire.rpartition(".")
    if not position.isdigit():
        return ""
    shown = example.practice if name.startswith("practice.") else example.items
    columns = shown[int(position) - 1].columns
    return columns.get(TRUTH + name.removeprefix("practice."), "")


def press_here(page: Page, example: Example, at: dict[str, str]) -> None:
    """Answers the control that has the focus, by keys alone."""
    truth = truth_of(example, at["name"])
    if at["kind"] == "text":
        field = field_of(example.task, at["name"])
        if truth and at["text"] not in {"", truth}:  # a text to be edited
            page.keyboard.press("Control+A")
            page.keyboard.type(truth)
        elif field and not at["text"] and (truth or not field.optional):
            page.keyboard.type(truth or SENTENCE)
    elif at["kind"] == "radio":
        choose_by_arrows(page, truth, at)
    elif at["kind"] == "checkbox":
        if at["value"] in (truth or "none").split("|"):
            page.keyboard.press("Space")
    elif at["kind"] == "range" and page.locator(f"#{at['id']}.untouched").count():
        page.keyboard.press("ArrowRight")


def choose_by_arrows(page: Page, truth: str, at: dict[str, str]) -> None:
    """One of the radio buttons that the focus is on: the true one, or the first."""
    if at["done"]:
        return
    page.keyboard.press("Space")
    for _ in range(12):
        if not truth or described(page)["value"] == truth:
            return
        page.keyboard.press("ArrowDown")


def do_the_step(page: Page, example: Example) -> None:
    """From the heading by Tab through all controls of a step to its button."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        at = described(page)
        if at["id"] in {"next", "send"}:
            page.keyboard.press("Enter")
            return
        press_here(page, example, at)
    raise AssertionError("Tab does not lead to the button")


@every_task
def test_a_hit_can_be_done_by_keyboard_and_python_reads_it_without_a_problem(
    open_page: Open, name: str, language: str
) -> None:
    """Tab, Space, arrows and Enter are enough; orders, rules and values then agree."""
    example = example_of(load_task(name, language))
    with serving() as host:
        host.page = example.page
        page = open_page(host.address("3ASSIGNMENT1"), reads=False)
        steps = page.locator(".step").count()
        for _ in range(steps):
            do_the_step(page, example)
        expect(page.get_by_text("Thank you")).to_be_visible()
        (_, sent), *more = host.posted
    assert more == []
    fields: dict[str, str] = {}
    for wire, value in sent:
        fields[wire] = f"{fields[wire]}|{value}" if wire in fields else value
    fields.pop("assignmentId")
    answers = read_answers(
        example.task,
        AssignmentId("3ASSIGNMENT1"),
        [item.item_id for item in example.items],
        fields,
        columns={item.item_id: item.columns for item in example.items},
    )
    assert [answer.problems for answer in answers] == [()] * len(example.items)
    for answer in answers:
        assert answer.shown_ms is not None
        assert answer.shown_ms > 0


def test_a_page_with_a_packed_script_can_be_done(open_page: Open) -> None:
    """The browser unpacks it, and the examples' pictures are there."""
    example = example_of(load_task("expert_rating"))
    with serving() as host:
        host.page = fitted(example.page, more_than=0)
        assert "data-packed" in host.page
        page = open_page(host.address("3ASSIGNMENT1"), reads=False)
        expect(page.locator(".step:visible")).to_have_count(1)
        for drawing in page.locator("img.drawing").all():
            expect(drawing).to_have_js_property("naturalWidth", 640)
        for _ in range(page.locator(".step").count()):
            do_the_step(page, example)
        expect(page.get_by_text("Thank you")).to_be_visible()
        assert len(host.posted) == 1


_COLLAPSED = """texts => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const shown = [], collapsed = [];
  while (walker.nextNode()) {
    const {data, parentElement} = walker.currentNode;
    if (parentElement.closest("script, style, textarea")) continue;
    const text = texts.find((each) => data.includes(each));
    if (text) shown.push(text);
    if (text && !getComputedStyle(parentElement).whiteSpace.startsWith("pre")) collapsed.push(text);
  }
  return [shown.length, collapsed];
}"""


def test_texts_of_items_keep_their_lines_on_every_page(open_page: Open) -> None:
    """Poems, lists and programs; the one text that is edited is in a field."""
    tasks = [*map(load_task, task_names())]
    tasks += [load_task(f"./{each.name}", beside=each.parent) for each in STARTERS]
    with serving() as host:
        page = open_page(host.address())
        for task in tasks:
            fixed = {task.columns[0], "url", *task.column_values}
            items = [
                replace(
                    item,
                    columns={
                        name: cell if name in fixed else cell.replace(" ", "\n  ")
                        for name, cell in item.columns.items()
                    },
                )
                for item in example_items(task)
            ]
            names = {*task.shown_columns} - fixed
            cells = [cell for item in items for name, cell in item.columns.items() if name in names]
            texts = [cell for cell in cells if "\n" in cell]
            host.page = render_hit(task, items)
            page.goto(host.address())
            shown, collapsed = page.evaluate(_COLLAPSED, texts)
            assert (task.name, collapsed) == (task.name, [])
            assert shown or not texts or task.name == "correction"


@every_task
def test_every_step_is_accessible_and_fits_a_phone(
    open_page: Open, name: str, language: str
) -> None:
    """Axe finds nothing, also beside messages; 360 pixels need no sideways scroll."""
    with serving() as host:
        host.page = example_of(load_task(name, language)).page
        page = open_page(host.address())
        page.click("#next")
        assert violations(page) == []
        page.set_viewport_size({"width": 360, "height": 780})
        assert violations(page) == []
        page.goto(host.preview_address())
        seen = set()
        for _ in range(page.locator(".step").count() - 1):
            kind = page.locator(".step:visible").get_attribute("class")
            if kind not in seen:
                seen.add(kind)
                assert violations(page) == []
            page.click("#next")


@pytest.mark.parametrize("name", task_names())
def test_the_page_and_python_hold_the_same_rules(open_page: Open, name: str) -> None:
    """For values of every field, fit and unfit, both name the same broken rules."""
    task = load_task(name)
    example = example_of(task)
    rng = random.Random(f"rules of {name}")  # noqa: S311 - a corpus, no secret
    corpus = [values_of(task, example, rng) for _ in range(200)]
    with serving() as host:
        host.page = example.page
        page = open_page(host.preview_address())
        verdicts = page.evaluate(
            """(corpus) => {
              const data = JSON.parse(document.getElementById("page-data").textContent);
              const rules = pieceworkRules(data.characters);
              return corpus.map(([at, values]) => rules
                .check(data.rules, values, data.columns[at + 1])
                .map((rule) => rule.name));
            }""",
            corpus,
        )
    for (at, values), verdict in zip(corpus, verdicts, strict=True):
        columns = example.items[at].columns
        broken = {
            rule.name
            for scope in ("item", "hit")
            for rule in check(task, values, columns=columns, scope=scope)
        }
        assert set(verdict) == broken, values


def values_of(
    task: Task, example: Example, rng: random.Random
) -> tuple[int, dict[str, FieldValue]]:
    """An item, and some value for some of the fields."""
    at = rng.randrange(len(example.items))
    columns = example.items[at].columns
    values: dict[str, FieldValue] = {}
    for field in task.fields:
        options = [option.value for option in field.options]
        texts = ["", " ", SENTENCE, f"{SENTENCE}. And more", "There is a dog", "x" * 1200]
        texts += [text for text in columns.values() if text]
        texts += [f"{text} indeed" for text in columns.values() if text]
        kinds: dict[str, list[FieldValue]] = {
            "text": [*texts],
            "choice": [*options, ""],
            "choices": [
                *itertools.combinations(options, 1),
                *itertools.islice(itertools.combinations(options, 2), 40),
                (),
            ],
            "number": [field.minimum, field.maximum],
        }
        if rng.random() < 0.85:
            values[field.name] = rng.choice(kinds[field.kind])
    return at, values


def test_the_page_orders_as_python_does(open_page: Open) -> None:
    """Any assignment, any names: the order that was shown can be computed again."""
    rng = random.Random("orders")  # noqa: S311 - a corpus, no secret
    letters = "aA1|._-é犬\U0001f415 "
    names = ["".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(300)]
    cases = [
        (rng.choice(names), rng.choice(names), rng.sample(sorted({*names}), 8)) for _ in range(200)
    ]
    task = load_task("congruency")
    with serving() as host:
        host.page = example_of(task).page
        page = open_page(host.preview_address())
        orders = page.evaluate(
            """(cases) => cases.map(([id, what, names]) => {
              const order = pieceworkOrder(id);
              const groups = names.map((name) => Array.from(name)[0]);
              return [order.shuffled(what, names), order.items(names, []),
                order.items(names, groups)];
            })""",
            cases,
        )
    for (assignment_id, what, some), (shown, alone, together) in zip(cases, orders, strict=True):
        assert tuple(shown) == shuffled(assignment_id, what, some)
        assert tuple(alone) == item_order(task, assignment_id, some, ())
        groups = [name[:1] for name in some]
        assert tuple(together) == item_order(task, assignment_id, some, groups)


@pytest.mark.parametrize("width", [320, pytest.param(390, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["severity", *in_full(*sorted({*task_names()} - {"severity"}))])
def test_no_label_of_an_option_leaves_its_button_on_a_phone(
    open_page: Open, name: str, width: int
) -> None:
    """On every step of the page."""
    with serving() as host:
        host.page = example_of(load_task(name)).page
        page = open_page(host.preview_address(), width=width, height=780)
        while True:
            outside = page.evaluate(
                """() => Array.from(document.querySelectorAll(".options label"))
                  .filter((label) => label.offsetParent)
                  .filter((label) => {
                    const text = document.createRange();
                    text.selectNodeContents(label);
                    const button = label.getBoundingClientRect();
                    return Array.from(text.getClientRects()).some((part) =>
                      part.right > button.right || part.bottom > button.bottom + 1);
                  })
                  .map((label) => label.textContent)"""
            )
            assert outside == []
            if page.locator("#next").is_hidden():
                break
            page.click("#next")
