"""AWS settings of the machine that boto3 cannot use: a sentence, where they matter."""

from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.ids import AssignmentId
from piecework.platforms.client import turk_client
from piecework.platforms.mturk import MTurk


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
