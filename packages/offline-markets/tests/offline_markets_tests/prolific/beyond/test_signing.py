"""Signed addresses of studies, checked with the published keys."""

import base64
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.documented import documented
from offline_markets_tests.prolific.people import START, Researcher


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _keys(researcher: Researcher) -> list[dict[str, Any]]:
    """The keys, which anybody may read."""
    reply = httpx.get(f"{researcher.url}/.well-known/study/jwks.json")
    document = documented()
    if document is not None:
        document.check(reply)
    keys: list[dict[str, Any]] = reply.json()["keys"]
    return keys


def _checked(token: str, key: dict[str, Any]) -> dict[str, Any]:
    """The claims of a token whose signature is right."""
    head, claims, signature = token.split(".")
    assert json.loads(_bytes(head)) == {"alg": "RS256", "kid": key["kid"], "typ": "JWT"}
    e, n = (int.from_bytes(_bytes(key[name])) for name in ("e", "n"))
    rsa.RSAPublicNumbers(e, n).public_key().verify(
        _bytes(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
    )
    decoded: dict[str, Any] = json.loads(_bytes(claims))
    return decoded


def test_the_token_vouches_for_the_parameters(researcher: Researcher) -> None:
    """For two minutes, for this address and for this session."""
    study_id = researcher.study(is_external_study_url_secure=True)
    assert researcher.get(f"/studies/{study_id}/")["is_external_study_url_secure"]
    someone = researcher.participant()
    taken = someone.ask("POST", f"/studies/{study_id}", {})
    url = httpx.URL(taken["url"])
    [key] = _keys(researcher)
    claims = _checked(url.params["prolific_token"], key)
    plain = taken["url"].partition("&prolific_token=")[0]
    two_minutes_later = START + timedelta(minutes=2)
    assert claims == {
        "iss": "https://www.prolific.com",
        "iat": int(START.timestamp()),
        "exp": int(two_minutes_later.timestamp()),
        "aud": plain,
        "sub": taken["submission_id"],
        "prolific": {
            "PROLIFIC_PID": someone.participant_id,
            "STUDY_ID": study_id,
            "SESSION_ID": taken["submission_id"],
            "workspace_id": researcher.workspace_id(),
        },
    }
    head, body, signature = url.params["prolific_token"].split(".")
    other = base64.urlsafe_b64encode(b"{}").rstrip(b"=").decode()
    assert other != body
    with pytest.raises(InvalidSignature):
        _checked(f"{head}.{other}.{signature}", key)


def test_an_address_is_signed_only_on_demand(researcher: Researcher) -> None:
    """Most studies have plain ones."""
    taken = researcher.participant().ask("POST", f"/studies/{researcher.study()}", {})
    assert "prolific_token" not in taken["url"]


def test_the_key_stays_after_a_restart(tmp_path: Path) -> None:
    """It is kept in the file."""
    options = Options(start=START, database=tmp_path / "prolific.db")
    seen = []
    for _ in range(2):
        with serve(options) as url, Researcher(url) as researcher:
            seen.append(_keys(researcher))
    assert seen[0] == seen[1]
