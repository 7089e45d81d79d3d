"""A market is its folder and a line: without them everything else works as before."""

import re
import shutil

import pytest

from tests.conftest import in_full
from tests.markets.checkouts import Checkout, whole_in

MARKET = "connect"
_NAMED = re.compile(rf"\b(?:{MARKET}|offline_{MARKET})\b|CONNECT(?!_ATTEMPT)|Connect's")
_ROOMS = ("cli", "config", "marketplace", "markets", "simulation")

_IMPORT_ALL = """
from importlib import import_module
from pkgutil import walk_packages
import piecework
for module in walk_packages(piecework.__path__, "piecework."):
    if not module.name.endswith(("__main__", ".start")):
        import_module(module.name)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The checkout without Connect's folder, the folder of its tests, and its line."""
    copy = whole_in(tmp_path_factory.mktemp("without") / "checkout")
    shutil.rmtree(copy.markets / MARKET)
    shutil.rmtree(copy.root / "tests/markets" / MARKET)
    line = copy.root / "src/piecework/domain/crowds.py"
    text = line.read_text(encoding="utf-8")
    assert text.count(f'"{MARKET}", ') == 1
    line.write_text(text.replace(f'"{MARKET}", ', ""), encoding="utf-8")
    return copy


def test_every_module_is_imported_without_it(checkout: Checkout) -> None:
    """No module outside of the folder needs the folder."""
    done = checkout.python("-W", "ignore", "-c", _IMPORT_ALL)
    assert done.returncode == 0, done.stderr


def test_contracts_and_style_hold_without_it(checkout: Checkout) -> None:
    """No contract names the market."""
    for module, *words in (
        ("ruff", "check", "--quiet", "src", "tests", "tools"),
        ("importlinter.cli", "lint"),
        ("pytest", "-q", "-p", "no:cacheprovider", "tests/test_layout.py"),
    ):
        done = checkout.python("-m", module, *words)
        assert done.returncode == 0, done.stdout + done.stderr


def test_no_command_and_no_option_is_left(checkout: Checkout) -> None:
    """What is left are options whose names have the word in another sense."""
    _, listed, messages = checkout.piecework("--help")
    assert f"\n  {MARKET}" not in listed
    _, served, _ = checkout.piecework("serve", "--help")
    assert not re.search(r"--connect-url|--link-names|--fee-percent|CONNECT_", served)
    code, _, messages = checkout.piecework("rehearse", "x.toml", "--crowd", MARKET)
    assert code == 2
    assert f"'{MARKET}' is not one of 'workers'" in messages


@pytest.mark.parametrize("room", in_full(*_ROOMS))
def test_the_tests_of_a_room_pass_without_it(checkout: Checkout, room: str) -> None:
    """Those that do not name the market themselves."""
    folder = checkout.root / "tests" / room
    files = [
        str(path.relative_to(checkout.root))
        for path in sorted(folder.rglob("test_*.py"))
        if not _NAMED.search(path.read_text(encoding="utf-8"))
    ]
    words = ("-q", "-n", "2", "-p", "no:cacheprovider", *files)
    done = checkout.python("-m", "pytest", *words, seconds=3600)
    assert done.returncode == 0, done.stdout[-5000:]
