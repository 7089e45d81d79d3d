"""Addresses of a marketplace as people write them, and what is no address."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.errors import ConfigError
from piecework.engine.begun import bound_endpoint
from piecework.engine.pass_request import PassRequest
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.endpoint import LiveSite, normal_endpoint, why_live
from piecework.results.whole_pass import advance_without_prefect
from tests.for_each import for_each
from tests.small_campaign import write_campaign


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("HTTP://LOCALHOST:8080/", "http://127.0.0.1:8080"),
        ("https://hits.example.org", "https://hits.example.org"),
        ("http://xn--bcher-kva.example:80", "http://xn--bcher-kva.example:80"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://[0:0:0:0:0:0:0:1]:8080", "http://[::1]:8080"),
        ("https://[2001:DB8::7]", "https://[2001:db8::7]"),
    ],
)
def test_one_marketplace_has_one_spelling(written: str, normal: str) -> None:
    """And that spelling stays as it is: stores are bound to it."""
    assert normal_endpoint(written) == normal
    assert normal_endpoint(normal) == normal


_HERE, _THERE = "http://127.0.0.1:8080", "https://hits.example.org"


@pytest.mark.parametrize(
    ("endpoint", "site", "recruits", "words"),
    [
        (_HERE, "", False, ""),
        (_HERE, _HERE, False, ""),
        ("http://[::1]:8080", "http://localhost:9", False, ""),
        (_HERE, "http://[::1]:9", False, ""),
        (_HERE, _THERE, False, "workers reach this marketplace at https://hits.example.org"),
        (_HERE, "http://192.168.0.7:8080", False, "workers reach this marketplace at"),
        (_HERE, "http://laptop.local:8080", False, "workers reach this marketplace at"),
        (_HERE, _HERE, True, "pays people of a market"),
        (_HERE, _THERE, True, "workers reach this marketplace at"),
        (_THERE, "", False, "on another machine"),
        (_THERE, _HERE, False, "on another machine"),
        ("http://127.0.0.2:8080", "", False, "on another machine"),
    ],
)
def test_who_works_and_where_decides_what_is_live(
    endpoint: str, site: str, *, recruits: bool, words: str
) -> None:
    """The whole law: another machine, workers elsewhere, or people who are paid to come."""
    reason = why_live(endpoint, LiveSite(site, recruits=recruits))
    assert (words in reason, bool(reason)) == (True, bool(words))


@for_each(
    "written",
    [
        "http://exa mple:80",
        "http://x_y",
        "http://a..b",
        "http://-:80",
        "http://bücher.example",
        f"http://{'a' * 64}",
        "http://127.0.0.1:0",
        "http://127.0.0.1:99999",
        "http://[::1",
        "http://::1:8080",
        "ftp://127.0.0.1",
        "http://:8080",
        "127.0.0.1:8080",
    ],
)
def test_what_is_no_address_is_said(written: str) -> None:
    """Before anything is asked or opened, and in a sentence."""
    with pytest.raises(ConfigError, match="is not an address"):
        normal_endpoint(written)


def test_a_marketplace_at_the_other_loopback_is_this_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass goes to `[::1]` without `--live`, and the store is bound to it."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    path = write_campaign(tmp_path)
    with serve(
        Marketplace(
            tmp_path / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
            host="::1",
        )
    ) as running:
        reached = advance_without_prefect(PassRequest(campaign=path, endpoint=running.endpoint_url))
    assert reached.hits_posted == 1
    assert bound_endpoint(load_campaign(path)) == running.endpoint_url
