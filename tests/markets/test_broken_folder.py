"""A market whose folder is broken is named in one sentence, and the others work."""

from pathlib import Path

import pytest

from piecework.domain.crowds import MARKETS
from tests.conftest import in_full
from tests.markets.checkouts import Checkout, product_in

BROKEN, *OTHERS = MARKETS


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A copy of piecework."""
    return product_in(tmp_path)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("MARKET = Market(\n", "SyntaxError: '(' was never closed (market.py, line 1)"),
        *in_full(
            ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
            ("", f"AttributeError: module 'piecework.markets.{BROKEN}.market' has no attribute"),
        ),
    ],
)
def test_a_broken_description_is_named_and_others_work(
    checkout: Checkout, text: str, fault: str
) -> None:
    """The list of commands says so, each command of the market too, and no other."""
    (checkout.markets / BROKEN / "market.py").write_text(text)
    sentence = f"the market {BROKEN} cannot be used: piecework.markets.{BROKEN}.market: {fault}"
    code, listed, _ = checkout.piecework("market", "--help")
    assert code == 0
    assert sentence in " ".join(listed.split())
    assert all(f"\n  {other} " in listed for other in OTHERS)
    _is_named(checkout.piecework("market", BROKEN, "status"), sentence)
    _is_named(checkout.piecework("market", "serve", "--crowd", BROKEN), sentence)
    for other in OTHERS:
        code, shown, messages = checkout.piecework("market", other, "--help")
        assert (code, messages) == (0, "")
        assert f" {other} [OPTIONS] COMMAND" in shown


def test_a_folder_that_is_missing_is_named(checkout: Checkout) -> None:
    """Its line stayed behind."""
    (checkout.markets / BROKEN).rename(checkout.root / "elsewhere")
    refused = checkout.piecework("market", BROKEN, "status")
    _is_named(refused, f"No module named 'piecework.markets.{BROKEN}'")


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("commands/serve.py", ("market", "serve", "--crowd", BROKEN)),
        *in_full(
            ("rehearsal/offline.py", ("rehearse", "--crowd", BROKEN)),
            ("client.py", (BROKEN, "doctor")),
        ),
    ],
)
def test_a_broken_module_stops_what_needs_it_alone(
    checkout: Checkout, module: str, words: tuple[str, ...]
) -> None:
    """Another market is served, or rehearsed, as if nothing were broken."""
    (checkout.markets / BROKEN / module).write_text("def (\n")
    if words[0] == "rehearse":
        words = (*words, str(checkout.root / "config/campaigns/demo.toml"))
    _is_named(checkout.piecework(*words), f"the market {BROKEN} cannot be used: piecework.")
    code, _, messages = checkout.piecework("market", "serve", "--crowd", "panel")
    assert code == 2
    assert "--crowd panel needs --panel" in messages
    code, _, messages = checkout.piecework("market", "panel", "example", "external")
    assert (code, messages) == (0, "")


def _is_named(ended: tuple[int, str, str], sentence: str) -> None:
    """Whether a command ended with a sentence and the next step, and no traceback."""
    code, _, messages = ended
    assert code == 1, messages
    assert sentence in messages
    assert "Traceback" not in messages
    assert messages.splitlines()[-1].startswith("next: ")
