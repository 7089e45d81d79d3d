"""What a shell and an operating system see of the command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from piecework.cli.main import main
from piecework.hit_templates.tasks import task_names
from tests.conftest import ROOT

_BIN = Path(sys.executable).parent

_BASH = """
eval "$(_PIECEWORK_COMPLETE=bash_source piecework)"
COMP_WORDS=(piecework rehearse --cr) COMP_CWORD=2
_piecework_completion piecework
echo "${COMPREPLY[@]}"
"""


def _offered(*words: str) -> list[str]:
    """What a shell offers for the last of the words."""
    completion = ShellComplete(main, {}, "piecework", "_PIECEWORK_COMPLETE")
    items = completion.get_completions([*words[:-1]], words[-1])
    return [item.value for item in items if item.type == "plain"]


@pytest.mark.parametrize("command", [("init",), ("data", "assess"), ("data", "import")])
def test_a_task_is_completed_by_its_name(command: tuple[str, ...]) -> None:
    """As far as names begin so; otherwise the shell offers files."""
    assert _offered(*command, "--task", "") == [*task_names()]
    assert _offered(*command, "--task", "crowd_") == ["crowd_judgement"]
    assert _offered(*command, "--task", "./d") == []


@pytest.mark.parametrize("words", [("check",), ("workers", "list"), ("stop",)])
def test_a_campaign_is_completed_by_its_file(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one of the examples; no other TOML file, and otherwise the shell's files."""
    monkeypatch.chdir(tmp_path)
    examples = tmp_path / "config/campaigns"
    examples.mkdir(parents=True)
    for path in (tmp_path / "birds.toml", tmp_path / "bees.toml", examples / "a.toml"):
        path.write_text('name = "birds"\ntask = "caption"\n')
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "birds"\n')
    (tmp_path / "broken.toml").write_text("name = ")
    everything = ["bees.toml", "birds.toml", "config/campaigns/a.toml"]
    assert _offered(*words, "") == everything
    assert _offered(*words, "bi") == ["birds.toml"]
    assert _offered(*words, "config/campaigns/") == ["config/campaigns/a.toml"]
    assert _offered(*words, "p") == []


def test_a_file_gets_each_letter_whatever_the_locale(tmp_path: Path) -> None:
    """Redirected, the output is UTF-8; a name that a terminal cannot show is not lost."""
    (tmp_path / "people.csv").write_text("name\n鳥\n", encoding="utf-8")
    done = subprocess.run(
        [_BIN / "piecework", "market", "people", "invite", "--from", "people.csv"],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert "鳥" in done.stdout.decode("utf-8")


def test_bash_completes_options_as_the_docs_say() -> None:
    """The line of docs/how-to/install.md, and a Tab after it."""
    assert '"$(_PIECEWORK_COMPLETE=bash_source piecework)"' in (
        ROOT / "docs/how-to/install.md"
    ).read_text(encoding="utf-8")
    done = subprocess.run(
        ["bash", "-c", _BASH],
        env={**os.environ, "PATH": f"{_BIN}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    assert done.stdout == "--crowd\n", done.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not on this machine")
def test_zsh_takes_the_completion_that_the_docs_name() -> None:
    """It defines the function that zsh calls on Tab."""
    script = (
        "autoload -Uz compinit; compinit -u -D\n"
        'eval "$(_PIECEWORK_COMPLETE=zsh_source piecework)"\n'
        "print $_comps[piecework]"
    )
    done = subprocess.run(
        ["zsh", "-f", "-c", script],
        env={**os.environ, "PATH": f"{_BIN}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    assert done.stdout == "_piecework_completion\n", done.stderr


def test_windows_is_refused_in_a_sentence() -> None:
    """Before anything is imported that Windows lacks, so no trace is shown."""
    script = (
        "import sys; sys.platform = 'win32'\n"
        "sys.modules.update(fcntl=None, resource=None)\n"
        "import piecework.cli.main"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("piecework runs on Linux and macOS, and not on")
    assert len(done.stderr.splitlines()) == 1
