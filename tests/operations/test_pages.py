"""The pages: each command that a reader types exists, and each file is there."""

import re
import tomllib
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.config.user_files import COMMANDS
from tests.for_each import for_each
from tests.operations.deployed import DEPLOY, PAGES, ROOT, check_accepted, commands_of, shell_of

_GUIDE = PAGES / "one-small-server.md"
_WITH_COMMANDS = [
    (page, words) for page in sorted(PAGES.glob("*.md")) for words in commands_of(shell_of(page))
]


def test_the_guide_has_commands() -> None:
    """Otherwise the next test would say nothing."""
    calls = [" ".join(words) for page, words in _WITH_COMMANDS if page == _GUIDE]
    order = [
        next(number for number, call in enumerate(calls) if call.startswith(name))
        for name in ("init", "market serve", "market account")
    ]
    assert order == sorted(order)
    for name in ("check", "rehearse", "market people", "store restore", "review", "export"):
        assert any(call.startswith(name) for call in calls), name


@for_each("words", sorted({tuple(words) for _, words in _WITH_COMMANDS}))
def test_every_command_of_the_pages_is_accepted(words: tuple[str, ...]) -> None:
    """An option that was renamed fails here."""
    check_accepted(words)


@pytest.mark.parametrize("words", [["market", "serve", "--prot", "1"], ["backup"], ["srve"]])
def test_a_command_that_does_not_exist_is_noticed(words: list[str]) -> None:
    """By name, option, or missing argument."""
    with pytest.raises(click.UsageError):
        check_accepted(words)


def test_every_file_that_the_guide_copies_is_in_the_repository() -> None:
    """From the checkout, in the folder to which the guide changes."""
    folder = ROOT
    copied = 0
    for line in shell_of(_GUIDE).splitlines():
        if line.startswith("cd /opt/piecework-source"):
            folder = ROOT / line.removeprefix("cd /opt/piecework-source").strip("/")
        if line.startswith("cp "):
            *sources, _ = line.removeprefix("cp ").split()
            for source in sources:
                assert [*folder.glob(source)], source
                copied += 1
    assert copied >= 5


def test_the_settings_of_the_guide_are_accepted(tmp_path: Path) -> None:
    """Both files, as TOML and by the commands that read them."""
    texts = re.findall(r"<<'TOML'\n(.*?)^TOML$", shell_of(_GUIDE), re.MULTILINE | re.DOTALL)
    assert [list(tomllib.loads(text)) for text in texts] == [["serve"], ["run", "backup"]]
    (tmp_path / "photos").mkdir()
    (tmp_path / "consent.txt").write_text("We collect descriptions.\n")
    campaign = tmp_path / "birds.toml"
    campaign.write_text('name = "birds"\n')
    for text in texts:
        file = tmp_path / "options.toml"
        file.write_text(
            text.replace("/var/lib/piecework/campaigns", str(tmp_path)).replace(
                "/etc/piecework", str(tmp_path)
            )
        )
        for name in tomllib.loads(text):
            words = [*COMMANDS[name].split(), "--config", str(file), "--print-config"]
            arguments = [] if name == "serve" else [str(campaign)]
            shown = CliRunner().invoke(main, [*words, *arguments])
            assert shown.exit_code == 0, shown.output
            assert "# file" in shown.output


def test_alerts_of_the_server_name_what_exists() -> None:
    """Prometheus reads both files of rules that its configuration names."""
    configuration = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text())
    files = {
        path.name: path
        for path in (DEPLOY / "alerts.yaml", ROOT / "docs/how-to/alerts/piecework.yaml")
    }
    assert set(configuration["rule_files"]) == set(files)
    jobs = {job["job_name"] for job in configuration["scrape_configs"]}
    assert jobs == {"piecework", "machine"}
    rules = yaml.safe_load(files["alerts.yaml"].read_text())["groups"][0]["rules"]
    assert {rule["alert"] for rule in rules} == {"DoesNotAnswer", "UnitFailed", "DiskFillsUp"}
    unit = re.search(r'name=~"([^"]+)"', rules[1]["expr"])
    assert unit is not None
    assert re.fullmatch(unit[1].replace("\\\\", "\\"), "piecework-marketplace.service")
