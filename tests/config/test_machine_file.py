"""The machine's file: one rule finds it, and all of piecework finds the same store."""

import subprocess
from pathlib import Path

import pytest

import piecework
from piecework.campaign.rehearsal_folders import begin_rehearsal
from piecework.config.campaign_file import parse
from piecework.config.trust import refusal_of
from piecework.domain.errors import ConfigError, RefusedForSafety
from tests.marketplace.served_apart import PIECEWORK
from tests.small_campaign import CAMPAIGN, MACHINE, write_campaign, write_received

FEES = """
[[fees]]
valid_from = 2020-01-01
percent = {percent}
source = "what our marketplace takes"
"""


def test_the_environment_names_it_or_it_is_beside_the_campaign_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment counts first; its folders are relative to it."""
    path = write_campaign(tmp_path)
    assert parse(path).out == tmp_path / "out/crash"
    write_campaign(tmp_path, f'{CAMPAIGN}{MACHINE}[output]\nfolder = "results"')
    assert parse(path).out == tmp_path / "results/crash"
    (tmp_path / "etc").mkdir()
    named = tmp_path / "etc/lab.toml"
    named.write_text('[output]\nfolder = "../../all"\n[serve]\nport = 9090\n')
    monkeypatch.setenv("PIECEWORK_CONFIG", str(named))
    assert parse(path).out == tmp_path.parent / "all/crash"
    monkeypatch.setenv("PIECEWORK_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(ConfigError, match=r"PIECEWORK_CONFIG: no such file: .*none\.toml"):
        parse(path)


def test_a_person_s_own_file_needs_no_trust_but_one_that_came_along_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder from a stranger may have a file beside the campaign file."""
    folder = tmp_path / "sent"
    folder.mkdir()
    outside = '[output]\nfolder = "../results"\n'
    path = write_received(folder, f"{CAMPAIGN}{MACHINE}{outside}")
    with pytest.raises(RefusedForSafety, match=r"output\.folder \.\./results"):
        parse(path)
    (tmp_path / "lab.toml").write_text('[output]\nfolder = "results"\n')
    monkeypatch.setenv("PIECEWORK_CONFIG", str(tmp_path / "lab.toml"))
    file = parse(path)
    assert refusal_of(file) is None
    assert file.out == tmp_path / "results/crash"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[output]\nfolder = 7", "piecework.toml:2: output.folder: "),
        ("[output]\nfoldr = 'a'", "piecework.toml:2: output.foldr: no such key; did you mean"),
        ('[output]\nfolder = "a\\u0000"', "cannot have the character"),
        ("[stor]\nurl = ''", "piecework.toml:1: stor: no such key; did you mean 'store'"),
        ("[output", "not valid TOML"),
        (FEES.format(percent=101), "fees[1].percent: "),
        (FEES.format(percent=1) * 2, "two schedules of fees start on the same day"),
    ],
)
def test_a_fault_has_the_machine_s_file_and_its_line(tmp_path: Path, text: str, words: str) -> None:
    """Whatever command or program reads the campaign file."""
    path = write_campaign(tmp_path)
    (tmp_path / "piecework.toml").write_text(text)
    with pytest.raises(ConfigError) as fault:
        piecework.load_campaign(path)
    assert words in str(fault.value)
    assert "piecework.toml" in str(fault.value)


def test_other_fees_are_another_rehearsal(tmp_path: Path) -> None:
    """What a rehearsal costs follows from them, so they are among what it was made from."""
    path = write_campaign(tmp_path)
    assert begin_rehearsal(parse(path)).number == 1
    (tmp_path / "piecework.toml").write_text(FEES.format(percent=30))
    second = begin_rehearsal(parse(path))
    assert (second.number, second.changes) == (2, ("fees",))
    (tmp_path / "piecework.toml").write_text(FEES.format(percent=30) + "[review]\nport = 0\n")
    assert not begin_rehearsal(parse(path)).is_new
    assert piecework.load_campaign(path).rewards.fees[0].percent == 30


@pytest.mark.parametrize("command", [["run"], ["review"], ["market", "serve"], ["store", "backup"]])
def test_no_command_alone_looks_for_another_store(tmp_path: Path, command: list[str]) -> None:
    """A file that only `--config` names would be the store of one command."""
    path = write_campaign(tmp_path)
    named = tmp_path / "lab.toml"
    named.write_text('[output]\nfolder = "elsewhere"\n')
    more = {
        "backup": ["--to", f"file://{tmp_path}/copies"],
        "run": ["--endpoint", "http://127.0.0.1:9"],
    }
    words = [
        *PIECEWORK,
        *command,
        str(path),
        "--config",
        str(named),
        *more.get(command[-1], []),
        "--print-config",
    ]
    refused = subprocess.run(words, capture_output=True, text=True, check=False)
    assert refused.returncode == 2, refused.stderr
    assert "[output], [store] and [[fees]] hold for all commands" in refused.stderr
    assert f"export PIECEWORK_CONFIG={named}" in refused.stderr
    named.rename(tmp_path / "piecework.toml")
    words[words.index(str(named))] = str(tmp_path / "piecework.toml")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
