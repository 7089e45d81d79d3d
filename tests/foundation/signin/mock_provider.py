"""`oidc-provider-mock`, another's provider with a page of its own, as a process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import httpx

_PROGRAM = """
from oidc_provider_mock import run_server_in_thread
with run_server_in_thread(require_nonce=True) as server:
    print(server.server_port, flush=True)
    input()
"""


@contextmanager
def at_work() -> Iterator[str]:
    """Run the provider until the block ends; its people are ada, rita and eve."""
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = f"http://localhost:{int(process.stdout.readline())}"
            for name in ("ada", "rita", "eve"):
                claims = {
                    "name": name.title(),
                    "email": f"{name}@example.org",
                    "email_verified": True,
                }
                httpx.put(f"{url}/users/{quote(name)}", json=claims).raise_for_status()
            yield url
        finally:
            process.stdin.close()
            process.wait(timeout=30)
