"""`piecework market serve --simulate` beside programs and schedules that make the passes."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piecework.library.asking import ask

_PIECEWORK = Path(sys.executable).with_name("piecework")
_ASKED = """
name = "triage"
description = "Is a generated description true of its image?"
task = "congruency"
answers = 3
reward = "0.45"
budget = "900.00"
hourly_wage = "5.00"
[items]
file = "asked.jsonl"
[grows]
batch = 1
[posting]
items_per_hit = 1
"""


@contextmanager
def _crowd(campaign: Path) -> Iterator[None]:
    """Run the command while the block lasts, and name it in the deployment file."""
    command = f"{_PIECEWORK} market serve --simulate {campaign} --port 0".split()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as crowd:
        try:
            assert crowd.stdout is not None
            address = re.search(r"http://\S+", crowd.stdout.readline())
            assert address is not None
            campaign.with_suffix(".deployment.toml").write_text(
                f'endpoint = "{address.group()}"\nrehearsal = true\n'
            )
            yield
            assert crowd.poll() is None
        finally:
            crowd.terminate()


def test_a_crowd_answers_questions_that_come_after_it(tmp_path: Path) -> None:
    """Neither a row nor the campaign's folder exists when the crowd starts."""
    campaign = tmp_path / "triage.toml"
    campaign.write_text(_ASKED)
    with _crowd(campaign):
        for key in ("a1", "a2"):
            answer = ask(
                {"url": f"https://example.org/{key}.jpg", "description": "A dog."},
                key=key,
                campaign=campaign,
                poll_seconds=0.5,
                timeout=120,
            )
            assert (answer.is_final, answer.answers) == (True, 3)
