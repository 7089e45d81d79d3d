"""Readers of the tutorials, who open the links that the shell writes to files."""

import time
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
