"""Readers of the tutorials, who open the links that the shell writes to files."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx


def link_in(file: Path) -> str:
    """Wait for the link in a file that the shell writes."""
    until = time.monotonic() + 400
    while not (file.exists() and "http" in file.read_text()):
        assert time.monotonic() < until, file
        time.sleep(0.2)
    return file.read_text().split()[0]


def session_at(site: str) -> httpx.Client:
    """A browser's session at a worker site."""
    headers = {"accept": "text/html", "origin": site, "sec-fetch-site": "same-origin"}
    return httpx.Client(base_url=site, headers=headers, follow_redirects=True)


def typed(
    text: str, folder: Path, *, environment: Mapping[str, str], seconds: float
) -> "subprocess.CompletedProcess[str]":
    """Type a page's blocks into one shell that stops at the first failure."""
    return subprocess.run(
        [shutil.which("bash") or "/bin/sh", "-eu"],
        input=text,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        env={
            **environment,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PREFECT_HOME": str(folder / "prefect"),
        },
    )
