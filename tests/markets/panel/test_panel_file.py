"""Panel files: what is refused, with line and key, and what is ready-made."""

from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.marketplace.state import outside_crowd
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.money import MTURK
from piecework.marketplace.state.outside_crowd import OutsideMarket
from piecework.markets.panel.panel_file import check_exit, filled_address
from piecework.markets.panel.rehearsal.simulated_panel import SimulatedPanel
from tests.for_each import for_each
from tests.markets.panel.scene import SECRET, changed

_COMPLETE = 'complete = "https://panel.example/back?status=complete&pid={person}&sid={session}"\n'
_BY = 'by = "signature"\nparameter = "sig"\nsecret_variable = "PANEL_SECRET"'


def _served(folder: Path, text: str, *words: str) -> Result:
    file = folder / "panel.toml"
    file.write_text(text)
    words = ("--database", str(folder / "m.db"), "--panel", str(file), *words)
    return CliRunner().invoke(
        main, ["market", "serve", "--crowd", "panel", *words], env={"PANEL_SECRET": SECRET}
    )


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (_COMPLETE, "", "panel.toml:20: exits: there is no exit"),
        ("[exits]", '[exits]\nfinished = "x"', "exits.finished: no such key"),
        ('person = "pid"\n', "", "link.person: is missing"),
        ('session = "sid"', 'session = "pid"', "must be different parameters"),
        ('session = "sid"', 'session = "agreed"', "agreed is a field of this site"),
        ('session = "sid"', "", "{session} is used, but link.session names no"),
        ('parameter = "sig"', 'parameter = "pid"', "already carries an id"),
        ('by = "signature"', 'by = "magic"', "verification.by"),
        ('secret_variable = "PANEL_SECRET"', "", "secret_variable or secret_file"),
        (_BY, 'by = "list"', 'by = "list" needs ids_file'),
        (_BY, 'by = "nothing"', "needs accepted_risk"),
        (_BY, 'by = "nothing"\naccepted_risk = "yes"', "needs accepted_risk"),
        (_BY, 'by = "list"\nids_file = "none.txt"', "the list of ids cannot be read"),
        (_BY, 'by = "list"\nids_file = "a\\u0000b"', "verification.ids_file: "),
        ('name = "example"', 'name = "an example"', "panel.toml:1: name"),
        ('Person = "{person}"', 'Person = "{who}"', "there is no placeholder {who}"),
        ('Person = "{person}"', 'Person = "{person"', "a brace is open"),
        ('currency = "USD"', 'currency = "EUR"', "pay.currency"),
        ("hits = 2", "hits = 0", "visits.hits"),
        ("[exits]", '[exits]\ncode = "{sha256}"', "needs sha256_of and"),
        ("[exits]", '[projects]\n"a b" = ""\n\n[exits]', "projects.a b"),
        ("[link]", "[link", "not valid TOML"),
    ],
)
def test_a_file_that_will_not_do_is_refused(
    tmp_path: Path, before: str, after: str, sentence: str
) -> None:
    """Exit code 2; no marketplace was made."""
    refused = _served(tmp_path, changed((before, after)))
    assert refused.exit_code == 2, refused.output
    assert sentence in refused.output
    assert not (tmp_path / "m.db").exists()


@for_each(
    "address",
    [
        "http://panel.example/back",
        "https://{person}.example/back",
        "{person}",
        "javascript:alert(1)//{person}",
        "https://panel.example@evil.example/",
        "//panel.example/back",
        "https://",
        "https://panel.example\\@evil.example/",
        "https://panel.example/a b",
        "https://panel.example:99999/",
        "/back",
    ],
)
def test_an_exit_that_could_lead_elsewhere_is_refused(address: str) -> None:
    """Only https, to a host that the file itself names."""
    with pytest.raises(ValueError, match="an exit "):
        check_exit(address)


def test_what_a_link_carries_stays_within_its_place() -> None:
    """No value adds a parameter, a path or a line."""
    check_exit("http://127.0.0.1:8099/{person}?s={session}")
    values = {"person": "../a?b", "session": "x&status=complete#\r\n"}
    assert filled_address("https://p.example/{person}?s={session}", values) == (
        "https://p.example/..%2Fa%3Fb?s=x%26status%3Dcomplete%23%0D%0A"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--rehearsal",), "piecework rehearse CAMPAIGN --crowd panel"),
        (("--crowd", "invited"), "invited people cannot work beside another crowd"),
        (("--public-url", "https://a.example", "--site-url", "https://a.example"), "give one"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    """Before anything is stored."""
    refused = _served(tmp_path, changed(), *words)
    assert refused.exit_code == 2, refused.output
    assert sentence in refused.output
    assert not (tmp_path / "m.db").exists()


def test_a_panel_needs_its_file() -> None:
    """And the command to get one is named."""
    refused = CliRunner().invoke(main, ["market", "serve", "--crowd", "panel"])
    assert refused.exit_code == 2
    assert "piecework market panel example external" in refused.output


def test_a_panel_file_needs_its_crowd(tmp_path: Path) -> None:
    """Its people would not be let in."""
    file = tmp_path / "panel.toml"
    file.write_text(changed(), encoding="utf-8")
    refused = CliRunner().invoke(main, ["market", "serve", "--panel", str(file)])
    assert refused.exit_code == 2
    assert "--panel needs --crowd panel" in refused.output


def test_a_file_of_prolifics_people_is_not_served_for_a_panel(tmp_path: Path) -> None:
    """Its tables of visits hold another market's ids."""
    backend = Backend(tmp_path / "m.db", Rules())
    with backend.transaction() as transaction:
        outside_crowd.claim(
            transaction, OutsideMarket(name="prolific", title="Prolific", prices=MTURK)
        )
    backend.close()
    refused = _served(tmp_path, changed())
    assert refused.exit_code == 1
    assert "visits of people from Prolific" in refused.output
    assert "--crowd prolific too" in refused.output


def test_a_marketplace_in_dollars_is_not_served_in_pounds(tmp_path: Path) -> None:
    """Its money was paid in before the panel was known."""
    words = ["market", "account", "add", "Lab", "--balance", "5"]
    CliRunner().invoke(main, [*words, "--database", str(tmp_path / "m.db")])
    refused = _served(tmp_path, changed(('currency = "USD"', 'currency = "GBP"')))
    assert refused.exit_code == 2
    assert "is in USD, not in GBP" in refused.output


_READY_MADE = sorted(
    file.name.removesuffix(".toml")
    for file in (files("piecework.markets.panel") / "ready_made").iterdir()
)


@pytest.mark.parametrize("name", _READY_MADE)
def test_a_ready_made_file_makes_links_that_it_reads(tmp_path: Path, name: str) -> None:
    """Each says what is verified and what is a guess; its link proves itself."""
    printed = CliRunner().invoke(main, ["market", "panel", "example", name])
    assert printed.exit_code == 0
    assert "# Verified" in printed.output
    assert "# Guess" in printed.output
    file = tmp_path / "panel.toml"
    file.write_text(printed.output)
    secrets = {"PANEL_SECRET": SECRET, "MICROWORKERS_KEY": "abc"}
    linked = CliRunner().invoke(
        main, ["market", "panel", "link", str(file), "P1", "--project", "7"], env=secrets
    )
    assert linked.exit_code == 0, linked.output
    assert "/visit/arrive?" in linked.output
    bad = CliRunner().invoke(main, ["market", "panel", "link", str(file), "=P1"], env=secrets)
    assert bad.exit_code == 2


def test_the_simulated_panel_takes_back_only_what_is_its_own() -> None:
    """Otherwise a wrong exit would pass its tests."""
    panel = SimulatedPanel(SECRET)
    panel.open("ann", "s1")
    start = "https://panel.example/back?status="
    assert panel.take_back(f"{start}complete&pid=ann&sid=s1") == "complete"
    for address in (
        f"{start}complete&pid=bob&sid=s1",
        f"{start}paid&pid=ann&sid=s1",
        "https://elsewhere.example/back?status=complete&pid=ann&sid=s1",
    ):
        with pytest.raises(ValueError, match="s1"):
            panel.take_back(address)
    panel.take_back(f"{start}refused&pid=ann&sid=s1")
    line = "Person,Session,Amount,Kind,Reason\nann,s1,0.10,visit,\n"
    assert panel.pay(line) == panel.pay(line) == 1
    assert len(panel.broken_laws) == 2
