"""What holds for every folder of `hit_templates/`: adding one adds its tests."""

import re
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.ids import AssignmentId
from piecework.domain.task import GOLD, TRUTH, Task
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.item_faults import faults_of_item, faults_of_items
from piecework.hit_templates.messages import FOLDER as TASKS
from piecework.hit_templates.messages import frame_texts, languages
from piecework.hit_templates.order import groups_of, item_order
from piecework.hit_templates.page_compression import decompress
from piecework.hit_templates.tasks import load_task, task_names
from piecework.platforms.wire import html_question
from piecework.simulation.crowd.browser import read_page
from piecework.simulation.crowd.chosen_answers import Judging
from piecework.simulation.crowd.people import people
from tests.for_each import for_each
from tests.hit_templates.examples import Example, example_of

_FOLDER = Path(__file__).resolve().parents[2] / "config" / "campaigns"
CAMPAIGNS = sorted(path for path in _FOLDER.glob("*.toml") if not path.stem.endswith(".deployment"))
ASSIGNMENT = AssignmentId("3ASSIGNMENT1")

SPOKEN = [(name, language) for name in task_names() for language in languages(TASKS / name)]
JUDGED = [name for name in task_names() if load_task(name).dataset == "answers"]


@pytest.fixture
def task(request: pytest.FixtureRequest) -> Task:
    """The task that the test is about."""
    return load_task(*request.param)


every_task = pytest.mark.parametrize(
    "task", SPOKEN, indirect=True, ids=[" ".join(pair) for pair in SPOKEN]
)


@every_task
def test_the_folder_is_whole(task: Task) -> None:
    """Page, example, notes, and an example campaign that a user can rehearse."""
    for name in ("question.html.j2", "example.jsonl", "NOTES.md"):
        assert (TASKS / task.name / name).exists(), name
    files = CAMPAIGNS
    assert [file for file in files if f'task = "{task.name}"' in file.read_text("utf-8")]


@every_task
def test_two_keys_are_not_called_a_range(task: Task) -> None:
    """The hint about the keys is another sentence for two answers."""
    page = decompress(example_of(task).page)
    assert frame_texts(task.language)["key_hint"].format(first=1, last=2) not in page


@every_task
def test_the_page_of_the_example_fits_into_a_question(task: Task) -> None:
    """It renders with nothing undefined, and is no longer than MTurk takes."""
    assert html_question(example_of(task).page)


@every_task
def test_the_example_has_no_faults(task: Task) -> None:
    """What a newcomer copies is right."""
    example = example_of(task)
    shown = [*example.practice, *example.items]
    assert [fault for item in shown for fault in faults_of_item(task, item)] == []
    assert faults_of_items(task, shown) == []


@every_task
def test_the_truth_is_on_no_page(task: Task) -> None:
    """Neither what is true nor what is expected reaches a worker."""
    example = example_of(task)
    marked = [
        type(item)(
            item_id=item.item_id,
            columns={
                name: f"SECRET-{value}" if name.startswith((TRUTH, GOLD)) else value
                for name, value in item.columns.items()
            },
        )
        for item in (*example.practice, *example.items)
    ]
    count = len(example.practice)
    page = Example(task=task, practice=tuple(marked[:count]), items=tuple(marked[count:]))
    # Expected answers that are none would be refused; the page is what is asked here.
    shown = [faults_of_item(task, item) for item in marked]
    if not any(shown):
        assert "SECRET" not in page.page
    assert "truth." not in example.page
    assert "gold." not in example.page


@every_task
def test_every_control_has_its_name_and_its_place_for_messages(task: Task) -> None:
    """Each field of each item is in the form once, with where its messages appear."""
    example = example_of(task)
    page = decompress(example.page)
    names = set(read_page(page).names)
    for field in task.item_fields:
        for n in range(1, len(example.items) + 1):
            assert f"{field.name}.{n}" in names
            assert page.count(f'id="faults-{field.name}-{n}"') == 1
    for field in task.hit_fields:
        assert f"hit.{field.name}" in names
        assert page.count(f'id="faults-{field.name}-hit"') == 1
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("trait", ["diligent", "hurried", "first_clicker", "guesser"])
@pytest.mark.parametrize("name", JUDGED)
def test_the_crowd_fills_the_form_as_the_page_would_send_it(name: str, trait: str) -> None:
    """Good and bad workers alike break no rule that the page would hold them to."""
    task = load_task(name)
    example = example_of(task)
    judging = Judging(task, example.items, example.practice)
    assert all(judging.knows(item.item_id) for item in example.items)
    page = read_page(example.page)
    (person,) = people({trait: 1}, seed=1)
    shown = [9000] * len(example.items)
    form = judging.fill_in(page, ASSIGNMENT, person=person, shown_ms=shown, seed=1)
    answers = read_answers(
        task,
        ASSIGNMENT,
        page.item_ids,
        {wire: "|".join(values) for wire, values in form.items()},
        columns={item.item_id: item.columns for item in example.items},
    )
    for answer in answers:
        asked = [problem for problem in answer.problems if not problem.startswith("questioned:")]
        assert asked == []
    if task.shuffles_items:
        order = item_order(task, ASSIGNMENT, page.item_ids, groups_of(task, example.items))
        assert [placed_answer.place for placed_answer in answers] == [
            order.index(n) + 1 for n in range(1, len(answers) + 1)
        ]


@for_each("path", CAMPAIGNS)
def test_every_example_campaign_can_be_read(path: Path) -> None:
    """Its items fit its task, and it has settings for nothing that is not there."""
    if path.stem != "demo":  # its items are drawn when it is rehearsed
        assert load_campaign(path).items
