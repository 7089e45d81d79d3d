"""Every error category has an example with a drawn picture, the same in both tasks."""

import pytest
from defusedxml.ElementTree import fromstring

from piecework.hit_templates.messages import FOLDER
from piecework.hit_templates.tasks import load_task
from tests.hit_templates.examples import example_of

CATEGORIES = [
    option.value
    for field in load_task("error_categories").fields
    if field.name == "categories"
    for option in field.options
]


def test_the_drawing_has_a_picture_for_each_category_in_order() -> None:
    """The page shows the n-th part beside the n-th category."""
    root = fromstring((FOLDER / "error_categories/examples.svg").read_bytes())
    parts = [part for part in root if part.tag.endswith("}svg")]
    assert [part.get("id") for part in parts] == CATEGORIES
    assert [part.get("x") for part in parts] == [str(120 * n) for n in range(20)]


@pytest.mark.parametrize("name", ["congruency", "error_categories"])
def test_each_category_has_a_sentence_with_its_wrong_words_marked(name: str) -> None:
    """But a sentence that is generally unrelated is wrong as a whole."""
    task = load_task(name)
    page = example_of(task).page
    assert page.count('<i role="img"') == len(CATEGORIES)
    for category in CATEGORIES:
        sentence = task.texts[f"example_{category}"]
        assert ("**" in sentence) is (category != "unrelated")
        assert f'aria-label="{task.texts[f"picture_{category}"]}"' in page
        assert f"<b>{task.texts[f'category_{category}']}</b>" in page


def test_both_tasks_teach_the_same() -> None:
    """Annotators of either task are to know the categories (guidelines, section 1)."""
    first, second = (
        {
            name: text
            for name, text in load_task(task).texts.items()
            if name.startswith(("example", "picture_", "category_"))
        }
        for task in ("congruency", "error_categories")
    )
    assert first == second
    assert len(first) == 3 * len(CATEGORIES) + 2
