"""`init` as a user types it: what it writes is checked without a fault."""

import json
import os
import pty
import shlex
import sys
import tomllib
from collections.abc import Iterator
from datetime import date
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.campaign.dealing import all_first_rounds
from piecework.campaign.deriving import complete_text
from piecework.campaign.questions import question
from piecework.cli.init import init
from piecework.cli.main import main
from piecework.domain.errors import ConfigError
from piecework.engine.begun import opened_store
from piecework.hit_templates.messages import FOLDER
from piecework.hit_templates.starters import STARTER_KINDS
from piecework.hit_templates.tasks import task_names
from tests.campaign.test_own_page import HTML
from tests.conftest import in_full

SVG = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 6' width='90'/>"


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _init(*words: str) -> Result:
    return CliRunner().invoke(main, ["init", *words])


def _check(file: str) -> str:
    return CliRunner().invoke(main, ["check", file]).output


def _written(*words: str) -> tuple[dict[str, Any], str]:
    """The tables of the complete file, as `check --full` prints it, and what was said."""
    done = _init(*words)
    assert done.exit_code == 0, done.output
    (path,) = Path().glob("*.toml")
    return tomllib.loads(complete_text(load_campaign(path))), done.output


def _pictures(folder: Path, count: int = 12) -> None:
    folder.mkdir()
    for n in range(count):
        (folder / f"{n}.svg").write_text(SVG)


def test_a_folder_of_pictures_becomes_a_campaign_of_captions() -> None:
    """Pay by the task's own pace: 9 s and 5 captions at 64 s are 5.5 minutes."""
    _pictures(Path("photos"), 30)
    tables, output = _written("--task", "caption", "--items", "photos", "--yes")
    assert tables["name"] == "photos"
    assert tables["items"] == "photos/"
    assert tables["batches"] == 3
    assert tables["reward"] == "0.92"
    assert tables["minutes"] == 5.5
    assert tables["hourly_wage"] == "10.00"
    assert load_campaign(Path("photos.toml")).decided_by == "person"
    rules = tables["decisions"]["rule"]
    assert not any(rule["then"] == "reject" for rule in rules)
    # Captions of a picture are held to each other: one is paid, all may exclude.
    off_items = {
        (rule["on"], rule["then"])
        for rule in rules
        if {"text_off_item", "texts_off_items"} & set(rule["any_of"])
    }
    assert off_items == {("answer", "drop"), ("worker", "exclude")}
    assert "Wage for an hour, in $ or £: $10.00" in output
    assert "piecework rehearse photos.toml" in output
    assert "WARNING" not in output


def test_the_next_commands_can_be_copied() -> None:
    """Also in a folder with a space in its name; the file's head has them too."""
    Path("my birds").mkdir()
    _pictures(Path("my birds/photos"))
    path = "my birds/first (try).toml"
    done = _init(path, "--task", "caption", "--items", "my birds/photos", "--yes")
    assert done.exit_code == 0, done.output
    lines = [*done.output.splitlines(), *Path(path).read_text().splitlines()]
    typed = [shlex.split(line.partition("piecework ")[2])[:2] for line in lines]
    for command in ("check", "preview", "rehearse"):
        assert [command, path] in typed
        assert [command, "first (try).toml"] in typed
    assert CliRunner().invoke(main, ["check", path]).exit_code == 0


def test_columns_and_pictures_of_a_generic_task_are_written() -> None:
    """Its page has no names of its own, so the file's new names are those that are shown."""
    _pictures(Path("photos"))
    Path("cups.csv").write_text("key,shown\n" + "".join(f"k{n},{n}\n" for n in range(12)))
    named = ("--column", "item_id=key", "--column", "cup=shown", "--pictures", "photos")
    asked = ("--task", "choose", "--question", "Is it full?", "--options", "yes, no")
    tables, _ = _written(*asked, "--items", "cups.csv", *named, "--yes")
    assert tables["items"]["columns"] == {"item_id": "key", "cup": "shown"}
    assert tables["pictures"] == "photos"
    (item, *_) = load_campaign(Path("cups.toml")).items
    assert (item.item_id, item.columns["cup"]) == ("k0", "0")


@pytest.mark.parametrize(
    ("task", "items", "unused"),
    [
        ("choose", "cups.csv", ("--host", "e.org")),
        ("caption", "photos", ("--host", "e.org")),
        ("caption", "photos", ("--question", "Is it full?")),
        ("hit.html", "cups.csv", ("--options", "yes, no")),
        ("caption", "photos", ("--column", "url=shown")),
        ("choose", "photos", ("--pictures", "others")),
    ],
)
def test_an_option_that_says_nothing_is_refused(
    task: str, items: str, unused: tuple[str, str]
) -> None:
    """Nobody takes it for heard; nothing is written."""
    _pictures(Path("photos"))
    Path("others").mkdir()
    Path("hit.html").write_text(HTML)
    Path("cups.csv").write_text("key,shown\na,b\n")
    asked = ("--question", "Is it full?", "--options", "yes, no") if task == "choose" else ()
    done = _init("--task", task, "--items", items, *asked, *unused, "--yes")
    assert done.exit_code == 2
    assert f"{unused[0]}: no use here" in done.output
    assert not [*Path().glob("*.toml")]


def test_pictures_are_called_as_people_call_them() -> None:
    """Spaces, accents and signs of a file's name become those of an address."""
    Path("photos").mkdir()
    for name in ("IMG 1.svg", "café.svg", "100% #2?.svg"):
        (Path("photos") / name).write_text(SVG)
    _written("--task", "caption", "--items", "photos", "--yes")
    campaign = load_campaign(Path("photos.toml"))
    (hit,) = chain(*all_first_rounds(campaign, on=date(2026, 11, 22)))
    items = {item.item_id: item for item in campaign.items}
    page = question(campaign, hit, items)
    for address in ("IMG%201.svg", "caf%C3%A9.svg", "100%25%20%232%3F.svg"):
        assert f'"/pictures/{address}"' in page


def test_the_budget_is_what_is_expected_and_a_fifth() -> None:
    """10 HITs by 2 workers at $1.01 for 6.01 minutes, with MTurk's 20 %: $24.40 plain.

    Ten items lose 17 % of two answers each; the rest follows from `price`, which is
    tested by hand elsewhere. Here: budget / 1.2 lies within a dollar below it.
    """
    _pictures(Path("photos"), 50)
    pay = ("--minutes", "6.01", "--wage", "$10.00", "--answers", "2")
    words = ("--task", "caption", "--items", "photos", *pay)
    tables, _ = _written("birds.toml", *words)
    assert tables["name"] == "birds"
    # 6.01 minutes at $10.00 an hour are 100.17 cents.
    assert tables["reward"] == "1.01"
    checked = CliRunner().invoke(main, ["check", "birds.toml", "--json"])
    expected = json.loads(checked.output)["expected_cents"]
    budget = load_campaign(Path("birds.toml")).rewards.budget_cents
    assert budget % 100 == 0
    assert 0 <= budget - expected * 1.2 < 100


def test_the_sign_of_the_wage_is_the_currency_of_the_campaign() -> None:
    """Pounds stay pounds, without a second option."""
    _pictures(Path("photos"))
    _init("--task", "caption", "--items", "photos", "--wage", "£9.00", "--yes")
    (path,) = Path().glob("*.toml")
    assert load_campaign(path).rewards.currency == "GBP"
    assert load_campaign(path).rewards.shown(900) == "£9.00"


@pytest.mark.parametrize(
    ("header", "row", "columns"),
    [
        ("id,image_url", "{n},https://example.org/{n}.jpg", ("id", "image_url")),
        ("Image ID,Photo", "{n},https://example.org/{n}", ("Image ID", "Photo")),
        ("file_name,licence", "{n}.svg,CC0", ("file_name", "file_name")),
    ],
)
def test_columns_are_proposed_by_name_and_by_what_they_hold(
    header: str, row: str, columns: tuple[str, str]
) -> None:
    """The proposal is said; a folder beside the file is looked into for pictures."""
    _pictures(Path("shots"), 4)
    rows = [row.format(n=n) for n in range(4)]
    Path("birds.csv").write_text("\n".join([header, *rows]))
    tables, output = _written("--task", "caption", "--items", "birds.csv", "--yes")
    assert tables["items"]["columns"] == dict(zip(("image_id", "url"), columns, strict=True))
    assert f"the column {columns[0]!r} of birds.csv is image_id" in output
    assert (tables.get("pictures") == "shots") == ("file_name" in header)


def test_what_no_column_is_has_to_be_said() -> None:
    """Without a terminal it is refused with the option; with it, it is written."""
    Path("pairs.csv").write_text(
        "id,url,wording\n1,https://example.org/1,A dog\n2,https://example.org/2,A cat\n"
    )
    words = ("--task", "congruency", "--items", "pairs.csv", "--yes")
    refused = _init(*words)
    assert refused.exit_code == 2
    assert "'description'; its columns are id, url, wording" in refused.output
    assert "--column description=COLUMN" in refused.output
    assert not [*Path().glob("*.toml")]
    tables, output = _written(*words, "--column", "description=wording")
    assert tables["items"]["columns"] == {"pair_id": "id", "description": "wording"}
    # Two items are too few for it, which `check` says.
    shown = CliRunner().invoke(main, ["check", "pairs.toml"]).output
    assert (
        'Not used: "Low agreement with others" needs 10 items of one worker; you have 2.' in shown
    )
    assert "description" not in output


def test_a_page_of_html_is_a_campaign_and_wants_a_title() -> None:
    """Its items are numbered; without a title workers would read the file's name."""
    Path("hit.html").write_text(HTML)
    Path("birds.csv").write_text("image_url\nhttps://example.org/1.jpg\n")
    words = ("--task", "hit.html", "--items", "birds.csv", "--yes")
    tables, output = _written(*words)
    assert tables["task"] == "hit.html"
    assert "posting" not in tables
    assert "posting.title" in output
    assert "items are numbered" in output
    tables, output = _written(*words, "--title", "Which birds?", "--force")
    assert tables["posting"]["title"] == "Which birds?"
    assert "WARNING" not in output


def test_a_page_with_numbers_takes_a_file_without_them() -> None:
    """The page shows three items of the file, so nothing has to be said about columns."""
    Path("hit.html").write_text(
        "".join(f'<p><img src="${{image{n}}}"><input name="word{n}"></p>' for n in (1, 2, 3))
    )
    rows = [f"https://example.org/{n}.jpg" for n in range(9)]
    Path("birds.csv").write_text("\n".join(["picture", *rows]))
    tables, output = _written("--task", "hit.html", "--items", "birds.csv", "--yes")
    assert "3 HITs" in output
    assert tables["items"]["columns"]["image"] == "picture"
    assert tables["posting"]["items_per_hit"] == 3


def test_a_page_with_a_loop_states_how_many_items_a_hit_has() -> None:
    """A person can change the line that `init` writes."""
    Path("hit.html").write_text(
        "{% for photo in task.input.photos %}<p><img src='{{ photo.image }}'>"
        "<input name='word{{ forloop.index }}'></p>{% endfor %}"
    )
    rows = [f"https://example.org/{n}.jpg" for n in range(10)]
    Path("birds.csv").write_text("\n".join(["image", *rows]))
    _, output = _written("--task", "hit.html", "--items", "birds.csv", "--yes")
    assert "2 HITs" in output
    assert "[posting]\nitems_per_hit = 5\n" in Path("birds.toml").read_text()


def test_one_word_on_many_items_is_no_sentence_pasted() -> None:
    """Who names colours truly writes "red" ten times, and is not to be excluded."""
    Path("hit.html").write_text('<img src="${url}"><input name="colour" required>')
    Path("birds.csv").write_text("url\nhttps://example.org/1.jpg\n")
    tables, _ = _written("--task", "hit.html", "--items", "birds.csv", "--yes")
    (only,) = tables["decisions"]["rule"]
    assert only["any_of"] == ["rule_violation"]


def test_a_page_and_a_folder_of_pictures_are_enough() -> None:
    """The one address on the page is the picture's."""
    Path("hit.html").write_text(HTML)
    _pictures(Path("photos"))
    _written("--task", "hit.html", "--items", "photos", "--yes")
    items = load_campaign(Path("photos.toml")).items
    assert items[3].columns == {"item_id": "11.svg", "image_url": "11.svg"}


def test_hosts_of_a_page_are_allowed_by_a_person_alone() -> None:
    """A default must not let another host read what workers type."""
    Path("hit.html").write_text(HTML + '<script src="https://code.example.org/a.js"></script>')
    Path("birds.csv").write_text("image_url\nhttps://example.org/1.jpg\n")
    words = ("--task", "hit.html", "--items", "birds.csv", "--yes")
    refused = _init(*words)
    assert refused.exit_code == 2
    sentence = (
        f"hit.html: line {HTML.count(chr(10)) + 1}: the page loads from "
        "code.example.org, which is not allowed."
    )
    assert sentence in refused.output
    assert "--host code.example.org" in refused.output
    tables, _ = _written(*words, "--host", "code.example.org")
    assert tables["hosts"] == ["code.example.org"]
    written = Path("birds.toml")
    written.write_text(written.read_text().replace('hosts = ["code', '# hosts = ["code'))
    checked = CliRunner().invoke(main, ["check", "birds.toml"])
    assert (checked.exit_code, sentence in checked.output) == (2, True), checked.output
    assert 'set hosts = ["code.example.org"]' in checked.output


@pytest.mark.parametrize("task", task_names())
def test_every_task_of_the_gallery_becomes_a_campaign(task: str) -> None:
    """With the items of its example; answers are held to what they can be."""
    example = (FOLDER / task / "example.jsonl").read_text()
    Path("items.jsonl").write_text(example.replace('"/pictures/', '"https://example.org/'))
    tables, output = _written("--task", task, "--items", "items.jsonl", "--yes")
    assert tables["task"] == task
    assert "columns" not in tables["items"]
    assert "WARNING" not in output


@pytest.mark.parametrize(
    ("kind", "words", "stated"),
    [
        ("describe", (), {}),
        ("choose", ("--question", "Food?", "--options", "yes, no"), {"options": ["yes", "no"]}),
        ("compare", ("--question", "Which?"), {"options": ["left", "right"]}),
        ("rate", ("--question", "How good?"), {"scale": [1, 5]}),
    ],
)
def test_a_generic_task_becomes_a_campaign_of_a_few_lines(
    kind: str, words: tuple[str, ...], stated: dict[str, object]
) -> None:
    """Its question and options are in the file; comments apart, it has seven lines at most."""
    rows = "\n".join(f"{n},https://a.org/{n}a.png,https://a.org/{n}b.png" for n in range(8))
    Path("pairs.csv").write_text(f"pair_id,left,right\n{rows}\n")
    tables, _ = _written("--task", kind, "--items", "pairs.csv", *words, "--yes")
    assert {name: tables[name] for name in stated} == stated
    text = Path("pairs.toml").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) <= 7
    refused = _init("more.toml", "--task", kind, "--items", "pairs.csv", "--yes")
    assert (refused.exit_code == 0) == (kind == "describe"), refused.output
    assert "--question" in refused.output or kind == "describe"


def test_photos_are_a_file_of_four_lines() -> None:
    """Everything else is derived, and nothing is stated twice."""
    _pictures(Path("photos"))
    _init("--task", "describe", "--items", "photos", "--yes")
    lines = [
        line.partition("#")[0].split() for line in Path("photos.toml").read_text().splitlines()
    ]
    assert [line[0] for line in lines if line] == ["task", "items", "answers", "hourly_wage"]


@pytest.mark.parametrize(
    ("items", "task", "words"),
    [
        ("photos", "describe", ()),
        ("notes.csv", "describe", ()),
        ("sounds.csv", "transcribe", ()),
        ("notes.csv", "choose", ("--options", "yes, no", "--question", "Is it clear?")),
        ("notes.csv", "compare", ("--options", "text, other", "--question", "Which?")),
    ],
)
def test_a_task_that_is_not_named_follows_from_the_items(
    items: str, task: str, words: tuple[str, ...]
) -> None:
    """What was derived is printed."""
    _pictures(Path("photos"))
    Path("notes.csv").write_text("id,text,other\n1,A sky,A sea\n2,A dog,A cat\n")
    Path("sounds.csv").write_text(
        "id,heard\n1,https://example.org/1.mp3\n2,https://example.org/2.mp3\n"
    )
    _, printed = _written("--items", items, *words, "--yes")
    assert f"assumed: Task: {task}, because " in printed
    assert tomllib.loads(next(Path().glob("*.toml")).read_text())["task"] == task


def test_a_name_is_plain_and_of_no_other_file() -> None:
    """Written once, it stays, whatever the file is called later."""
    _pictures(Path("photos"))
    Path("notes.toml").write_text("[name]\nx = 1\n")  # of no campaign
    files = ["Birds 2026.toml", "Birds.toml", "birds.toml", "BIRDS.toml", "birds-2.toml", "鳥.toml"]
    for file in (*files, *files):  # the second time over what is there
        done = _init(file, "--items", "photos", "--yes", "--force")
        assert done.exit_code == 0, done.output
        assert "has the name" not in done.output
    names = [load_campaign(Path(file)).name for file in files]
    assert names[:-1] == ["birds-2026", "birds", "birds-2", "birds-3", "birds-2-2"]
    assert len({*names}) == len(files)
    Path("birds-2026.toml").write_text('task = "describe"')
    assert "birds-2026.toml has the name 'birds-2026' too" in _check("Birds 2026.toml")


def test_a_name_with_a_digest_can_become_plain_until_a_store_has_it() -> None:
    """`check` states the line; a name that a file beside has is no longer free."""
    _pictures(Path("photos"))
    path = Path("My Birds.toml")
    path.write_text('task = "describe"\nitems = "photos/"\nhourly_wage = "10.00"\nanswers = 2\n')
    written = path.read_text()
    line = 'for a plain name, write this line before the first run: name = "my-birds"'
    assert line in _check(path.name)
    path.write_text(f'name = "my-birds"\n{written}')
    assert "digest" not in _check(path.name)
    path.rename("my-birds.toml")
    path.write_text(written)
    assert line.replace("my-birds", "my-birds-2") in _check(path.name)
    with opened_store(load_campaign(path)):
        pass
    assert "before the first run" not in _check(path.name)


@pytest.mark.parametrize("kind", STARTER_KINDS)
def test_a_task_of_one_s_own_becomes_a_campaign(kind: str) -> None:
    """Named from where one is, with or without a dot; the policy fits what is asked."""
    made = CliRunner().invoke(main, ["init", "--new-task", "dog", "--from", kind])
    assert made.exit_code == 0
    Path("dog.toml").unlink()
    tables, _ = _written("--task", "dog", "--items", "dog.csv", "--yes")
    assert tables["task"] == "./dog"
    wanted = {
        "text": "same_sentence",
        "choice": "straight_line",
        "choices": "straight_line",
        "scale": "low_scale_variance",
    }
    rules = tables["decisions"]["rule"]
    assert wanted[kind] in rules[0]["any_of"]
    assert wanted[kind] in rules[-1]["any_of"]


_FEW_SIZES = ((1, "1"), (3, "5"), (8, "2"), (40, "3"))


@pytest.mark.parametrize(
    ("count", "assignments"),
    [*_FEW_SIZES, *in_full(*sorted({*product((1, 3, 8, 40), "1235")} - {*_FEW_SIZES}))],
)
@pytest.mark.parametrize("task", ["caption", "correction", "severity", "dog", "p.html"])
def test_the_rules_that_are_written_can_all_apply(task: str, assignments: str, count: int) -> None:
    """`check` warns of none; what is left out is in one line of the file."""
    _own_tasks()
    rows = (
        f"r{n},https://example.org/{n}.jpg,A red car {n},A blue bus {n},color" for n in range(count)
    )
    header = "review_id,url,text,reference,error"
    Path("items.csv").write_text("\n".join([header, *rows, ""]))
    columns = {"correction": ("description=text",), "severity": ("description=text",)}
    words = ["--task", task, "--items", "items.csv", "--answers", assignments]
    for column in columns.get(task, ()):
        words += ["--column", column]
    tables, output = _written("c.toml", *words, "--yes")
    assert "the policy relies on" not in output
    assert tables["decisions"]["rule"][0]["any_of"][0] == "rule_violation"
    checked = CliRunner().invoke(main, ["check", "c.toml"])
    assert checked.exit_code == 0, checked.output
    assert "can never flag" not in checked.output
    text = Path("c.toml").read_text()
    # The file has an id, so no row is numbered.
    assert "review_id" in tables["items"]["columns"].values()
    assert "items are numbered" not in output
    # The comments at the top are the next commands.
    assert [line[:12] for line in text.splitlines()[:3]] == ["# piecework "] * 3


def _own_tasks() -> None:
    made = CliRunner().invoke(main, ["init", "--new-task", "dog"])
    assert made.exit_code == 0
    Path("dog.toml").unlink()
    Path("p.html").write_text(
        '<title>Look</title><p>${review_id} ${text}</p><input type="text" name="what">'
    )


def test_nothing_is_written_over_a_file_unless_forced() -> None:
    """Whatever the file's name came from."""
    _pictures(Path("photos"))
    words = ("--task", "caption", "--items", "photos", "--yes")
    Path("photos.toml").write_text("mine")
    for name in ((), ("photos.toml",)):
        refused = _init(*name, *words)
        assert refused.exit_code == 2
        assert "--force" in refused.output
        assert Path("photos.toml").read_text() == "mine"
    _written(*words, "--force")


def test_a_file_elsewhere_names_its_items_from_there() -> None:
    """Paths on the command line begin where one is, those in the file at the file."""
    _pictures(Path("photos"))
    done = _init("lab/one.toml", "--task", "caption", "--items", "photos", "--yes")
    assert done.exit_code == 0, done.output
    assert load_campaign(Path("lab/one.toml")).pictures_address == str(Path("photos").resolve())
    Path("birds.csv").write_text("image_id,url\n1,https://example.org/1.jpg\n")
    done = _init("new/one.toml", "--task", "caption", "--items", "birds.csv", "--yes")
    assert done.exit_code == 0, done.output
    assert len(load_campaign(Path("new/one.toml")).items) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give --items"),
        (("--task", "caption"), "--items: "),
        (("--items", "two.csv"), '--task compare --options "before,after"'),
        (("--items", "numbers.csv"), "neither pictures nor words are in columns id, n"),
        (("--items", "empty"), "empty has no picture"),
        (("--items", "none.csv"), "none.csv: no such file or folder"),
        (("photos", "--task", "caption"), "piecework init photos.toml --items photos"),
        (("/", "--yes"), "piecework init campaign.toml --items /"),
        (("my birds.csv",), "piecework init 'my birds.toml' --items 'my birds.csv'"),
        (("hit.html", "--items", "birds.csv"), "piecework init hit.toml --task hit.html"),
        (("--task", "captoin", "--items", "photos"), "did you mean 'caption'"),
        (("--task", "caption", "--items", "none"), "no such file or folder"),
        (("--task", "caption", "--items", "photos", "--minutes", "0"), "above 0"),
        (("--task", "caption", "--items", "photos", "--wage", "0"), "the wage is 0"),
        (("--task", "congruency", "--items", "photos"), "a picture does not have"),
    ],
)
def test_what_cannot_become_a_campaign_is_a_sentence(words: tuple[str, ...], message: str) -> None:
    """Exit code 2, and no file is left."""
    _pictures(Path("photos"))
    _pictures(Path("empty"), 0)
    Path("two.csv").write_text("id,before,after\n1,1.svg,2.svg\n2,3.svg,4.svg\n")
    Path("numbers.csv").write_text("id,n\n1,1\n2,2\n")
    refused = _init(*words, "--yes")
    assert refused.exit_code == 2
    assert message in refused.output
    assert not [*Path().glob("*.toml")]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Where a person types; what is written there is read as stdin."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as stdin, monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", stdin)
        yield ours
    os.close(ours)


def test_a_person_is_asked_and_asked_again(
    terminal: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong task is told and asked for again; Enter takes what is proposed."""
    Path("pairs.csv").write_text(
        "id,url,wording\n1,https://example.org/1,A dog\n2,https://example.org/2,A cat\n"
    )
    typed = ["congruence", "congruency", "pairs.csv", "wording", "3", "15"]
    os.write(terminal, "".join(f"{word}\n" for word in typed).encode())
    init.main([], standalone_mode=False)
    printed = capsys.readouterr()
    assert "did you mean 'congruency'" in printed.err
    tables = tomllib.loads(Path("pairs.toml").read_text())
    assert tables["items"]["columns"]["description"] == "wording"
    assert tables["answers"] == 3
    assert tables["hourly_wage"] == "15.00"
    assert not {"batches", "minutes", "reward", "description"} & tables.keys()


def test_a_person_is_asked_for_a_question_and_its_options(terminal: int) -> None:
    """The columns of the file are proposed for a comparison."""
    Path("pairs.csv").write_text("pair_id,left,right\n1,a,b\n2,c,d\n")
    typed = ["compare", "pairs.csv", "Which is clearer?", "", "3", "15"]
    os.write(terminal, "".join(f"{word}\n" for word in typed).encode())
    init.main([], standalone_mode=False)
    tables = tomllib.loads(Path("pairs.toml").read_text())
    assert tables["question"] == "Which is clearer?"
    assert tables["options"] == ["left", "right"]


def test_who_ends_at_a_question_has_written_nothing(
    terminal: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-D, as Ctrl-C, ends it with a sentence and the code of an interruption."""
    os.write(terminal, b"caption\n\x04")
    assert main.main(["init"], standalone_mode=False) == 130
    assert "interrupted: nothing was done" in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def test_a_program_gets_a_document_and_is_asked_nothing(
    terminal: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was assumed is listed, beside what `check --json` says."""
    assert terminal  # which could be asked
    _pictures(Path("photos"), 30)
    words = ["--task", "caption", "--items", "photos", "--json"]
    init.main(words, standalone_mode=False)
    document = json.loads(capsys.readouterr().out)
    assert document["written"] == "photos.toml"
    assert "Answers for each item: 5" in document["assumed"]
    assert (document["items"], document["reward_cents"]) == (30, 92)
    assert document["warnings"] == []


def test_titles_with_quotes_stay_what_they_are() -> None:
    """What a person says is written as TOML's text."""
    _pictures(Path("photos"))
    words = ("--task", "caption", "--items", "photos", "--yes")
    title = 'Say "what" is\\there, ünïcode'
    tables, _ = _written(*words, "--title", title)
    assert tables["posting"]["title"] == title


def test_a_task_that_is_none_is_answered_with_the_one_that_was_meant() -> None:
    """In a campaign file as well."""
    Path("a.toml").write_text(
        'name = "a"\ndescription = "a"\ntask = "captoin"\n'
        'budget = "1"\nhourly_wage = "1"\n[items]\nscenes = 2\n'
    )
    with pytest.raises(ConfigError, match="did you mean 'caption'"):
        load_campaign(Path("a.toml"))
