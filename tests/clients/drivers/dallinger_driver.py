"""Lets Dallinger's own MTurkService do what each line of input says.

Its package starts a web application, so the module of the service is loaded alone. The
one name that it takes from the rest is how a fault is handed on; here it is raised.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import types
from importlib.metadata import distribution
from typing import Any

from line_by_line import serve


def _raise(fault: BaseException) -> None:
    raise fault


_recruiters = types.ModuleType("dallinger.recruiters")
_recruiters.handle_and_raise_recruitment_error = _raise  # type: ignore[attr-defined]
sys.modules["dallinger"] = types.ModuleType("dallinger")
sys.modules["dallinger.recruiters"] = _recruiters
_file = str(distribution("dallinger").locate_file("dallinger/mturk.py"))
_spec = importlib.util.spec_from_file_location("dallinger.mturk", _file)
assert _spec is not None and _spec.loader is not None  # noqa: PT018 - types
_mturk = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_mturk)
_SERVICE = _mturk.MTurkService(
    os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"], "us-east-1", sandbox=False
)


def answer(call: str, arguments: dict[str, Any]) -> object:
    """A method of the service."""
    return getattr(_SERVICE, call)(**arguments)


serve(answer)
