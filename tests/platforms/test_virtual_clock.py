"""The clock of a rehearsal's marketplace behind TLS, which boto3's settings trust."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError, TransientPlatformError
from piecework.domain.ids import HitId
from piecework.foundation.server.server import Certificate
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.clocks import START, VirtualClock
from piecework.platforms.mturk import MTurk
from tests.marketplace.certificates import self_signed

NOW = datetime.now(UTC)  # noqa: TID251 - of certificates


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """For 127.0.0.1, of an authority that no machine knows."""
    return self_signed(tmp_path_factory.mktemp("certificate"), now=NOW)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, certificate: Certificate) -> Iterator[str]:
    """A rehearsal's marketplace that speaks TLS."""
    with serve(
        Marketplace(
            tmp_path_factory.mktemp("market") / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=START,
            certificate=certificate,
        )
    ) as running:
        yield running.endpoint_url


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))


def test_the_clock_trusts_what_boto3_trusts(
    address: str, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With AWS_CA_BUNDLE alone, both the calls and the clock work."""
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate.chain))
    platform = MTurk(address, access_key="R", secret_key="none")  # noqa: S106
    assert platform.prices() is not None
    clock = VirtualClock(address)
    assert clock.let_pass(timedelta(hours=1)) == clock.refresh()


def test_the_clock_trusts_the_bundle_of_a_profile(
    address: str, certificate: Certificate, tmp_path: Path
) -> None:
    """AWS's configuration file can name the certificates too, as for boto3."""
    (tmp_path / "config").write_text(f"[default]\nca_bundle = {certificate.chain}\n")
    assert VirtualClock(address).now() >= START


def test_an_unknown_authority_is_refused(address: str) -> None:
    """Without the setting, the certificate is not trusted."""
    assert address.startswith("https://")
    with pytest.raises(TransientPlatformError, match="certificate"):
        VirtualClock(address).now()


def test_an_expired_certificate_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next step of a call is to renew it, and not to start the marketplace."""
    expired = self_signed(tmp_path / "old", now=NOW - timedelta(days=3))
    monkeypatch.setenv("AWS_CA_BUNDLE", str(expired.chain))
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, certificate=expired)) as running:
        platform = MTurk(running.endpoint_url, access_key="R", secret_key="none")  # noqa: S106
        with pytest.raises(TransientPlatformError, match="has expired") as refused:
            platform.hit_status(HitId("3A"))
        assert "renew the certificate" in str(refused.value.next_step)
        with pytest.raises(TransientPlatformError, match="has expired"):
            VirtualClock(running.endpoint_url).now()


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_bundle_without_certificates_is_named(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    """A missing file and a file of something else are the user's to correct."""
    bundle = tmp_path / "authority.pem"
    if text is not None:
        bundle.write_text(text)
    monkeypatch.setenv("AWS_CA_BUNDLE", str(bundle))
    with pytest.raises(ConfigError, match=r"AWS_CA_BUNDLE names .*authority\.pem"):
        VirtualClock(address).now()
