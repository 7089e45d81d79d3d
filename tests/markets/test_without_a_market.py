"""A market is its folder and a line: without them everything else works as before."""

import re
import shutil
from pathlib import Path

import pytest

from piecework.domain.crowds import MARKETS
from tests.conftest import in_full
from tests.markets.checkouts import Checkout, whole_in

MARKET = "connect"
"""The market without which the tests of whole rooms are run."""

_NAMED = re.compile(rf"\b(?:{MARKET}|offline_{MARKET})\b|CONNECT\b|CROWDCONNECT|Connect's")
_ROOMS = ("cli", "config", "marketplace", "markets", "simulation")

_IMPORT_ALL = """
from importlib import import_module
from pkgutil import walk_packages
import piecework
for module in walk_packages(piecework.__path__, "piecework."):
    if not module.name.endswith(("__main__", ".start")):
        import_module(module.name)
"""
_LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def without(market: str, folder: Path) -> Checkout:
    """The checkout without a market's folder, the folder of its tests, and its line."""
    copy = whole_in(folder)
    shutil.rmtree(copy.markets / market)
    shutil.rmtree(copy.root / "tests/markets" / market)
    file = copy.root / "src/piecework/domain/crowds.py"
    text = file.read_text(encoding="utf-8")
    [line] = [line for line in text.splitlines() if line.startswith("Market = Literal[")]
    left = [f'"{other}"' for other in MARKETS if other != market]
    file.write_text(text.replace(line, f"Market = Literal[{', '.join(left)}]"), encoding="utf-8")
    return copy


@pytest.mark.early
@pytest.mark.parametrize(
    "market", [MARKET, *in_full(*(each for each in MARKETS if each != MARKET), weeks=3)]
)
def test_all_else_is_whole_without_a_market(market: str, tmp_path: Path) -> None:
    """Modules, contracts, style and commands: none of them needs the folder or names it."""
    checkout = without(market, tmp_path / "checkout")
    for shown, *words in (
        ("", "-W", "ignore", "-c", _IMPORT_ALL),
        (" kept, 0 broken", "-c", _LINT_IMPORTS),
        ("All checks passed", "-m", "ruff", "check", "src", "tests", "tools"),
        (" passed", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_layout.py"),
    ):
        done = checkout.python(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        assert shown in done.stdout
    _, listed, _ = checkout.piecework("market", "--help")
    assert "Paid workers from elsewhere" in listed
    assert f"\n  {market}" not in listed
    _, served, _ = checkout.piecework("market", "serve", "--help")
    assert f"\n  --{market}" not in served
    code, _, messages = checkout.piecework("rehearse", "x.toml", "--crowd", market)
    assert code == 2
    assert f"'{market}' is not one of 'workers'" in messages


@pytest.mark.parametrize("room", in_full(*_ROOMS, weeks=3))
def test_the_tests_of_a_room_pass_without_a_market(room: str, tmp_path: Path) -> None:
    """Those that do not name the market themselves."""
    checkout = without(MARKET, tmp_path / "checkout")
    folder = checkout.root / "tests" / room
    files = [
        str(path.relative_to(checkout.root))
        for path in sorted(folder.rglob("test_*.py"))
        if not _NAMED.search(path.read_text(encoding="utf-8"))
    ]
    words = ("-q", "-n", "2", "-p", "no:cacheprovider", *files)
    done = checkout.python("-m", "pytest", *words, seconds=3600)
    assert done.returncode == 0, done.stdout[-5000:]
