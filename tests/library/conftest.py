"""The folder in which the page's examples and the notebook are run."""

import shutil
from pathlib import Path

import pytest

import piecework
from tests.conftest import ROOT


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example campaigns as `piecework examples` copies them; one was rehearsed.

    The page and the notebook rehearse it again, which only reads it.
    """
    folder = tmp_path_factory.mktemp("examples")
    campaigns = folder / "config/campaigns"
    shutil.copytree(ROOT / "config/campaigns", campaigns)
    piecework.rehearse(campaigns / "congruency.toml")
    return folder
