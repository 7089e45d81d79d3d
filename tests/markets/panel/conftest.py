"""A scene for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.markets.panel.scene import Scene, a_scene


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A panel and a marketplace that serves it, two HITs in a visit."""
    with a_scene(tmp_path) as scene:
        yield scene
