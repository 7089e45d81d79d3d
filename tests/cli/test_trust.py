"""A campaign file from elsewhere reaches nothing until its user trusts it."""

import json
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.campaign.provenance import inputs_of
from piecework.cli.main import main
from piecework.config.campaign_file import parse, parse_untrusted
from piecework.config.changed_keys import changes
from piecework.config.machine_file import MachineFileTables
from piecework.config.named import Names, keys_of
from piecework.config.schema import CampaignTables
from piecework.config.trust import TRUST, fingerprint, reach_of, trust
from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.hit_templates.messages import FOLDER
from piecework.library.campaigns import rehearse
from tests.conftest import in_full
from tests.small_campaign import CAMPAIGN, MACHINE, write_received
from tests.trusted import trusted

HIDDEN = "geheim-42"
ITEMS = 'file = "items.csv"'
TASK = 'task = "caption"'
TEST = f'{TASK}\nqualification = "shared.toml"'

KEYS: dict[str, tuple[str, ...]] = {
    "task": ('task = "caption"', 'task = "{path}"'),
    "items.file": (ITEMS, 'file = "{path}"\n[grows]'),
    "pictures": (TASK, TASK + '\npictures = "{path}"'),
    "gold.file": ("[posting]", '[gold]\nfile = "{path}"\n[posting]'),
    "machine.votes.*": ("[posting]", '[machine]\nvotes = ["a", "{path}"]\n[posting]'),
    "machine.texts": ("[posting]", '[machine]\ntexts = "{path}"\n[posting]'),
    "requirements.only_workers_of.*": (
        "[posting]",
        '[requirements]\nonly_workers_of = ["{path}.toml"]\n[posting]',
    ),
    "requirements.no_workers_of.*": (
        "[posting]",
        '[requirements]\nno_workers_of = ["{path}.toml"]\n[posting]',
    ),
    "prolific.*.file": (
        "[posting]",
        '[prolific]\ncustom_allowlist = {{file = "{path}"}}\n[posting]',
    ),
    "qualification.task": (TASK, TEST, 'task = "{path}"\nitems = "a"\ncorrect_at_least.a = 1'),
    "qualification.items": (
        TASK,
        TEST,
        'task = "caption"\nitems = "{path}"\ncorrect_at_least.a = 1',
    ),
    "qualification.form": (TASK, TEST, 'form = "{path}"\nkey = "a"\ncorrect_at_least = 1'),
    "qualification.key": (TASK, TEST, 'form = "a"\nkey = "{path}"\ncorrect_at_least = 1'),
    "earned.*.records": (
        TASK,
        f'{TASK}\nearned = ["shared.toml"]',
        'name = "n"\nkind = "k"\nrecords = "{path}"',
    ),
    "output.folder": ("# the end", f'{MACHINE}[output]\nfolder = "{{path}}"'),
    "sink.*.*": (TASK, f'{TASK}\nsink = "{{path}}"'),
    "store.url": ("# the end", f'{MACHINE}[store]\nurl = "postgresql://{{path}}"'),
    "rehearsal.replay": ("# the end", '[rehearsal]\nreplay = "{path}"\n# the end'),
}
"""For each key that names a file, an address or a database: the text to replace, and what
stands in its place; if the key is of a shared file, that file too."""

INSIDE = {f"{key}.file" for key in ("qualification", "earned.*", "card", "fields", "imported")}
"""Keys of files that are never outside of the campaign file's folder."""


def test_the_cases_here_are_all_keys_that_can_reach_outside() -> None:
    """A new key of the schema that names something needs a case here."""
    named = {
        ".".join(each.key)
        for each in (*keys_of(CampaignTables), *keys_of(MachineFileTables))
        if each.names not in {Names.NOTHING, Names.LINK}
    }
    assert named == {*KEYS} | INSIDE


def reads(path: Path) -> bool:
    """Whether a campaign is read; otherwise it raises why not."""
    return parse(path).path == path


def naming(folder: Path, key: str, path: str) -> Path:
    """A campaign whose key names this path."""
    old, new, *shared = KEYS[key]
    for file in shared:
        (folder / "shared.toml").write_text(file.format(path=path))
    text = CAMPAIGN.replace('formats = ["csv"]\n', "")
    assert old in text
    if "[grows]" in new:
        text = text.replace("batches = 2\n", "")
    return write_received(folder, text.replace(old, new.format(path=path), 1))


def listed(folder: Path) -> list[str]:
    """All files and folders below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


PATHS = [
    "../private",
    "s3://bucket/${PW_HIDDEN}",
    "a/../../private",
    "/etc/passwd",
    "%2e%2e/private",
    "%252e%252e%2fprivate",
    "linked/private",
    "file:///etc/passwd",
    "file:../private",
    "FILE:/etc/passwd",
    "./${PW_HIDDEN}",
    "..\\\\private",
    "C:/private",
    "~/private",
]

# All keys go through the same function: each with two paths, and one of them with all.
_OFTEN = [(key, path) for key in sorted(KEYS) for path in PATHS[:2]]
_OFTEN += [("items.file", path) for path in PATHS[2:]]


@pytest.mark.parametrize(
    ("key", "path"),
    [*_OFTEN, *in_full(*(case for case in product(sorted(KEYS), PATHS) if case not in _OFTEN))],
)
def test_every_key_that_leads_out_needs_trust(
    key: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However its path is written; and the refusal has no value of a variable."""
    monkeypatch.setenv("PW_HIDDEN", HIDDEN)
    folder = tmp_path / "sent"
    folder.mkdir()
    (tmp_path / "private").mkdir()
    (folder / "linked").symlink_to(tmp_path)
    try:
        file = naming(folder, key, path)
        parse_untrusted(file)
    except ConfigError as fault:
        assert "task: name a task" in str(fault)  # noqa: PT017 - it takes no such text
        return
    before = listed(tmp_path)
    with pytest.raises(RefusedForSafety) as refused:
        load_campaign(file)
    plain = key.replace("*.", "").removesuffix(".*").split(".")[0]
    assert f"{plain}" in str(refused.value)
    assert HIDDEN not in f"{refused.value}{refused.value.next_step}"
    assert ("PW_HIDDEN" in str(refused.value)) == ("PW_HIDDEN" in path)
    assert "check" in refused.value.next_step
    assert listed(tmp_path) == before


def test_a_campaign_of_its_own_folder_needs_no_trust(tmp_path: Path) -> None:
    """Also by absolute paths, `..` and links that stay in it."""
    path = write_received(tmp_path)
    assert reach_of(parse(path)) == ()
    (tmp_path / "inner").mkdir()
    shutil.move(tmp_path / "items.csv", tmp_path / "inner" / "items.csv")
    (tmp_path / "link.csv").symlink_to("inner/items.csv")
    for named in (
        *("inner/items.csv", "inner/../inner/items.csv", "link.csv"),
        *(f"{tmp_path}/inner/items.csv", f"../{tmp_path.name}/inner/items.csv"),
    ):
        path.write_text(CAMPAIGN.replace("items.csv", named))
        assert len(load_campaign(path).items) == 4


def test_the_examples_need_no_trust_but_a_changed_one_does(tmp_path: Path) -> None:
    """They write into the folder that was copied."""
    assert CliRunner().invoke(main, ["init", "--examples", str(tmp_path)]).exit_code == 0
    folder = tmp_path / "config" / "campaigns"
    for example in folder.glob("*.toml"):
        if ".deployment." not in example.name:
            assert parse(example).out.is_relative_to(tmp_path)
    demo = folder / "demo.toml"
    text = demo.read_text()
    demo.write_text(f'sink = "../../other"\n{text}')
    with pytest.raises(RefusedForSafety):
        parse(demo)
    demo.write_text(text)
    (tmp_path / "private").mkdir()
    (folder / "out").symlink_to(tmp_path / "private")
    with pytest.raises(RefusedForSafety, match="private"):
        parse(demo)


def test_a_key_is_named_as_the_file_writes_it(tmp_path: Path) -> None:
    """A text by its key, the second of several by its number."""
    for sink, name in (
        ('sink = "../other"\n', "sink"),
        ('sink = ["here", "../other"]\n', "sink[2]"),
        ('sink = "../other manifest"\n', "sink"),
    ):
        text = CAMPAIGN.replace('["csv"]', '["parquet"]')
        path = write_received(tmp_path, sink + text)
        with pytest.raises(RefusedForSafety) as refused:
            parse(path)
        assert f": {name} ../other (" in str(refused.value)


def test_a_format_hides_no_link(tmp_path: Path) -> None:
    """The address is looked at without it."""
    (tmp_path / "sent").mkdir()
    path = write_received(tmp_path / "sent", 'sink = "link manifest"\n' + CAMPAIGN)
    path.with_name("link").symlink_to(tmp_path)
    with pytest.raises(RefusedForSafety, match="sink link "):
        parse(path)


@pytest.mark.parametrize("link", ["out", "out/crash", "out/crash/dataset/a.csv"])
def test_a_link_among_the_results_needs_trust(tmp_path: Path, link: str) -> None:
    """Else a folder that somebody sent decides which files are written over."""
    folder = tmp_path / "sent"
    folder.mkdir()
    path = write_received(folder)
    private = tmp_path / "private"
    private.mkdir()
    (private / "precious").write_text("precious")
    (folder / link).parent.mkdir(parents=True, exist_ok=True)
    (folder / link).symlink_to(private)
    with pytest.raises(RefusedForSafety, match=r"output\.folder .*private"):
        parse(path)
    trusted(path)
    assert reads(path)
    (tmp_path / "more").mkdir()
    (folder / link).unlink()
    (folder / link).symlink_to(tmp_path / "more")
    with pytest.raises(RefusedForSafety, match="has changed since"):
        parse(path)


COMMANDS = [
    *("preview", "rehearse", "export", "status", "stop", "store archive"),
    *("export --report-only", "rehearse --times 2", "review", "pay"),
    *("data analyse", "data assess", "data words", "data import --as"),
    *("review --csv a.csv", "store backup --to file:///tmp/x", "workers list"),
    *("run --once --endpoint http://127.0.0.1:9", "market serve --simulate"),
    *("run --endpoint http://127.0.0.1:9 --live", "store reconcile", "check --reach"),
    *("pay --rejected a --because b --by c", "workers earned"),
]


def command(words: str, path: Path) -> Result:
    """Run a command on a campaign."""
    if words.endswith((" --as", " --simulate")):
        return CliRunner().invoke(main, [*words.split(), str(path)])
    before, flag, options = words.partition(" --")
    return CliRunner().invoke(main, [*before.split(), str(path), *f"{flag}{options}".split()])


@pytest.mark.parametrize("words", COMMANDS)
def test_no_command_opens_what_an_untrusted_campaign_names(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 3, with what it names and the next command; nothing is sent or made."""
    monkeypatch.setenv("PW_HIDDEN", HIDDEN)
    monkeypatch.chdir(tmp_path)
    with listening() as (port, heard):
        text = CAMPAIGN.replace(
            ITEMS,
            'query = "SELECT 1"\nfile = '
            f'"postgresql+psycopg://a:${{PW_HIDDEN}}@127.0.0.1:{port}/b"\n[grows]',
        ).replace("batches = 2\n", "")
        folder = tmp_path / "sent"
        folder.mkdir()
        path = write_received(folder, text)
        before = listed(tmp_path)
        done = command(words, path)
        assert heard == []
    assert done.exit_code == 3, done.output
    assert f"a:${{PW_HIDDEN}}@127.0.0.1:{port}/b" in done.output
    assert "--trust --variable PW_HIDDEN" in " ".join(done.output.split())
    assert HIDDEN not in done.output
    assert listed(tmp_path) == before


def test_the_library_opens_no_untrusted_campaign(tmp_path: Path) -> None:
    """As the commands."""
    folder = tmp_path / "sent"
    folder.mkdir()
    path = naming(folder, "output.folder", "../results")
    with pytest.raises(RefusedForSafety):
        rehearse(path)
    assert listed(folder) == ["crash.toml", "items.csv", "piecework.toml"]


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """A server that remembers what it hears, and its port."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                heard.append(b"came")
                client.close()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], heard
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "more",
    [
        'sink = "http://127.0.0.1:{port}/${{PW_HIDDEN}}"\n#top',
        'sink = "postgresql+psycopg://a:${{PW_HIDDEN}}@127.0.0.1:{port}/b#a history"\n#top',
        'sink = "sqlite:///{folder}/new.db#a"\n#top',
        f'{MACHINE}[store]\nurl = "postgresql://a:${{{{PW_HIDDEN}}}}@127.0.0.1:{{port}}/b"',
        '[rehearsal]\nreplay = "../private.jsonl"',
        '[machine]\ntexts = "/dev/stdin"',
        '[requirements]\nno_workers_of = ["../private.toml"]',
        '[prolific]\ncustom_allowlist = {{file = "/proc/self/environ"}}',
    ],
)
def test_a_check_renders_and_prices_what_it_does_not_trust(
    more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what it left out, and opens, makes and sends nothing."""
    monkeypatch.setenv("PW_HIDDEN", HIDDEN)
    folder = tmp_path / "sent"
    folder.mkdir()
    (tmp_path / "private.jsonl").write_text(HIDDEN)
    with listening() as (port, heard):
        added = more.format(port=port, folder=tmp_path)
        text = CAMPAIGN.replace('formats = ["csv"]\n', "").replace('"5.00"', '"9.00"')
        stated = f"{added}\n{text}" if added.endswith("#top") else f"{text}\n{added}\n"
        path = write_received(folder, stated)
        before = listed(tmp_path)
        done = CliRunner().invoke(main, ["check", str(path), "--json"])
        assert heard == []
    assert done.exit_code == 0, done.output
    document = json.loads(done.output)
    assert document["items"] == 4
    assert document["expected_cents"] > 0
    assert "is not trusted yet" in document["warnings"][0]
    assert HIDDEN not in done.output
    assert listed(tmp_path) == before


def test_trust_ends_when_the_campaign_changes(tmp_path: Path) -> None:
    """Its file or what it is made of; data does not count."""
    folder = tmp_path / "sent"
    folder.mkdir()
    shutil.copytree(FOLDER / "_starters" / "text", folder / "mine")
    text = CAMPAIGN.replace('"caption"', '"./mine"').replace("# the end", OUT)
    path = write_received(folder, text)
    trusted(path)
    assert parse(path).out == tmp_path / "results/crash"
    with (folder / "items.csv").open("a") as items:
        items.write("p9,https://example.org/9.jpg\n")
    assert reads(path)
    template = folder / "mine" / "question.html.j2"
    for changed in (path, template, folder / "mine" / "task.toml"):
        before = changed.read_bytes()
        changed.write_bytes(before + b"\n")
        with pytest.raises(RefusedForSafety, match="has changed since it was trusted"):
            parse(path)
        changed.write_bytes(before)
        assert reads(path)
    (folder / "mine" / "more.js").write_text("1")
    with pytest.raises(RefusedForSafety, match="has changed"):
        parse(path)


def test_a_file_inside_a_page_needs_no_trust_of_its_own(tmp_path: Path) -> None:
    """It lies in the folder and names nothing for this machine; the page counts."""
    folder = tmp_path / "sent"
    folder.mkdir()
    text = CAMPAIGN.replace('task = "caption"', 'task = "hit.html"')
    path = write_received(folder, text.replace("# the end", OUT))
    page, style = folder / "hit.html", folder / "style.css"
    page.write_text("<link rel=stylesheet href=style.css><input name=a>${url}")
    style.write_text("p { color: red }")
    trusted(path)
    before = inputs_of(parse(path))
    style.write_text("p { background: url(../out.png) }")
    assert changes(before, inputs_of(parse(path))) == ("task: style.css",)
    page.write_text(f"{page.read_text()} ")
    with pytest.raises(RefusedForSafety, match="has changed since it was trusted"):
        parse(path)


OUT = f'{MACHINE}[output]\nfolder = "../results"'


def test_another_place_needs_trust_of_its_own(tmp_path: Path) -> None:
    """The same `..` names other files there."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_received(tmp_path / name, CAMPAIGN.replace("# the end", OUT))
    trusted(tmp_path / "a" / "crash.toml")
    assert reads(tmp_path / "a" / "crash.toml")
    with pytest.raises(RefusedForSafety):
        parse(tmp_path / "b" / "crash.toml")


def test_an_earlier_campaign_needs_trust_of_its_own(tmp_path: Path) -> None:
    """Its file says where its store is."""
    earlier = tmp_path / "earlier"
    earlier.mkdir()
    named = '[requirements]\nno_workers_of = ["earlier/crash.toml"]\n[posting]'
    path = write_received(tmp_path, CAMPAIGN.replace("[posting]", named))
    write_received(earlier, CAMPAIGN.replace("# the end", OUT.replace("../", "/x/")))
    with pytest.raises(RefusedForSafety, match=r"earlier/crash\.toml"):
        load_campaign(path)


def test_only_variables_that_the_user_named_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trust alone gives a campaign none of them."""
    monkeypatch.setenv("PW_HIDDEN", HIDDEN)
    store = MACHINE + '[store]\nurl = "postgresql://a:${PW_HIDDEN}@127.0.0.1:9/b"'
    path = write_received(tmp_path, CAMPAIGN.replace("# the end", store))
    trusted(path)
    with pytest.raises(RefusedForSafety, match=r"may not have .* PW_HIDDEN") as refused:
        parse(path)
    assert "--variable PW_HIDDEN" in refused.value.next_step
    trusted(path, "PW_OTHER")
    with pytest.raises(RefusedForSafety):
        parse(path)
    trusted(path, "PW_HIDDEN")
    assert HIDDEN in parse(path).store_url


def test_no_message_proposes_to_hand_over_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are listed, and a person who means them types their names."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", HIDDEN)
    store = MACHINE + '[store]\nurl = "postgresql://a:${AWS_SECRET_ACCESS_KEY}@h/b"'
    path = write_received(tmp_path, CAMPAIGN.replace("# the end", store))
    for _ in range(2):
        with pytest.raises(RefusedForSafety, match="AWS_SECRET_ACCESS_KEY") as refused:
            parse(path)
        assert "--variable" not in refused.value.next_step
        trusted(path)


def test_a_machine_without_a_person_trusts_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a fingerprint that `check --trust` prints; another content is refused."""
    monkeypatch.setenv("PW_HIDDEN", HIDDEN)
    store = MACHINE + '[store]\nurl = "postgresql://a:${PW_HIDDEN}@127.0.0.1:9/b"'
    text = CAMPAIGN.replace("# the end", store)
    path = write_received(tmp_path, text)
    (tmp_path / "at home").mkdir()
    home = write_received(tmp_path / "at home", text)
    options = ["--trust", "--variable", "PW_HIDDEN"]
    done = CliRunner().invoke(main, ["check", str(home), *options])
    (line,) = (line for line in done.output.splitlines() if TRUST in line)
    entry = line.partition("=")[2]
    digest = fingerprint(parse_untrusted(path))
    assert entry == f"{digest}:PW_HIDDEN"
    with pytest.raises(RefusedForSafety):
        parse(path)
    monkeypatch.setenv(TRUST, digest)
    with pytest.raises(RefusedForSafety, match="PW_HIDDEN"):
        parse(path)
    monkeypatch.setenv(TRUST, f"{'0' * 64} {entry}")
    assert reads(path)
    path.write_text(path.read_text() + "\n")
    with pytest.raises(RefusedForSafety):
        parse(path)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The list of trusted campaigns, with one of them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "sent").mkdir()
    path = write_received(tmp_path / "sent", CAMPAIGN.replace("# the end", OUT))
    trusted(path)
    assert reads(path)
    return tmp_path / "state" / "piecework" / "trusted.json"


def _sent(state: Path) -> Path:
    return state.parents[2] / "sent" / "crash.toml"


def test_the_list_is_private(state: Path) -> None:
    """Nobody else reads or writes it."""
    assert state.stat().st_mode & 0o777 == 0o600
    assert state.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_list_that_others_can_write_is_refused(state: Path, mode: int) -> None:
    """With its path and what to do."""
    state.chmod(mode)
    with pytest.raises(ConfigError, match="others can write to it") as refused:
        parse(_sent(state))
    assert str(state) in refused.value.next_step


def test_a_folder_that_others_can_write_is_refused(state: Path) -> None:
    """They could put another list in its place."""
    state.parent.chmod(0o777)
    with pytest.raises(ConfigError, match="others can write to it"):
        parse(_sent(state))


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("whose", ["list", "folder"])
def test_a_list_of_another_user_is_refused(state: Path, whose: str) -> None:
    """Whoever wrote it, it was not this user."""
    os.chown(state if whose == "list" else state.parent, 12345, -1)
    with pytest.raises(ConfigError, match="another user owns it"):
        parse(_sent(state))


def test_a_list_that_is_a_link_or_damaged_is_refused(state: Path) -> None:
    """Nothing is trusted by half a file."""
    state.write_text(state.read_text()[:20])
    with pytest.raises(ConfigError, match="damaged"):
        parse(_sent(state))
    state.rename(state.with_name("real"))
    state.symlink_to("real")
    with pytest.raises(ConfigError, match="cannot be used"):
        parse(_sent(state))


def test_a_lost_list_trusts_nothing(state: Path) -> None:
    """As on a new machine."""
    state.unlink()
    with pytest.raises(RefusedForSafety, match="is not trusted yet"):
        parse(_sent(state))


def test_many_at_once_lose_no_trust(state: Path, tmp_path: Path) -> None:
    """Each process reads the list before it writes it, alone."""
    paths = []
    for number in range(8):
        (tmp_path / str(number)).mkdir()
        text = CAMPAIGN.replace("# the end", OUT)
        paths.append(write_received(tmp_path / str(number), text))
    threads = [threading.Thread(target=trust, args=[parse_untrusted(path)]) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(reads(path) for path in [*paths, _sent(state)])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_deployment_at_another_machine_needs_trust(tmp_path: Path, encoding: str) -> None:
    """A pass would send the campaign's items there, also if a byte order mark begins the file."""
    path = write_received(tmp_path)
    deployment = tmp_path / "crash.deployment.toml"
    deployment.write_text('endpoint = "http://127.0.0.1:8080"\n', encoding)
    assert reads(path)
    deployment.write_text('endpoint = "https://hits.example.org"\n', encoding)
    with pytest.raises(RefusedForSafety, match=r"https://hits\.example\.org"):
        parse(path)
    trusted(path)
    assert reads(path)
    deployment.write_text('endpoint = "https://other.example.org"\n', encoding)
    with pytest.raises(RefusedForSafety, match="has changed"):
        parse(path)


@pytest.mark.parametrize(
    "content",
    [
        b'endpoint = "https://hits.example.org"\nanew = 1\n',
        b'endpoint = "https://hits.example.org"\n\xff\n',
        b'endpoint = "https://hits.example.org"\n[',
        b"endpoint = 1\n",
        b"#" * 1_000_001 + b'\nendpoint = "https://hits.example.org"\n',
    ],
)
def test_a_deployment_file_with_faults_opens_nothing(tmp_path: Path, content: bytes) -> None:
    """What a pass would read in it is not known."""
    path = write_received(tmp_path)
    (tmp_path / "crash.deployment.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"crash\.deployment\.toml"):
        parse(path)


@pytest.mark.parametrize(
    "option",
    [
        *("options=-csearch_path%3Dx", "service=x", "passfile=/etc/passwd"),
        *("host=127.0.0.2", "hostaddr=127.0.0.2", "sslkey=/a", "%73ervice=x"),
        *("sslmode=disable&service=x", "host=/run,127.0.0.2", "requirepeer=x"),
    ],
)
def test_options_of_a_store_come_from_a_list(tmp_path: Path, option: str) -> None:
    """Others name files, or another server than the URL shows."""
    store = MACHINE + f'[store]\nurl = "postgresql://a@127.0.0.1:9/b?{option}"'
    path = trusted(write_received(tmp_path, CAMPAIGN.replace("# the end", store)))
    with pytest.raises(ConfigError, match=r"store\.url: the option"):
        load_campaign(path)


def test_a_password_in_the_file_is_not_shown(tmp_path: Path) -> None:
    """Refusals are logged."""
    store = MACHINE + '[store]\nurl = "postgresql://a:geheim@127.0.0.1:9/b"'
    path = write_received(tmp_path, CAMPAIGN.replace("# the end", store))
    with pytest.raises(RefusedForSafety) as refused:
        parse(path)
    assert "geheim" not in str(refused.value)
    assert "postgresql://a:***@127.0.0.1:9/b" in str(refused.value)
