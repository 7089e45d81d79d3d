"""A task beside a campaign: read like the gallery's; faults have file and line."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from domain.errors import ConfigError
from domain.task import Task
from hit_templates.example_items import example_items
from hit_templates.messages import FOLDER
from hit_templates.render import render_hit
from hit_templates.tasks import load_task


@pytest.fixture
def dog(tmp_path: Path) -> Path:
    """The starter that asks for one choice, in a folder called dog."""
    folder = tmp_path / "dog"
    shutil.copytree(FOLDER / "_starters" / "choice", folder)
    return folder


def load(folder: Path) -> Task:
    """The task of a folder, named as a campaign beside it would."""
    return load_task(f"./{folder.name}", beside=folder.parent)


def page_of(folder: Path) -> str:
    """The page of the folder's task with its examples."""
    task = load(folder)
    return render_hit(task, example_items(task))


def fault_of(folder: Path) -> str:
    """The one fault that reading or rendering ends in."""
    with pytest.raises(ConfigError) as raised:
        page_of(folder)
    (fault,) = raised.value.faults
    return fault


def test_a_folder_beside_the_campaign_is_a_task(dog: Path) -> None:
    """Its name is the folder's; its page uses the gallery's frame and macros."""
    assert load(dog).name == "dog"
    page = page_of(dog)
    assert "The soup was warm" in page
    assert 'name="answer.1"' in page


def test_the_digest_tells_that_what_workers_see_has_changed(dog: Path) -> None:
    """Every file that decides what is shown changes it; notes and items do not."""
    digests = [load(dog).own]
    for name in ("NOTES.md", "example.jsonl", "items.csv"):
        (dog / name).write_text("other\n")
        digests.append(load(dog).own)
    assert len({own.digest for own in digests if own}) == 1
    for name in ("task.toml", "messages.en.toml", "question.html.j2"):
        text = (dog / name).read_text()
        (dog / name).write_text(text + "\n")
        digests.append(load(dog).own)
    (dog / "part.html.j2").write_text("more")
    digests.append(load(dog).own)
    assert len({own.digest for own in digests if own}) == 5


def test_a_template_takes_parts_from_its_own_folder(dog: Path) -> None:
    """What is included lies beside it, and is shown as it was when it was read."""
    page = (dog / "question.html.j2").read_text()
    (dog / "part.html.j2").write_text("<p>A part of one's own</p>")
    (dog / "question.html.j2").write_text(
        page.replace("{% block item %}", '{% block item %}{% include "part.html.j2" %}')
    )
    task = load(dog)
    (dog / "part.html.j2").write_text("<p>Changed since</p>")
    assert "A part of one's own" in render_hit(task, example_items(task))


FAULTS = {
    "{{ item.columns.text }": "unexpected '}'",
    "{% if item.columns.text %}": "needs to be closed is 'if'",
    "{{ itme.columns.text }}": "'itme' is not defined; did you mean 'item'?",
    "{{ item.columns.txt }}": "there is no 'txt' here; did you mean 'text'?",
    "{{ item.columns.zebra }}": "there is no 'zebra' here; there are item_id, text.",
    "{{ choise(fields.answer, n) }}": "not defined; did you mean 'choice'?",
    "{{ slider(fields.answer, n) }}": "import slider with context %}.",
    "{{ choice(fields.anser, n) }}": "there is no 'anser' here; did you mean 'answer'? "
    "(in hit_templates/_macros.html.j2:",
    "{{ 1 / 0 }}": "division by zero (ZeroDivisionError)",
    "{{ t.how | filled }}{{ '{x}' | filled }}": "'x' (KeyError)",
    "{{ t.how | fancy }}": "No filter named 'fancy'",
    '{% include "part.html.j2" %}': "there is no template 'part.html.j2'; beside it "
    "lie question.html.j2",
    "{{ ''.__class__.__mro__ }}": "unsafe",
    "{{ range(10000000) }}": "Range too big",
    "{{ fields.pop('answer') }}": "unsafe",
}


@pytest.mark.parametrize("source", FAULTS)
def test_a_fault_in_a_template_is_told_with_file_and_line(
    dog: Path, source: str
) -> None:
    """A sentence and no traceback, whatever the template does."""
    lines = (dog / "question.html.j2").read_text().split("\n")
    at = lines.index('<p class="quoted">{{ item.columns.text }}</p>')
    lines[at] = source
    (dog / "question.html.j2").write_text("\n".join(lines))
    fault = fault_of(dog)
    assert FAULTS[source] in fault
    # What is left open is noticed where the block around it ends, seven lines on.
    line = at + (8 if source.startswith("{% if") else 1)
    assert fault.startswith(f"{dog}/question.html.j2:{line}: ")


def test_a_field_that_the_page_forgets_is_told(dog: Path) -> None:
    """It would be missing in every answer; the sentence says what to write."""
    page = (dog / "question.html.j2").read_text()
    call = "{{ choice(fields.answer, n, keys=true) }}"
    (dog / "question.html.j2").write_text(page.replace(call, ""))
    assert "nothing on the page asks for the field answer" in fault_of(dog)
    assert "{{ choice(fields.answer, n) }}" in fault_of(dog)
    plain = '<input name="answer.{{ n }}">'
    (dog / "question.html.j2").write_text(page.replace(call, plain))
    assert "needs one place for its messages" in fault_of(dog)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (shutil.rmtree, "there is no such folder"),
        (lambda dog: (dog / "task.toml").unlink(), "holds no task.toml"),
        (lambda dog: (dog / "question.html.j2").unlink(), "holds no question.html.j2"),
        (lambda dog: dog.rename(dog.with_name("dög")), "there is no such folder"),
        (
            lambda dog: (dog / "messages.en.toml").rename(dog / "messages.de.toml"),
            "it speaks de, and the frame around every task en, zh-Hant",
        ),
        (
            lambda dog: (dog / "messages.en.toml").write_bytes(b"\n\xff"),
            "messages.en.toml: line 2: is not UTF-8",
        ),
        (
            lambda dog: (dog / "task.toml").write_text("version = 1\ncolumns = ["),
            "task.toml: ",
        ),
    ],
)
def test_what_is_no_task_is_told_with_its_path(
    dog: Path, change: Callable[[Path], object], fault: str
) -> None:
    """The folder, a file of it, or a line of the file."""
    change(dog)
    said = fault_of(dog)
    assert fault in said
    assert said.startswith(str(dog))


def test_a_folder_with_another_alphabet_lends_no_name(dog: Path) -> None:
    """Names go into pages, files and other programs."""
    assert "lends the task its name" in fault_of(dog.rename(dog.with_name("dög")))
