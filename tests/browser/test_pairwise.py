"""Pairs in a browser: sides change places, grades are turned back, texts stay near."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from piecework.domain.ids import AssignmentId
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.tasks import load_task
from tests.browser.host import serving
from tests.hit_templates.examples import Example, example_of

pytestmark = pytest.mark.browser
Open = Callable[..., Page]

FIELDS = ("mistakes", "missing_details", "overall_quality")


@pytest.fixture
def example() -> Example:
    """The folder's own example: two pairs of one image, one of another."""
    return example_of(load_task("pairwise"))


def test_grades_by_keys_and_pointer_are_about_the_columns_however_they_were_shown(
    open_page: Open, example: Example
) -> None:
    """#1 much better is 1 or 5 in the dataset: whichever text stood first."""
    turned = set()
    with serving() as host:
        host.page = example.page
        for number in range(4):
            page = open_page(host.address(f"3ASSIGNMENT{number}"))
            for step in range(3):
                shown = page.locator(".step:visible")
                assert shown.locator("[data-place]").all_inner_texts() == ["1", "2"]
                if step == 0:
                    for _ in FIELDS:
                        page.keyboard.press("1")
                        page.keyboard.press("Tab")
                else:
                    for part in shown.get_by_text("#1 much better").all():
                        part.click()
                page.click("#next" if step < 2 else "#send")
            expect(page.get_by_text("Thank you")).to_be_visible()
            _, sent = host.posted[-1]
            answers = read_answers(
                example.task,
                AssignmentId(f"3ASSIGNMENT{number}"),
                [item.item_id for item in example.items],
                {name: value for name, value in sent if name != "assignmentId"},
                columns={item.item_id: item.columns for item in example.items},
            )
            for answer in answers:
                assert answer.problems == ()
                is_turned = answer.orders["sides"] == ("generated_2", "generated_1")
                turned.add(is_turned)
                right = "5" if is_turned else "1"
                assert [answer.values[name] for name in FIELDS] == [right] * 3
            # The two pairs of one image follow each other.
            assert abs((answers[0].place or 0) - (answers[1].place or 0)) == 1
    assert turned == {True, False}


def test_the_image_stays_in_sight_while_long_texts_are_read(
    open_page: Open, example: Example
) -> None:
    """Beside the last grade on a wide screen; above the texts on a phone."""
    with serving() as host:
        host.page = example.page
        page = open_page(host.address())
        step = page.locator(".step:visible")
        step.get_by_text("#2 much better").last.evaluate(
            "(grade) => grade.scrollIntoView({ block: 'end' })"
        )
        expect(step.locator("img")).to_be_in_viewport(ratio=0.9)
        page.set_viewport_size({"width": 390, "height": 844})
        picture = step.locator(".viewer").bounding_box()
        correct = step.get_by_text("CORRECT description", exact=True).bounding_box()
        assert picture is not None
        assert correct is not None
        assert picture["y"] + picture["height"] <= correct["y"]
