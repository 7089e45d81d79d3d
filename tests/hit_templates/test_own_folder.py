"""A task beside a campaign: read like the gallery's; faults have file and line."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.task import Task
from piecework.hit_templates.messages import FOLDER
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import example_items, load_task


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


def test_a_copy_keeps_its_layout_and_the_frame_s_steps_have_none_of_it() -> None:
    """A copied page has the classes of its day; a step of the frame would move with them."""
    styles = "".join(file.read_text() for file in FOLDER.glob("_*.css") if file.stem != "_page")
    laid_out = {"lesson", "graded", "parts"}
    assert laid_out <= {*re.findall(r"\.([a-z]+)", styles)}
    steps = re.findall(r'class="step (\w+)"', (FOLDER / "_base.html.j2").read_text())
    assert steps
    assert laid_out.isdisjoint(steps)


def test_a_byte_order_mark_begins_no_text(dog: Path) -> None:
    """Some editors write one at the beginning of each file."""
    before = page_of(dog)
    for file in dog.iterdir():
        file.write_text(file.read_text(), encoding="utf-8-sig")
    assert page_of(dog) == before


def test_a_field_holds_the_regions_that_its_aggregate_merges(tmp_path: Path) -> None:
    """As on a page with crowd elements, so report and cards show them alike."""
    folder = tmp_path / "dog"
    shutil.copytree(FOLDER / "_starters" / "text", folder)
    (before,) = load(folder).item_fields
    with (folder / "task.toml").open("a") as file:
        file.write(f'\n[[aggregates]]\nfield = "{before.name}"\nkind = "boxes"\n')
    (after,) = load(folder).item_fields
    assert (before.regions, after.regions) == ("", "boundingBoxes")


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
    '{% include "part.html.j2" %}': "there is no template 'part.html.j2'; the folder "
    "has question.html.j2",
    "{{ ''.__class__.__mro__ }}": "unsafe",
    "{{ range(10000000) }}": "Range too big",
    "{{ fields.pop('answer') }}": "unsafe",
}


@pytest.mark.parametrize("source", FAULTS)
def test_a_fault_in_a_template_is_told_with_file_and_line(dog: Path, source: str) -> None:
    """A sentence and no traceback, whatever the template does."""
    lines = (dog / "question.html.j2").read_text().split("\n")
    at = lines.index('<p class="quoted prose">{{ item.columns.text }}</p>')
    lines[at] = source
    (dog / "question.html.j2").write_text("\n".join(lines))
    fault = fault_of(dog)
    assert FAULTS[source] in fault
    # What is left open is noticed where the block around it ends, six lines on.
    line = at + (7 if source.startswith("{% if") else 1)
    assert fault.startswith(f"{dog}/question.html.j2:{line}: ")


def test_a_field_that_the_page_forgets_is_told(dog: Path) -> None:
    """It would be missing in every answer; the sentence says what to write."""
    page = (dog / "question.html.j2").read_text()
    call = "{{ choice(fields.answer, n, keys=true) }}"
    (dog / "question.html.j2").write_text(page.replace(call, ""))
    assert "the field answer (a control named" in fault_of(dog)
    assert "{{ choice(fields.answer, n) }}" in fault_of(dog)
    plain = '<input name="answer.{{ n }}">'
    (dog / "question.html.j2").write_text(page.replace(call, plain))
    assert "needs one place for its messages" in fault_of(dog)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (shutil.rmtree, "this folder does not exist"),
        (lambda dog: (dog / "task.toml").unlink(), "holds no task.toml"),
        (lambda dog: (dog / "question.html.j2").unlink(), "holds no question.html.j2"),
        (lambda dog: dog.rename(dog.with_name("dög")), "this folder does not exist"),
        (
            lambda dog: (dog / "messages.en.toml").rename(dog / "messages.de.toml"),
            "it has messages in de, and the frame",
        ),
        (
            lambda dog: (dog / "messages.en.toml").write_bytes(b"\n\xff"),
            "messages.en.toml: line 2: is not UTF-8",
        ),
        (lambda dog: (dog / "task.toml").write_text("version = 1\ncolumns = ["), "task.toml: "),
    ],
)
def test_what_is_no_task_is_told_with_its_path(
    dog: Path, change: Callable[[Path], object], fault: str
) -> None:
    """The folder, a file of it, or a line of the file."""
    change(dog)
    message = fault_of(dog)
    assert fault in message
    assert message.startswith(str(dog))


def test_a_folder_with_another_alphabet_lends_no_name(dog: Path) -> None:
    """Names go into pages, files and other programs."""
    assert "has more than 40" in fault_of(dog.rename(dog.with_name("dög")))


def with_line(folder: Path, line: str) -> str:
    """Put a line at the end of the page's block of scripts; where it stands."""
    page = folder / "question.html.j2"
    text = page.read_text()
    page.write_text(f"{text.rstrip()}\n{{% block scripts %}}\n{line}\n{{% endblock %}}")
    return f"{page}:{len(text.rstrip().splitlines()) + 2}: "


@pytest.mark.parametrize(
    "name",
    [
        "SECRET",
        "../../../../../../../../../../../etc/hosts",
        "../hit_templates/_page.js",
        "./_page.js",
        "link.js",
        "folder/secret.js",
        "_page.js\\x00",
        "caption",
        "caption/NOTES.md",
        "render.py",
        "",
    ],
)
def test_only_our_own_scripts_are_minified(dog: Path, name: str) -> None:
    """Whatever a template names: no file of the machine reaches a page."""
    secret = dog.parent / "secret.js"
    secret.write_text("aws_secret_access_key")
    (dog / "folder").symlink_to(dog.parent, target_is_directory=True)
    named = name.replace("SECRET", str(secret))
    where = with_line(dog, f'{{{{ minified("{named}") }}}}')
    fault = fault_of(dog)
    assert fault.startswith(f"{where}minified(")
    assert "no such script or style" in fault


@pytest.mark.parametrize("argument", ["[]", "none", "1", "item", "{}"])
def test_what_is_no_name_is_minified_neither(dog: Path, argument: str) -> None:
    """A list, a number, a name that is not defined."""
    where = with_line(dog, f"{{{{ minified({argument}) }}}}")
    assert fault_of(dog).startswith(where)


@pytest.mark.parametrize("name", ["secret.html", "question.html.j2", "messages.en.toml"])
def test_a_link_out_of_the_folder_is_refused(dog: Path, name: str) -> None:
    """It would put another file into every HIT."""
    secret = dog.parent / "credentials"
    secret.write_text("aws_secret_access_key")
    (dog / name).unlink(missing_ok=True)
    (dog / name).symlink_to(secret)
    fault = fault_of(dog)
    assert fault == (f"{dog / name} is a link that leads out of {dog}, to {secret.resolve()}.")


@pytest.mark.parametrize("target", ["loop.html", "../dog/../credentials", "/dev/zero"])
def test_links_in_circles_and_to_devices_are_refused(dog: Path, target: str) -> None:
    """None is read, and none ends in a traceback."""
    (dog.parent / "credentials").write_text("secret")
    (dog / "loop.html").symlink_to(target)
    where = with_line(dog, '{% include "loop.html" %}')
    fault = fault_of(dog)
    assert "is a link that leads out of" in fault or fault.startswith(where)


def test_a_link_inside_the_folder_is_a_file_of_it(dog: Path) -> None:
    """Two names for one part of a page."""
    (dog / "part.html").write_text("<b>part</b>")
    (dog / "same.html").symlink_to("part.html")
    with_line(dog, '{% include "same.html" %}')
    assert "<b>part</b>" in page_of(dog)


@pytest.mark.parametrize(
    "name", ["../credentials.html", "/etc/hosts", "folder/credentials.html", "a\\x00b", "caption"]
)
def test_an_include_reads_files_of_the_folder_alone(dog: Path, name: str) -> None:
    """Neither above it, nor through a folder that is a link."""
    (dog.parent / "credentials.html").write_text("aws_secret_access_key")
    (dog / "folder").symlink_to(dog.parent, target_is_directory=True)
    where = with_line(dog, f'{{% include "{name}" %}}')
    fault = fault_of(dog)
    assert fault.startswith(f"{where}there is no template")
