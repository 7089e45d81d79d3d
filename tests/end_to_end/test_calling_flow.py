"""The state of a requester's own flow that fails: it says why, and what to do next."""

import subprocess
import sys
from pathlib import Path

_OWN = """
import sys
from prefect import flow, task
from piecework import ConfigError
from piecework.flows.advance import advance
from piecework.flows.asking import ask
from piecework.flows.exporting import export

path = sys.argv[1]
asking = lambda: ask({"id": "1"}, campaign=path, key="1")
calls = {"advance": lambda: advance(path), "export": lambda: export(path), "ask": asking,
         "task": task(asking, name="asking")}
for name, call in calls.items():
    @flow(name=name)
    def nightly():
        try:
            call()
        except ConfigError as fault:
            assert fault.next_step and fault.faults
            raise
    print(name, nightly(return_state=True).message, sep=": ")
"""


def test_the_state_of_a_calling_flow_ends_with_the_next_step(
    tmp_path: Path, environment: dict[str, str], prefect_server: dict[str, str]
) -> None:
    """As the state of the flow that it called does, once."""
    done = subprocess.run(
        [sys.executable, "-c", _OWN, str(tmp_path / "none.toml")],
        env={**environment, **prefect_server},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    states = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert states.keys() == {"advance", "export", "ask", "task"}
    for name, message in states.items():
        assert message.count("next: ") == 1, (name, message)
