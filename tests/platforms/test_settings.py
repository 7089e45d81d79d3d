"""AWS settings of the machine that boto3 cannot use: a sentence, where they matter."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from piecework.domain.errors import ConfigError, PlatformRefused
from piecework.domain.ids import AssignmentId
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.client import turk_client
from piecework.platforms.endpoint import OWN_KEYS, VARIABLE, Credentials, MarketKey, as_text
from piecework.platforms.mturk import MTurk
from tests.marketplace.live_market import give, opened

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"AWS_PROFILE": "nope"}, "nope"),
        ({"AWS_CONFIG_FILE": "{folder}/config"}, "config"),
        ({"AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": ""}, "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_settings_that_cannot_be_used_are_named(
    settings: dict[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first call, and not before: who only reads the store makes none."""
    (tmp_path / "config").write_text("[default\nbroken")
    for name, value in settings.items():
        monkeypatch.setenv(name, value.format(folder=tmp_path))
    platform = MTurk("http://127.0.0.1:1")
    with pytest.raises(ConfigError, match=f"AWS settings: .*{words}") as caught:
        platform.approve(AssignmentId("A1"))
    assert "AWS_" in caught.value.next_step


def test_the_marketplace_may_have_other_keys_than_a_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Piecework's own variables come first; half of them is a sentence."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "OF-A-BUCKET")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("PIECEWORK_ACCESS_KEY_ID", "OF-THE-MARKETPLACE")
    with pytest.raises(ConfigError, match="PIECEWORK_SECRET_ACCESS_KEY is not set"):
        turk_client("http://127.0.0.1:1", access_key=None, secret_key=None)
    monkeypatch.setenv("PIECEWORK_SECRET_ACCESS_KEY", "other")
    for key, used in ((None, "OF-THE-MARKETPLACE"), ("OF-A-CALLER", "OF-A-CALLER")):
        client = turk_client("http://127.0.0.1:1", access_key=key, secret_key=key and "secret")
        assert client._request_signer._credentials.access_key == used  # type: ignore[attr-defined]


_SECRET = "NobodyMayReadThisSecret"  # noqa: S105 - it is looked for


def _in_profile(patch: pytest.MonkeyPatch, folder: Path) -> str:
    (folder / "credentials").write_text(
        f"[lab]\naws_access_key_id = PROFILE\naws_secret_access_key = {_SECRET}\n"
    )
    patch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "credentials"))
    patch.setenv("AWS_PROFILE", "lab")
    return "'PROFILE' (from the profile lab of AWS's credentials file)"


def _in_variables(patch: pytest.MonkeyPatch, prefix: str) -> str:
    patch.setenv(f"{prefix}_ACCESS_KEY_ID", "VARIABLE")
    patch.setenv(f"{prefix}_SECRET_ACCESS_KEY", _SECRET)
    return f"'VARIABLE' (from {prefix}_ACCESS_KEY_ID)"


def _in_file(patch: pytest.MonkeyPatch, folder: Path, endpoint: str) -> str:
    file = folder / "birds.key.json"
    file.write_text(as_text(MarketKey(endpoint, "FILE", _SECRET)))
    file.chmod(0o600)
    patch.setenv(VARIABLE, str(file))
    return f"'FILE' (from the file {file})"


@pytest.mark.parametrize("is_known", [False, True], ids=["unknown", "wrong secret"])
@pytest.mark.parametrize("place", ["profile", "AWS", "PIECEWORK", "file", "block"])
def test_a_refused_key_is_named_with_its_source(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    """Of all places that a key may be in; its secret is in no sentence."""
    for name in ("AWS_PROFILE", *OWN_KEYS, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", VARIABLE):
        monkeypatch.delenv(name, raising=False)
    database = tmp_path / "market.db"
    key = give(database)
    with serve(Marketplace(database)) as running:
        ways: dict[str, Callable[[], str]] = {
            "profile": lambda: _in_profile(monkeypatch, tmp_path),
            "AWS": lambda: _in_variables(monkeypatch, "AWS"),
            "PIECEWORK": lambda: _in_variables(monkeypatch, "PIECEWORK"),
            "file": lambda: _in_file(monkeypatch, tmp_path, running.endpoint_url),
            "block": lambda: "'BLOCK' (from the Prefect block secret/keys)",
        }
        where = ways[place]()
        name = where.split("'")[1]
        block = Credentials(
            access_key=name, secret_key=_SECRET, source="the Prefect block secret/keys"
        )
        if is_known:
            with opened(database) as backend, backend.transaction() as transaction:
                transaction.execute(
                    "UPDATE access_keys SET access_key = ? WHERE access_key = ?",
                    name,
                    key.access_key,
                )
        platform = MTurk.with_keys(running.endpoint_url, block if place == "block" else None)
        with pytest.raises(PlatformRefused) as refused:
            platform.prices()
    assert where in str(refused.value)
    assert ("the secret of the access key" in str(refused.value)) is is_known
    assert _SECRET not in str(refused.value) + refused.value.next_step


def test_without_a_key_the_places_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a file whose key is for another marketplace."""
    for name in ("AWS_PROFILE", *OWN_KEYS, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    for file in (False, True):
        if file:
            _in_file(monkeypatch, tmp_path, "http://127.0.0.1:2")
        with pytest.raises(ConfigError, match="PIECEWORK_ACCESS_KEY_ID and AWS_ACCESS") as missing:
            MTurk("http://127.0.0.1:1").approve(AssignmentId("A1"))
        assert ("birds.key.json is for http://127.0.0.1:2 alone" in str(missing.value)) is file
