"""What a shell and an operating system see of the command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

_BIN = Path(sys.executable).parent

_BASH = """
eval "$(_PIECEWORK_COMPLETE=bash_source piecework)"
COMP_WORDS=(piecework rehearse --cr) COMP_CWORD=2
_piecework_completion piecework
echo "${COMPREPLY[@]}"
"""


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
