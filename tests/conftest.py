"""What all tests share: patience (a slow machine is no fault), and one Chromium."""

import os
import shutil
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, sync_playwright

settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# A landing must not depend on luck; new examples are looked for on people's machines.
settings.register_profile(
    "repeatable", settings.get_profile("patient"), derandomize=True
)
settings.load_profile("repeatable" if os.environ.get("CI") else "patient")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium without a window, for all tests of a process.

    One and not one a file: two of Playwright's synchronous kind cannot live together.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed (tests/need_chromium.sh installs it)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield started
        started.close()
