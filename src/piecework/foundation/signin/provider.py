"""The provider, through authlib: where to send people, and who came back.

authlib does the protocol: discovery, state, nonce, PKCE, the exchange of the code, the
signature and the claims of the token, and new keys. This module chooses how strictly.
It is the only one that imports authlib, which an extra of the package installs.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.starlette_client import OAuth, StarletteOAuth2App
from authlib.oidc.core import CodeIDToken
from joserfc.errors import ExpiredTokenError, InvalidClaimError, JoseError
from starlette.requests import Request

from piecework.foundation.signin.person import (
    Person,
    ProviderSettings,
    ProviderUnusable,
    SignInRefused,
    WrongProvider,
    is_safe_address,
    person_of,
)

SKEW_SECONDS = 120
"""How far the clocks of this machine and the provider may differ."""
PATIENCE_SECONDS = 10.0
"""How long all calls of one step may take."""
_FRESH_SECONDS = 3_600
"""After this time, addresses and keys of the provider are read again."""
_LARGEST_ANSWER = 1 << 20
_MINUTE = 60

_SIGNATURES = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
    "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
)  # fmt: skip
"""Signatures with a private key: `none`, or one by a secret, would prove nothing."""

_KNOWN = frozenset(
    {
        "issuer",
        "authorization_endpoint",
        "token_endpoint",
        "userinfo_endpoint",
        "jwks_uri",
        "id_token_signing_alg_values_supported",
        "token_endpoint_auth_methods_supported",
        "_loaded_at",
    }
)
"""authlib makes options of its HTTP client from the others, even `verify`."""


class Provider:
    """A provider of OpenID Connect.

    Args:
        settings: the provider, and how it knows this server.
        now: the time in seconds since 1970.
        roles_claim: the name of the claim that gives roles, if any.
        wants_email: whether an e-mail address is needed.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        now: Callable[[], float],
        roles_claim: str = "",
        wants_email: bool = True,
    ) -> None:
        self.settings, self._roles_claim = settings, roles_claim
        self._wanted = {name for name in (roles_claim,) if name}
        self._wanted |= {"email", "email_verified"} if wants_email else set()
        registry = OAuth()
        registry.register(
            "provider",
            client_cls=_App,
            client_id=settings.client_id,
            client_secret=settings.client_secret or None,
            server_metadata_url=settings.issuer.rstrip("/") + "/.well-known/openid-configuration",
            client_kwargs={
                "scope": " ".join(settings.scopes),
                "code_challenge_method": "S256",
                "timeout": PATIENCE_SECONDS,
                # authlib makes a client for each call; reading all certificates of
                # the machine each time would hold up other requests.
                "verify": httpx2.create_ssl_context(),
                "headers": {"Accept-Encoding": "identity"},
                "event_hooks": {"response": [_limit]},
            },
        )
        self._app: _App = registry.create_client("provider")
        self._app.issuer, self._app.now = settings.issuer, now
        self._now = now

    async def look(self) -> None:
        """Read the provider's addresses and keys.

        Raises:
            ProviderUnusable: it does not answer, or not as it should.
            WrongProvider: the settings do not fit it.
        """
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._app.load_server_metadata()
                await self._app.fetch_jwk_set()
        except Exception as fault:
            raise self._refusal(fault) from fault

    async def begin(self, session: dict[str, Any], *, asks_again: bool = False) -> str:
        """Return the address at the provider to which a browser is sent.

        Args:
            session: a dictionary to keep until the browser comes back.
            asks_again: whether the provider shall ask who it is, even if it knows.

        Raises:
            ProviderUnusable: it does not answer, or not as it should.
        """
        self._app.forget_if_old(self._now())
        request = Request({"type": "http", "session": session})
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                reply = await self._app.authorize_redirect(
                    request,
                    self.settings.redirect_url,
                    **({"prompt": "login"} if asks_again else {}),
                )
        except Exception as fault:
            raise self._refusal(fault) from fault
        return str(reply.headers["location"])

    async def finish(self, request: Request, session: dict[str, Any]) -> Person:
        """Return the person whom the provider has sent back.

        Args:
            request: the request that the browser brought from the provider.
            session: the dictionary that `begin` got.

        Raises:
            SignInRefused: the answer does not fit, or a token is not valid.
            ProviderUnusable: the provider does not answer, or not as it should.
        """
        scope = {**request.scope, "session": session}
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                claims = await self._claims(Request(scope))
        except Exception as fault:
            raise self._refusal(fault) from fault
        return person_of(claims, roles_claim=self._roles_claim)

    async def _claims(self, request: Request) -> Mapping[str, Any]:
        app = self._app
        if not request.query_params.get("code") and "error" not in request.query_params:
            raise SignInRefused("The provider sent no code. Begin again.", kind="no_code")
        token = await app.authorize_access_token(
            request,
            claims_options={
                "iss": {"essential": True, "value": self.settings.issuer},
                "aud": {"essential": True, "value": self.settings.client_id},
            },
            leeway=SKEW_SECONDS,
        )
        claims = dict(token.get("userinfo") or {})
        if not claims:
            raise ProviderUnusable(
                "The provider sent no id token; ask its administrator whether this "
                "client may use OpenID Connect.",
                kind="no_id_token",
            )
        if self._wanted - set(claims) and "userinfo_endpoint" in app.server_metadata:
            more = await app.userinfo(token=token)
            if more.get("sub") != claims["sub"]:
                raise SignInRefused(
                    "The provider described another person than the one who signed in.",
                    kind="wrong_userinfo",
                )
            claims = {**more, **claims}
        return claims

    def _refusal(self, fault: Exception) -> SignInRefused:
        """Return a fault as a sentence for the page, without what strangers wrote."""
        host = self.settings.host
        if isinstance(fault, SignInRefused):
            return fault
        if isinstance(fault, OAuthError):
            return _of_protocol(fault, host)
        if isinstance(fault, JoseError):
            return _of_token(fault, host)
        return _of_call(fault, host)


class _App(StarletteOAuth2App):  # type: ignore[misc] # authlib has no types
    """authlib's client, which believes only what OpenID Connect defines."""

    issuer: str
    now: Callable[[], float]
    server_metadata: dict[str, Any]

    def forget_if_old(self, now: float) -> None:
        """Forget addresses and keys that were read long ago: keys are withdrawn."""
        age = now - self.server_metadata.get("read_at", now)
        if not 0 <= age <= _FRESH_SECONDS:
            self.server_metadata = {}

    async def load_server_metadata(self) -> dict[str, Any]:
        """Return the provider's metadata, after a check.

        Raises:
            WrongProvider: it has another issuer, or cannot be used safely.
        """
        if "read_at" in self.server_metadata:
            return dict(self.server_metadata)
        self.server_metadata = {}
        read = await super().load_server_metadata()
        metadata = {name: read[name] for name in _KNOWN & set(read)}
        self.server_metadata = {}
        _check_metadata(metadata, self.issuer)
        listed = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
        usable = [name for name in _SIGNATURES if name in listed]
        if not usable:
            raise WrongProvider(
                "The provider signs its tokens in no way that this server accepts; "
                "choose RS256 there.",
                kind="no_signature",
            )
        methods = metadata.pop("token_endpoint_auth_methods_supported", None)
        if self.client_secret and methods and "client_secret_basic" not in methods:
            metadata["token_endpoint_auth_method"] = "client_secret_post"  # noqa: S105
        metadata["id_token_signing_alg_values_supported"] = usable
        metadata["read_at"] = self.now()
        self.server_metadata = metadata
        return dict(metadata)

    async def parse_id_token(
        self,
        token: Mapping[str, Any],
        nonce: str,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Return the claims of a token; the time comes from this server's clock."""
        access_token = token.get("access_token")

        def claims(*parts: Any) -> _Claims:  # noqa: ANN401
            *before, parameters = parts
            made = _Claims(*before, {**parameters, "access_token": access_token})
            made.present = self.now()
            return made

        options["claims_cls"] = claims
        return await super().parse_id_token(token, nonce, **options)


class _Claims(CodeIDToken):  # type: ignore[misc] # authlib has no types
    """The claims of a token that was issued just now."""

    present: float

    def validate(self, now: int | None = None, leeway: int = 0) -> None:
        """Check all claims.

        Raises:
            SignInRefused: the token was issued at another time than now.
        """
        issued = self.get("iat")
        present = int(self.present) if now is None else now
        is_number = isinstance(issued, int | float) and not isinstance(issued, bool)
        # The token comes with the answer to this server's own call.
        if is_number and abs(present - issued) > leeway:
            minutes = round(abs(present - issued) / _MINUTE)
            order = "behind" if present < issued else "ahead of"
            raise SignInRefused(
                f"The clock of this server is {minutes:,} minutes {order} that of the "
                "provider; set it right (`timedatectl`), then sign in again.",
                kind="clock",
            )
        super().validate(present, leeway)


class _Limited(httpx2.AsyncByteStream):
    """The body of an answer, which ends with an error where it is too large."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - httpx's own
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > _LARGEST_ANSWER:
                raise _too_large()
            yield chunk

    async def aclose(self) -> None:
        """Close the connection's part."""
        await self._stream.aclose()


async def _limit(response: httpx2.Response) -> None:
    """Refuse answers that grow beyond all measure."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise _too_large()
    response.stream = _Limited(response.stream)


def _too_large() -> ProviderUnusable:
    return ProviderUnusable(
        "The provider's answer is too large or packed; ask its administrator to send fewer claims.",
        kind="too_large",
    )


def _check_metadata(metadata: Mapping[str, Any], issuer: str) -> None:
    if metadata.get("issuer") != issuer:
        raise WrongProvider(
            f"The provider at {issuer} has another name for itself; give the issuer "
            "letter by letter as it states it, also with or without a slash at the "
            "end.",
            kind="wrong_issuer",
        )
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        address = metadata.get(name)
        if not isinstance(address, str) or not is_safe_address(address):
            raise WrongProvider(
                f"The provider's {name} is missing or not an https address.", kind="unsafe_address"
            )


def _of_call(fault: Exception, host: str) -> ProviderUnusable:
    if isinstance(fault, TimeoutError | httpx2.TimeoutException):
        return ProviderUnusable(
            f"{host} did not answer within {PATIENCE_SECONDS:.0f} seconds. Try again later.",
            kind="provider_slow",
        )
    if isinstance(fault, httpx2.HTTPStatusError):
        return ProviderUnusable(
            f"{host} answered with the error {fault.response.status_code}. Try again later.",
            kind="provider_error",
        )
    if isinstance(fault, httpx2.HTTPError):
        return ProviderUnusable(f"{host} cannot be reached. Try again later.", kind="provider_down")
    return ProviderUnusable(
        f"{host} did not answer as a provider of OpenID Connect does; check the issuer.",
        kind="provider_strange",
    )


def _of_protocol(fault: OAuthError, host: str) -> SignInRefused:
    match fault.error:
        case "mismatching_state":
            return SignInRefused(
                "This answer belongs to another sign-in: it has been used, or you have "
                "begun again in another window. Begin again.",
                kind="wrong_state",
            )
        case "access_denied":
            return SignInRefused(
                f"{host} did not let you in, or you declined there.", kind="declined"
            )
        case "invalid_grant":
            return SignInRefused(
                f"{host} says that this sign-in is used or too old. Begin again.", kind="used_code"
            )
        case "invalid_client" | "unauthorized_client":
            return WrongProvider(
                f"{host} does not accept the client id or secret of this server; its "
                "operator must correct them.",
                kind="wrong_client",
            )
    return ProviderUnusable(
        f"{host} answered that the sign-in is not possible; its log says why.",
        kind="protocol_error",
    )


def _of_token(fault: JoseError, host: str) -> SignInRefused:
    if isinstance(fault, ExpiredTokenError):
        return SignInRefused(f"The token of {host} has expired. Begin again.", kind="expired")
    if isinstance(fault, InvalidClaimError):
        return SignInRefused(
            f"The token of {host} is not for this sign-in. Begin again; if it happens "
            "again, the client or the issuer is set up wrong.",
            kind="wrong_claim",
        )
    return SignInRefused(
        f"The token of {host} has no valid signature, or lacks a claim.", kind="wrong_token"
    )
