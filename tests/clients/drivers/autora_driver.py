"""Lets AutoRA's recruitment manager for Prolific do what each line says.

A call is a function of its module, also a private one. It tries a refused call again,
after twenty seconds each time; here it waits for nothing and tries once.
"""

from __future__ import annotations

from typing import Any

from autora.experiment_runner.recruitment_manager import prolific
from line_by_line import serve

TOKEN = "rehearsal"  # noqa: S105 - opens nothing

prolific.RETRIES = 1
prolific.time.sleep = lambda _seconds: None


def answer(call: str, arguments: dict[str, Any]) -> object:
    """What the function returns."""
    return getattr(prolific, call)(**arguments, prolific_token=TOKEN)


if __name__ == "__main__":
    serve(answer)
