"""A client in a process of its own, told line by line what to do.

Its driver (under drivers/) reads `{"call": ..., "arguments": {...}}`, lets the client
do just that, and writes what came of it; the tests stay in one place and one language.
"""

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

MARK = "=> "
"""Begins a driver's reply; clients print other lines as they please."""


class DriverError(Exception):
    """The driver itself fell over; holds the end of what it complained."""


class Driven:
    """A running client."""

    def __init__(
        self, words: Sequence[str], *, environment: Mapping[str, str], folder: Path
    ) -> None:
        self._complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed on exit
        self._process = subprocess.Popen(
            words,
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )

    def __enter__(self) -> Self:
        """Started already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Its input ends, so it ends."""
        self._process.communicate()
        self._complaints.close()

    def ask(self, call: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON
        """What the client answers.

        Raises:
            DriverError: no reply came.
        """
        if self._process.stdin is None or self._process.stdout is None:
            raise DriverError("its pipes are closed")
        line = json.dumps({"call": call, "arguments": arguments})
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        for printed in self._process.stdout:
            if printed.startswith(MARK):
                return json.loads(printed.removeprefix(MARK))
        self._complaints.seek(0)
        raise DriverError(self._complaints.read()[-2000:])
