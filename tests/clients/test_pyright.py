"""pyright knows the type of everything that `import piecework` offers."""

import inspect
import json
import os
import subprocess
import sys

import pytest

import piecework
from tests.clients.environments import UnavailableError, node_client
from tests.conftest import ROOT

pytestmark = pytest.mark.clients


def _definitions() -> set[str]:
    """Where the classes of the library are defined."""
    offered = [getattr(piecework, name) for name in piecework.__all__]
    classes = [value for value in offered if inspect.isclass(value)]
    return {f"{value.__module__}.{value.__qualname__}" for value in classes}


def test_every_type_of_the_library_is_known() -> None:
    """`--verifytypes` finds none that is unknown or may be read in two ways."""
    try:
        pyright = node_client() / "node_modules/.bin/pyright"
    except UnavailableError as why:
        pytest.skip(str(why))
    options = ["--verifytypes", "piecework", "--ignoreexternal", "--outputjson"]
    done = subprocess.run(
        [pyright, "--pythonpath", sys.executable, *options],
        cwd=ROOT,
        # It follows no editable install to the package by itself.
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=580,
    )
    symbols = json.loads(done.stdout)["typeCompleteness"]["symbols"]
    offered = {f"piecework.{name}" for name in piecework.__all__}
    definitions = _definitions()
    checked = [
        symbol
        for symbol in symbols
        if symbol["name"] in offered | definitions
        or symbol["name"].rpartition(".")[0] in definitions
    ]
    assert offered | definitions <= {symbol["name"] for symbol in checked}
    assert not [
        (symbol["name"], symbol["diagnostics"])
        for symbol in checked
        if not symbol["isTypeKnown"] or symbol["isTypeAmbiguous"]
    ]
