"""Prefect's temporary server ends with the command that started it, however that ends.

Prefect stops its server when Python ends; a process that is killed does not come that
far, and the server would live on. So a small process waits for the end of ours: the
operating system closes the pipe between them in any case. It finds the server by a mark
in its environment (on Linux; elsewhere nothing is found and nothing is ended).
"""

import atexit
import os
import subprocess
import sys

_MARK = "PIECEWORK_COMMAND"
_WATCH = """
import os, signal, sys
sys.stdin.buffer.read()
mark = os.fsencode(sys.argv[1])
for name in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
    try:
        with open(f"/proc/{name}/environ", "rb") as file:
            words = file.read().split(b"\\0")
        if mark in words and b"PREFECT__SERVER_EPHEMERAL=1" in words:
            os.kill(int(name), signal.SIGTERM)
    except OSError:
        pass
"""


def end_server_with_us() -> None:
    """Let no temporary server outlive this process; call it before Prefect starts one.

    Servers of other commands, and one that runs by itself, are not touched.
    """
    if os.environ.get(_MARK, "").startswith(f"{os.getpid()}-"):
        return
    os.environ[_MARK] = f"{os.getpid()}-{os.urandom(8).hex()}"
    watcher = subprocess.Popen(  # noqa: S603 - our own words
        [sys.executable, "-ISc", _WATCH, f"{_MARK}={os.environ[_MARK]}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A Ctrl-C in the terminal is for us, and not for it.
        start_new_session=True,
    )
    # Kept until the end: its pipe closes when the last name of it is gone.
    atexit.register(lambda: watcher.stdin and watcher.stdin.close())
