"""Files that are uploaded, and their signed addresses.

The key is made when it is first needed and kept with the state. It is not drawn from
the seed: no other program may be able to make it.

A program with the address may upload: it needs no token, like that of a file store.
What is done with a file depends on what it was asked for.
"""

import base64
import hashlib
import json
import sqlite3
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from offline_markets.core.clock import HOUR, SECOND, iso
from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific.call import Call
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.state import State
from offline_markets.prolific.study import Study
from offline_markets.prolific.workspaces import workspace_row

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


FEEDBACK, DATASET = "feedback", "dataset"
_FORBIDDEN = 403
_OF_FEEDBACK = (".csv", ".xls", ".xlsx", ".json", ".txt", ".pdf")


def feedback_address(call: Call) -> dict[str, Any]:
    """Return an address for a file with feedback on submissions."""
    workspace_id = call.query.get("workspace_id", "")
    workspace_row(call.state, workspace_id)
    row = presigned(call, FEEDBACK, workspace_id, _OF_FEEDBACK)
    return {
        "upload_url": address(call, row),
        "http_method": "PUT",
        "expires_at": iso(row["expires_ms"]),
    }


def list_feedback(call: Call) -> dict[str, Any]:
    """List the files with feedback that arrived."""
    rows = call.state.rows(
        "SELECT * FROM upload WHERE kind = ? AND received_ms IS NOT NULL ORDER BY number",
        (FEEDBACK,),
    )
    return {
        "results": [
            {
                "filename": row["filename"],
                "workspace_id": row["subject"],
                "bytes": len(row["content"]),
                "sha256": hashlib.sha256(row["content"]).hexdigest(),
                "received_at": iso(row["received_ms"]),
            }
            for row in rows
        ]
    }


def presigned(call: Call, kind: str, subject: str, endings: tuple[str, ...]) -> sqlite3.Row:
    """Note that a file is expected, and return its row of the table `upload`.

    Args:
        call: the call, with the file's name in its address.
        kind: what the file is for.
        subject: the object that it belongs to.
        endings: how the names of such files may end.

    Raises:
        ApiError: the name ends in another way.
    """
    filename = call.path["filename"]
    if PurePosixPath(filename).suffix.lower() not in endings:
        raise wrong("filename", f"A file ends in {', '.join(endings)}.")
    upload_id = call.state.new_uuid()
    call.state.conn.execute(
        "INSERT INTO upload (id, kind, subject, filename, expires_ms) VALUES (?, ?, ?, ?, ?)",
        (upload_id, kind, subject, filename, call.state.now_ms + HOUR),
    )
    [row] = call.state.rows("SELECT * FROM upload WHERE id = ?", (upload_id,))
    return row


def address(call: Call, row: sqlite3.Row) -> str:
    """Return where the file of a row is uploaded to."""
    return f"{call.origin}/emulator/uploads/{row['id']}"


def receive(call: Call) -> dict[str, Any]:
    """Take a file in; a second one replaces the first."""
    state = call.state
    row = state.row("SELECT * FROM upload WHERE id = ?", (call.path["upload_id"],))
    if row is None:
        raise not_found("upload", call.path["upload_id"])
    if row["expires_ms"] <= state.now_ms:
        raise ApiError(_FORBIDDEN, "Request has expired.")
    state.conn.execute(
        "UPDATE upload SET received_ms = ?, content = ? WHERE id = ?",
        (state.now_ms, call.content, row["id"]),
    )
    if row["kind"] == DATASET:
        at_ms = state.now_ms + state.switches.settling_seconds * SECOND
        state.plan("import", row["id"], at_ms=at_ms)
    return {}


OPERATIONS = (
    Operation(
        "get-submission-feedback-upload-url",
        "GET",
        "/submissions/signals/upload-url/{filename}",
        feedback_address,
        201,
    ),
)
WITHOUT_TOKEN = (Operation("upload", "PUT", "/emulator/uploads/{upload_id}", receive, is_raw=True),)
