"""Runs the same tests again and again, in forks of a process that is warm already.

Importing pytest, pandas and our own modules costs more than the tests of a mutant. The
first run, of the unchanged file, is made by this process itself. Each fork then reads
anew the file that changed, and the modules that have something of it.

Each line of the input is a run. The answer is a line: pytest's exit code, or "time".
"""

import ast
import contextlib
import gc
import os
import select
import signal
import sys
import time
from pathlib import Path

import pytest

_LEAST, _LONGER = 12.0, 4
"""Seconds that a run may take at least, and as a multiple of the first."""


def main(changed: str, arguments: list[str]) -> None:
    """Serve runs until the input ends.

    Args:
        changed: path of the file that is different at each run but the first.
        arguments: of pytest.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Compiled files are written now, of what is unchanged, and read by all forks.
    sys.dont_write_bytecode = False
    begun = time.monotonic()
    sys.stdin.readline()
    print(int(pytest.main(arguments)), file=answers, flush=True)
    seconds = max(_LEAST, _LONGER * (time.monotonic() - begun))
    _forget(_module_name(Path(changed)))
    sys.dont_write_bytecode = True
    gc.freeze()  # pytest collects garbage three times a run
    for _ in sys.stdin:
        print(_run(seconds, arguments), file=answers, flush=True)


def _module_name(path: Path) -> str:
    """The name by which a file of the checkout is imported."""
    parts = path.with_suffix("").parts
    # The package has links to the rooms at the root.
    inside = parts[1:] if parts[0] == "src" else ("piecework", *parts)
    return ".".join(inside)


def _forget(changed: str) -> None:
    """Let the next import read a module again, and each module that imports it.

    By the modules' texts: a value made of a changed function, such as a step of a pass,
    does not show where its parts are from.
    """
    here = str(Path.cwd()) + os.sep
    imported_by = {
        name: _imports(Path(module.__file__))
        for name, module in sys.modules.items()
        if str(getattr(module, "__file__", None) or "").startswith(here)
        and module.__file__
        and not hasattr(module, "__path__")
    }
    forgotten = {changed}
    while more := {name for name, names in imported_by.items() if names & forgotten} - forgotten:
        forgotten |= more
    for name in forgotten:
        del sys.modules[name]
        package, _, attribute = name.rpartition(".")
        if hasattr(sys.modules.get(package), attribute):
            delattr(sys.modules[package], attribute)


def _imports(path: Path) -> set[str]:
    """Every name that may be a module and that a file imports anywhere."""
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def _run(seconds: float, arguments: list[str]) -> str:
    child = os.fork()
    if child == 0:
        os.setsid()
        os._exit(int(pytest.main(arguments)))
    ended = os.pidfd_open(child)
    in_time, _, _ = select.select([ended], [], [], seconds)
    os.close(ended)
    # What the tests started ends with them, or when the time is over.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return str(os.waitstatus_to_exitcode(status)) if in_time else "time"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
