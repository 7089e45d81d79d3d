"""Options from a file and from environment variables, for supervisors."""

import os
import re
import subprocess
import tomllib
from contextlib import suppress
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from piecework.cli.configuration import READ
from piecework.cli.lazy_group import LazyCommand
from piecework.cli.main import main
from piecework.config.user_files import COMMANDS
from tests.marketplace.market import free_port
from tests.marketplace.served_apart import PIECEWORK
from tests.test_layout import LINKED, PACKAGE

SERVE = """
[serve]
port = 9090
crowd = ["prolific", "connect"]
spend-at-most = ["prolific=20", "connect=10"]
live = true
site-url = "https://hits.example.org"
tls = ["chain.pem", "key.pem"]

[run]
poll-seconds = 2.5
"""


def _printed(
    *words: str, folder: Path, text: str = "", environment: dict[str, str] | None = None
) -> Result:
    """What a command prints of its options."""
    file = folder / "piecework.toml"
    file.write_text(text, encoding="utf-8")
    return CliRunner().invoke(
        main, [*words, "--config", str(file), "--print-config"], env=environment or {}
    )


def _table(result: Result) -> dict[str, object]:
    assert result.exit_code == 0, result.output
    [table] = tomllib.loads(result.output).values()
    assert isinstance(table, dict)
    return table


def test_command_line_then_environment_then_file_then_default(tmp_path: Path) -> None:
    """Each wins over those after it, and the output says which did."""
    for name in ("chain.pem", "key.pem"):
        (tmp_path / name).touch()
    text = SERVE.replace('"chain.pem", "key.pem"', f'"{tmp_path}/chain.pem", "{tmp_path}/key.pem"')
    environment = {"PIECEWORK_SERVE_PORT": "9191", "PIECEWORK_SERVE_SEED": "5"}
    shown = _printed(
        "market", "serve", "--seed", "6", folder=tmp_path, text=text, environment=environment
    )
    table = _table(shown)
    assert table["seed"] == 6
    assert table["port"] == 9191
    assert table["live"] is True
    assert table["crowd"] == ["prolific", "connect"]
    assert table["tls"] == [f"{tmp_path}/chain.pem", f"{tmp_path}/key.pem"]
    assert table["frames-port"] == 8081
    for line in (
        "seed = 6  # command line",
        "port = 9191  # environment",
        "live = true  # file",
        "frames-port = 8081  # default",
        "# panel is not set",
    ):
        assert line in shown.output.splitlines()


def test_what_is_printed_is_a_file_that_says_the_same(tmp_path: Path) -> None:
    """So a command line becomes a file."""
    words = ("market", "serve", "--port", "0", "--crowd", "connect", "--host", "::1")
    first = _table(_printed(*words, folder=tmp_path))
    text = _printed(*words, folder=tmp_path).output
    assert _table(_printed("market", "serve", folder=tmp_path, text=text)) == first


def test_the_file_may_be_named_in_the_environment(tmp_path: Path) -> None:
    """A supervisor sets it once for all programs."""
    file = tmp_path / "piecework.toml"
    file.write_text(SERVE.replace('tls = ["chain.pem", "key.pem"]\n', ""))
    shown = CliRunner().invoke(
        main, ["market", "serve", "--print-config"], env={"PIECEWORK_CONFIG": str(file)}
    )
    assert _table(shown)["port"] == 9090


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[serve]\nprot = 1", "prot: there is no such option; did you mean port?"),
        ("[srve]\nport = 1", "[srve]: no command has this name"),
        ("port = 1", "port: put this key into a table, such as [serve]"),
        ('[serve]\nport = "1"', 'port: "1" is not a whole number'),
        ("[serve]\nport = true", "port: true is not a whole number"),
        ("[serve]\nlive = 1", "live: 1 is not true or false"),
        ("[serve]\nhost = 1", "host: 1 is not a text in quotes"),
        (
            '[serve]\ndatabase = "a\\u0000b"',
            r'database: "a\u0000b" is not a text in quotes, without control',
        ),
        ("[serve]\nhost = ['a']", 'host: ["a"] is not a text in quotes'),
        ("[serve]\ntls = ['a', 1]", 'tls: ["a", 1] is not a list of 2 texts'),
        ("[serve]\ntls = ['a']", 'tls: ["a"] is not a list of 2 texts'),
        ("[serve]\nclock-is-right = true", "give it on the command line"),
        ("[serve]\nport = ", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused_before_anything_starts(
    tmp_path: Path, text: str, sentence: str
) -> None:
    """Each fault in a sentence that names the file and the key."""
    refused = _printed("market", "serve", folder=tmp_path, text=text)
    assert refused.exit_code == 2
    assert sentence in refused.output
    assert "piecework.toml" in refused.output


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    """Nobody repairs a file key by key."""
    refused = _printed("market", "serve", folder=tmp_path, text="[serve]\na = 1\nb = 2\n[c]\n")
    assert refused.output.count("piecework.toml:") == 3


def test_a_value_out_of_range_is_refused_as_on_the_command_line(tmp_path: Path) -> None:
    """By the same check."""
    refused = _printed("market", "serve", folder=tmp_path, text="[serve]\nhits-per-visit = 1000")
    assert refused.exit_code == 2
    assert "0<=x<=100" in refused.output


def test_an_environment_variable_of_several_values_is_split(tmp_path: Path) -> None:
    """At white space."""
    environment = {"PIECEWORK_SERVE_CROWD": "prolific connect"}
    shown = _printed("market", "serve", folder=tmp_path, environment=environment)
    assert _table(shown)["crowd"] == ["prolific", "connect"]


def test_a_variable_from_before_still_counts(tmp_path: Path) -> None:
    """`run` has had one for its marketplace."""
    for name in ("PIECEWORK_ENDPOINT", "PIECEWORK_RUN_ENDPOINT"):
        shown = _printed("run", "birds", folder=tmp_path, environment={name: "http://127.0.0.1:1"})
        assert _table(shown)["endpoint"] == "http://127.0.0.1:1"


def test_a_variable_that_no_command_reads_is_named_once(tmp_path: Path) -> None:
    """The setting of a removed option would be lost; a command names only its own variables."""
    unread = {
        "PIECEWORK_REVIEW_LISTEN": "`piecework review --help` lists its options",
        "PIECEWORK_REVIEW_SITEURL": "did you mean PIECEWORK_REVIEW_SITE_URL?",
        "PIECEWORK_STOR_URL": "did you mean PIECEWORK_STORE_URL?",
    }
    others = (
        *("PIECEWORK_REVIEW_PORT", "PIECEWORK_RUN_NONE", "PIECEWORK_PREFECT_AUTH"),
        # A person's own, in addresses of a campaign file, and a cluster's.
        *("PIECEWORK_STORE_USER", "PIECEWORK_S3_ENDPOINT", "PIECEWORK_CONFIG_DIR"),
        *("PIECEWORK_REVIEW_SERVICE_HOST", "PIECEWORK_REVIEW_PORT_80_TCP_ADDR"),
    )
    environment = dict.fromkeys((*unread, *others), "1")
    shown = _printed("review", "birds", folder=tmp_path, environment=environment)
    assert tomllib.loads(shown.stdout)["review"]["port"] == 1
    warned = [line for line in shown.stderr.splitlines() if "WARNING" in line]
    assert len(warned) == len(unread)
    for name, hint in unread.items():
        assert f"WARNING: piecework reads no environment variable {name}; {hint}" in warned


def test_a_shell_that_completes_a_word_gets_no_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would stand in the middle of what a person types."""
    monkeypatch.setenv("PIECEWORK_RUN_NONE", "1")
    command = main.get_command(click.Context(main), "run")
    assert isinstance(command, LazyCommand)
    loaded = command.load()
    loaded.make_context("run", [], resilient_parsing=True)
    assert capsys.readouterr().err == ""
    with suppress(click.UsageError):
        loaded.make_context("run", [])
    assert "PIECEWORK_RUN_NONE" in capsys.readouterr().err


def test_the_variables_that_no_option_has_are_those_of_the_code() -> None:
    """Written in the code, each is read there; options make theirs of their names."""
    folders = [PACKAGE, *(PACKAGE / name for name in LINKED)]
    texts = [file.read_text() for folder in folders for file in folder.rglob("*.py")]
    written = {name for text in texts for name in re.findall('"PIECEWORK_([A-Z_]+)"', text)}
    of_options = {name for name in written if name.split("_")[0].lower() in COMMANDS}
    assert written - of_options == READ
    assert of_options == {"RUN_SPEND_AT_MOST"}


def test_passwords_in_addresses_are_not_printed(tmp_path: Path) -> None:
    """The output goes into logs and tickets."""
    text = '[serve]\nnotify-url = "http://ann:hush@127.0.0.1:9/?token=hush"'
    shown = _printed("market", "serve", folder=tmp_path, text=text)
    assert "hush" not in shown.output
    assert "http://***@127.0.0.1:9/?token=***" in shown.output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_configured_command_has_a_key(command: str) -> None:
    """Its help names the file, and the table has a line for each option."""
    shown = CliRunner().invoke(main, [*COMMANDS[command].split(), "--help"])
    assert "--config FILE" in shown.output
    assert "--print-config" in shown.output


def test_a_server_starts_from_a_file_alone(tmp_path: Path) -> None:
    """As a process; the database and the ports are those of the file."""
    database, file = tmp_path / "market.db", tmp_path / "piecework.toml"
    port = free_port()
    file.write_text(
        f'[serve]\ndatabase = "{database}"\nport = {port}\nframes-port = 0\nrehearsal = true\n'
    )
    with subprocess.Popen(
        [*PIECEWORK, "market", "serve"],
        env={**os.environ, "PIECEWORK_CONFIG": str(file)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert f"http://127.0.0.1:{port}" in process.stdout.readline()
        process.terminate()
        process.wait(timeout=60)
    assert database.exists()
