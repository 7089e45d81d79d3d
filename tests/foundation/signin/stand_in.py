"""A provider of OpenID Connect that errs on purpose; real HTTP, real signatures.

It checks what a strict provider checks: client, redirect address, PKCE, and that a code
is used once. What it then sends, a test may spoil.
"""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "review", "a secret of the client"
Claims = dict[str, Any]


def _present() -> int:
    return int(time.time())  # noqa: TID251 - the provider's own clock


def new_key() -> RSAKey:
    """Make a key to sign tokens with."""
    return RSAKey.generate_key(2048, {"kid": secrets.token_hex(8), "use": "sig"})


@cache
def _first_key() -> RSAKey:
    """The key of all providers at their start: making one takes a while."""
    return new_key()


@dataclass(slots=True)
class StandIn:
    """The provider at work; tests change its attributes.

    Attributes:
        issuer: its address.
        claims: what it says of the person who signs in.
        spoil: changes a token's claims.
        more: what `userinfo` says beyond the token.
        changed: replaced keys of the discovery document.
        algorithm: how tokens are signed; `none` and HS256 are attacks.
        state: replaces the state that it sends back.
        delay: seconds before each answer.
        is_down: whether it closes each connection.
        key: the key that signs.
        published: the key that it publishes.
        codes: codes that it gave, with the requests for them.
        seen: paths that were asked for.
        tokens: all tokens that it gave.
    """

    issuer: str = ""
    claims: Claims = field(default_factory=dict)
    spoil: Callable[[Claims], object] = field(default_factory=lambda: _leave)
    more: Claims = field(default_factory=dict)
    changed: Claims = field(default_factory=dict)
    algorithm: str = "RS256"
    state: str = ""
    delay: float = 0
    is_down: bool = False
    key: RSAKey = field(default_factory=_first_key)
    published: RSAKey = field(default_factory=_first_key)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)

    def make_good(self) -> None:
        """Err no more."""
        self.spoil, self.algorithm, self.state = _leave, "RS256", ""
        self.key = self.published = _first_key()
        self.person("ada")

    def person(self, subject: str, **claims: object) -> None:
        """Let this person sign in."""
        address = {"email": f"{subject}@example.org", "email_verified": True}
        self.claims = {"sub": subject, "name": subject.title(), **address, **claims}

    def document(self) -> Claims:
        """What discovery returns."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/keys",
            "id_token_signing_alg_values_supported": ["RS256", "none", "HS256"],
            **self.changed,
        }

    def token(self, request: dict[str, str]) -> str:
        """An id token for a code."""
        claims: Claims = {
            "iss": self.issuer,
            "aud": request["client_id"],
            "iat": _present(),
            "exp": _present() + 300,
            "nonce": request["nonce"],
            **self.claims,
        }
        self.spoil(claims)
        header = {"alg": self.algorithm, "kid": self.key.kid}
        if self.algorithm == "none":
            body = [_packed(json.dumps(part).encode()) for part in (header, claims)]
            return ".".join([*body, ""])
        if self.algorithm == "HS256":
            # The public key as a shared secret: an old confusion of libraries.
            body = [_packed(json.dumps(part).encode()) for part in (header, claims)]
            secret = self.key.as_pem(private=False)
            mac = hmac.new(secret, ".".join(body).encode(), "sha256").digest()
            return ".".join([*body, _packed(mac)])
        return jwt.encode(header, claims, self.key, algorithms=[self.algorithm])


def _leave(_claims: Claims) -> None:
    """Spoil nothing."""


def _packed(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class _Handler(BaseHTTPRequestHandler):
    stand_in: ClassVar[StandIn]

    def log_message(self, *_parts: object) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        """Answer discovery, keys, the form that nobody fills in, and `userinfo`."""
        here = self.stand_in
        parts = urlsplit(self.path)
        here.seen.append(parts.path)
        time.sleep(here.delay)
        if here.is_down:
            self.close_connection = True
            return
        if parts.path == "/.well-known/openid-configuration":
            self._send(here.document())
        elif parts.path == "/keys":
            self._send({"keys": [here.published.as_dict(private=False)]})
        elif parts.path == "/userinfo":
            self._send({**here.claims, **here.more})
        elif parts.path == "/authorize":
            self._authorize({name: v[0] for name, v in parse_qs(parts.query).items()})
        else:
            self._send({"error": "not_found"}, status=404)

    def do_POST(self) -> None:
        """Exchange a code."""
        here = self.stand_in
        here.seen.append(self.path)
        time.sleep(here.delay)
        if here.is_down:
            self.close_connection = True
            return
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        # Once: a code that comes again is not there.
        request = here.codes.pop(form.get("code", ""), None)
        if not self._is_client(form):
            self._send({"error": "invalid_client"}, status=401)
        elif request is None or not _fits(form, request):
            self._send({"error": "invalid_grant"}, status=400)
        else:
            access_token = secrets.token_urlsafe(16)
            id_token = here.token(request)
            here.tokens += [access_token, id_token]
            self._send(
                {
                    "access_token": access_token,
                    "token_type": "Bearer",
                    "expires_in": 300,
                    "id_token": id_token,
                }
            )

    def _is_client(self, form: dict[str, str]) -> bool:
        header = self.headers.get("Authorization", "")
        text = base64.b64decode(header.partition(" ")[2]).decode()
        return text == f"{CLIENT}:{SECRET}" or form.get("client_secret") == SECRET

    def _authorize(self, query: dict[str, str]) -> None:
        here = self.stand_in
        code = secrets.token_urlsafe(16)
        here.codes[code] = query
        back = urlencode({"code": code, "state": here.state or query["state"]})
        self.send_response(302)
        self.send_header("Location", f"{query['redirect_uri']}?{back}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, document: Claims, *, status: int = 200) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _fits(form: dict[str, str], request: dict[str, str]) -> bool:
    """Whether the secret of PKCE and the address are those of the request."""
    digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
    return (
        request.get("code_challenge_method") == "S256"
        and _packed(digest) == request.get("code_challenge")
        and form.get("redirect_uri") == request.get("redirect_uri")
    )


@contextmanager
def at_work(port: int = 0) -> Iterator[StandIn]:
    """Run a provider on this machine until the block ends."""
    stand_in = StandIn()
    handler = type("_Own", (_Handler,), {"stand_in": stand_in})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    stand_in.issuer = f"http://127.0.0.1:{server.server_port}"
    stand_in.person("ada")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
