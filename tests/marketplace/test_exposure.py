"""What is said when a marketplace can be reached in ways that are unwise."""

import pytest

from piecework.marketplace.http.hosts import exposure_warnings

NAMED = ("https://hits.example", "https://frames.example")
LAN = ("http://192.0.2.7:8080", "http://192.0.2.8:8081")
HERE = ("http://127.0.0.1:8080", "http://localhost:8081")


@pytest.mark.parametrize(
    ("host", "speaks_tls", "origins", "expected_words"),
    [
        ("127.0.0.1", False, HERE, ""),
        ("192.0.2.7", False, LAN, "http://192.0.2.7:8080 is plain HTTP"),
        ("192.0.2.7", True, ("https://192.0.2.7:8080", "https://192.0.2.8:8081"), ""),
        # A proxy on this machine that ends TLS, or one that does not.
        ("127.0.0.1", False, NAMED, ""),
        ("127.0.0.1", False, ("http://hits.example", LAN[1]), "is plain HTTP: an eavesdropper"),
        # A proxy on another machine: TLS ends there, the ports here are plain.
        ("192.0.2.7", False, NAMED, "--host 127.0.0.1"),
        ("127.0.0.1", False, (NAMED[0], LAN[1]), "--frames-url"),
    ],
)
def test_only_what_travels_in_the_clear_is_warned_of(
    host: str, *, speaks_tls: bool, origins: tuple[str, str], expected_words: str
) -> None:
    """One warning where invitations, frames or ports are open to listeners."""
    site, frames = origins
    lines = exposure_warnings(host, speaks_tls=speaks_tls, site=site, frames=frames)
    assert len(lines) == (1 if expected_words else 0)
    assert expected_words in " ".join(lines)


@pytest.mark.parametrize(
    ("site", "frames", "expected_words"),
    [
        ("https://hits.example.org", "https://frames.example.org", ""),
        ("https://hits.example.org", "https://*.hits.example.org", ""),
        ("https://hits.example.org:8080", "https://hits.example.org:8081", "the host"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8081", "the host 127.0.0.1:"),
        ("http://127.0.0.1:8080", "http://*.localhost:8081", ""),
        ("http://pw.localhost:8080", "http://*.pw.localhost:8081", "pages of pw."),
        ("http://a.localhost:8080", "http://b.localhost:8081", ""),
    ],
)
def test_hosts_that_share_cookies_are_warned_of(
    site: str, frames: str, expected_words: str
) -> None:
    """One name for both, or over plain HTTP one domain: a session can be exchanged."""
    lines = exposure_warnings("127.0.0.1", speaks_tls=False, site=site, frames=frames)
    shared = [line for line in lines if "share the host" in line or "set cookies" in line]
    assert len(shared) == bool(expected_words)
    assert expected_words in " ".join(shared)
