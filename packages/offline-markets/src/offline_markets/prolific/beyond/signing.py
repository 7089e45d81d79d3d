"""Sign the addresses of studies, and publish the key to check them with.

The key is made when it is first needed and kept with the state. It is not drawn from
the seed: no other program may be able to make it.
"""

import base64
import json
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from offline_markets.core.clock import SECOND
from offline_markets.prolific.call import Call
from offline_markets.prolific.state import State
from offline_markets.prolific.study import Study

TOKEN = "prolific_token"  # noqa: S105 - the name of a parameter
_ISSUER = "https://www.prolific.com"
_VALID_SECONDS = 120
_BITS = 2048
_EXPONENT = 65537


def keys(call: Call) -> dict[str, Any]:
    """Return the public keys, as a JSON Web Key Set."""
    kid, key = _key(call.state)
    numbers = key.public_key().public_numbers()
    return {
        "keys": [
            {
                "kty": "RSA",
                "kid": kid,
                "alg": "RS256",
                "n": _number(numbers.n),
                "e": _number(numbers.e),
                "use": "sig",
                "key_ops": ["verify"],
            }
        ]
    }


def signed(state: State, address: str, study: Study, session_id: str) -> str:
    """Return an address with a token that vouches for its parameters."""
    kid, key = _key(state)
    now = state.now_ms // SECOND
    claims = {
        "iss": _ISSUER,
        "iat": now,
        "exp": now + _VALID_SECONDS,
        "aud": address,
        "sub": session_id,
        "prolific": {
            **dict(parse_qsl(urlsplit(address).query)),
            "workspace_id": study.workspace_id,
        },
    }
    head = _part({"alg": "RS256", "kid": kid, "typ": "JWT"})
    content = f"{head}.{_part(claims)}"
    signature = key.sign(content.encode(), padding.PKCS1v15(), hashes.SHA256())
    token = f"{content}.{_encoded(signature)}"
    joint = "&" if urlsplit(address).query else "?"
    return f"{address}{joint}{urlencode({TOKEN: token})}"


def _key(state: State) -> tuple[str, rsa.RSAPrivateKey]:
    row = state.row("SELECT * FROM signing_key ORDER BY number DESC")
    if row is None:
        key = rsa.generate_private_key(public_exponent=_EXPONENT, key_size=_BITS)
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        kid = state.new_uuid()
        state.conn.execute("INSERT INTO signing_key (id, pem) VALUES (?, ?)", (kid, pem.decode()))
        return kid, key
    kept = serialization.load_pem_private_key(row["pem"].encode(), password=None)
    if not isinstance(kept, rsa.RSAPrivateKey):
        raise TypeError("The key of this file is not an RSA key.")
    return str(row["id"]), kept


def _part(value: object) -> str:
    return _encoded(json.dumps(value, separators=(",", ":")).encode())


def _number(value: int) -> str:
    return _encoded(value.to_bytes((value.bit_length() + 7) // 8))


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
