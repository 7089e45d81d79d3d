"""What the Python drivers share: a line in, a line out; nothing of the project's.

They run on the old interpreters that their clients need.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Callable  # noqa: UP035 - Python 3.8 reads this


def serve(answer: Callable[[str, dict[str, Any]], object]) -> None:
    """Let `answer(call, arguments)` do what each line of input says."""
    for line in sys.stdin:
        order = json.loads(line)
        try:
            reply: dict[str, object] = {"result": answer(order["call"], order["arguments"])}
        except Exception as fault:  # noqa: BLE001 - what a client raises is its answer
            reply = {"error": as_error(fault)}
        print("=> " + json.dumps(reply, default=str), flush=True)  # noqa: T201 - its reply


def as_error(fault: BaseException) -> dict[str, str]:
    """An exception's type, its words, and what botocore kept of the reply."""
    response = getattr(fault, "response", {})
    return {
        "type": type(fault).__name__,
        "message": str(fault),
        "code": response.get("Error", {}).get("Code", ""),
    }
