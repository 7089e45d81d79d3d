"""The amount that `--live` may spend: shown, typed back, and read from an option."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from cli.work.consent import consent_to_spend
from domain.errors import ConfigError
from tests.small_campaign import write_campaign

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("text", ["-1", "2.999", "much", "1e9", "", "1,000", "NaN"])
def test_what_is_no_amount_is_a_fault_of_use(tmp_path: Path, text: str) -> None:
    """In words, before anything is asked of anybody."""
    with pytest.raises(ConfigError, match=r"--spend-at-most .* is no amount"):
        consent_to_spend(
            write_campaign(tmp_path),
            "http://127.0.0.1:9",
            live=True,
            spend_at_most=text,
        )


def _at_a_terminal(path: Path, typed: str) -> tuple[int, str]:
    """Ask for leave at a terminal, where something is typed."""
    script = (
        "import sys, pathlib; from cli.work.consent import consent_to_spend\n"
        "from domain.errors import PieceworkError\n"
        "try: print('leave for', consent_to_spend(pathlib.Path(sys.argv[1]), "
        "'http://192.0.2.1', live=True, spend_at_most=None))\n"
        "except PieceworkError as error: print(error); sys.exit(error.exit_code)\n"
    )
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", script, path],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=ROOT,
    ) as process:
        os.close(theirs)
        os.write(ours, f"{typed}\n".encode())
        said, _ = process.communicate(timeout=60)
    os.close(ours)
    return process.returncode, said.decode()


@pytest.mark.parametrize(
    ("typed", "code", "words"),
    [
        ("$20.00", 0, "leave for 2000"),
        ("20", 0, "leave for 2000"),
        ("2.40", 3, "nothing was posted"),
        ("yes", 3, "nothing was posted"),
        ("", 3, "nothing was posted"),
    ],
)
def test_the_amount_is_shown_and_has_to_be_typed_back(
    tmp_path: Path, typed: str, code: int, words: str
) -> None:
    """The most that it can cost within its caps, and nothing else will do.

    A batch has one HIT of two items, each wanted twice; its dearest round is one HIT
    for two workers and one for one: $1.80. Five rounds of two batches are $18, with the
    plain cost $20.40; and the cap is $20.
    """
    ended, said = _at_a_terminal(write_campaign(tmp_path), typed)
    assert "can cost up to $20.00" in said
    assert (ended, words in said) == (code, True), said
