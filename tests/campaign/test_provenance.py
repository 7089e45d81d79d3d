"""Every file that a campaign names is among its inputs, and a change of it shows."""

from fnmatch import fnmatch
from pathlib import Path

import pytest

from piecework.campaign.provenance import inputs_of
from piecework.config.campaign_file import parse, parse_text
from piecework.config.changed_keys import changes
from piecework.config.named import Names, keys_of
from piecework.config.schema import CampaignTables
from piecework.engine.pass_request import PassRequest
from tests.growing_campaign import names, write_growing
from tests.small_campaign import CAMPAIGN, write_campaign

_H = "[heuristics]"
_TEST = 'task = "caption"=>task = "caption"\nqualification = "test.toml"'
NAMED: dict[str, tuple[str, str]] = {
    # key: how a campaign file names it, the file
    "task": ('task = "caption"=>task = "./dog"', "dog/question.html.j2"),
    "items.file": ("", "items.csv"),
    "pictures": ('task = "caption"=>task = "caption"\npictures = "photos"', "photos/a.jpg"),
    "gold.file": ("[posting]=>[gold]\nfile = 'g.csv'\n[posting]", "g.csv"),
    "machine.votes.*": ("[posting]=>[machine]\nvotes = ['v.csv']\n[posting]", "v.csv"),
    "machine.texts": ("[posting]=>[machine]\ntexts = 't.csv'\n[posting]", "t.csv"),
    "requirements.only_workers_of.*": (
        "[heuristics]=>[requirements]\nonly_workers_of = ['b.toml']\n[heuristics]",
        "b.toml",
    ),
    "requirements.no_workers_of.*": (
        "[heuristics]=>[requirements]\nno_workers_of = ['b.toml']\n[heuristics]",
        "b.toml",
    ),
    "prolific.*.file": (
        f"{_H}=>[prolific]\ncustom_allowlist = {{file = 'ids'}}\n{_H}",
        "ids",
    ),
    "qualification.task": (_TEST, "dog/task.toml"),
    "qualification.items": (_TEST, "q.csv"),
    "qualification.form": (_TEST, "form.xml"),
    "qualification.key": (_TEST, "key.xml"),
    "rehearsal.replay": ("# the end=>[rehearsal]\nreplay = 'r.txt'\n# the end", "r.txt"),
}


def test_each_key_that_names_a_file_is_tried_here() -> None:
    """A new key of the schema that names a file fails here until it is in the table."""
    keys = {
        ".".join(named.key)
        for named in keys_of(CampaignTables)
        if named.names in {Names.INPUT, Names.DEFINITION}
    }
    shared = ("qualification", "earned.*", "card", "fields", "imported")
    assert keys == NAMED.keys() | {f"{key}.file" for key in shared}


@pytest.mark.parametrize("key", NAMED)
def test_a_changed_file_is_another_input_and_another_request(tmp_path: Path, key: str) -> None:
    """A pass looks again, a rehearsal begins again, and the change has a name."""
    (stated, named), path = NAMED[key], write_campaign(tmp_path)
    usual, _, other = stated.partition("=>")
    path.write_text(CAMPAIGN.replace(usual, other) if stated else CAMPAIGN)
    test = "task = './dog'\nitems = 'q.csv'\ncorrect_at_least = {a = 1}\n"
    if named.endswith(".xml"):
        test = "form = 'form.xml'\nkey = 'key.xml'\ncorrect_at_least = 1\n"
    (tmp_path / "test.toml").write_text(test)
    file = tmp_path / named
    file.parent.mkdir(exist_ok=True)
    file.write_text("before")
    before, request = inputs_of(parse(path)), _request(path)
    assert inputs_of(parse(path)) == before
    assert _request(path) == request
    file.write_text("afterwards")
    (changed,) = changes(before, inputs_of(parse(path)))
    assert fnmatch(changed.split(":")[0], key)
    assert _request(path) != request
    file.unlink()
    assert changes(before, inputs_of(parse(path)))


def _request(path: Path) -> str:
    return PassRequest(campaign=path, endpoint="http://127.0.0.1:1").digest()


def test_results_inside_a_task_s_folder_are_no_input(tmp_path: Path) -> None:
    """A folder that is both would change with each pass."""
    text = CAMPAIGN.replace('task = "caption"', 'task = "."')
    path = write_campaign(tmp_path, text)
    before = inputs_of(parse(path))
    (tmp_path / "out/crash").mkdir(parents=True)
    (tmp_path / "out/crash/piecework.db").write_text("results")
    assert not changes(before, inputs_of(parse(path)))


def test_rows_of_a_growing_source_are_no_input(tmp_path: Path) -> None:
    """Its passes take them in, and the store has each row that was dealt."""
    path = write_growing(tmp_path, names(1, 2))
    assert "items.file" not in str(inputs_of(parse(path)).digests)


def test_changed_keys_are_named_and_a_comment_is_a_change_too(tmp_path: Path) -> None:
    """So a user reads which keys a result does not know yet."""
    path = write_campaign(tmp_path)
    before = inputs_of(parse(path))

    def changed(text: str) -> tuple[str, ...]:
        return changes(before, inputs_of(parse_text(path, text)))

    assert changed(CAMPAIGN) == ()
    assert changed(f"{CAMPAIGN}# more") == ("how the campaign file is written",)
    assert changed(CAMPAIGN.replace('"0.50"', '"0.40"')) == ("reward",)
    assert changed(CAMPAIGN.replace("share = 1.0", "")) == ("decisions.rule",)
    assert changed(CAMPAIGN.replace("batches = 2", "batches = 1")) == ("batches",)


def test_a_changed_file_beside_a_page_is_another_input(tmp_path: Path) -> None:
    """Also one that a style names, and one that was not there before."""
    stated = CAMPAIGN.replace('task = "caption"', 'task = "hit.html"')
    path = write_campaign(tmp_path)
    path.write_text(stated)
    (tmp_path / "hit.html").write_text("<link href=a.css><input name=q>")
    (tmp_path / "a.css").write_text("p { background: url(b.png) }")
    before, request = inputs_of(parse(path)), _request(path)
    (tmp_path / "b.png").write_bytes(b"x")
    assert changes(before, inputs_of(parse(path))) == ("task: b.png",)
    assert _request(path) != request
