"""The options for signing in at a provider of OpenID Connect."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import grouped
from piecework.domain.errors import ConfigError, RefusedForSafety, load_extra
from piecework.domain.text import shell_word

if TYPE_CHECKING:
    from piecework.foundation.signin.person import ProviderSettings, Role, Roles
    from piecework.foundation.signin.provider import Provider
    from piecework.review.sign_in import Door

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_LONGEST_SECRET = 4096
_OTHERS = 0o077


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderOptions:
    """A provider."""

    oidc_issuer: str
    oidc_client: str
    oidc_secret_file: Path | None
    oidc_scope: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInOptions(ProviderOptions):
    """A provider, and who has which role."""

    email_role: tuple[str, ...]
    claim_role: tuple[str, ...]
    contact: str


_PROVIDER = (
    click.option(
        "--oidc-issuer",
        default="",
        metavar="URL",
        help="Let people sign in at this provider of OpenID Connect.",
    ),
    click.option(
        "--oidc-client",
        default="",
        metavar="ID",
        help="With --oidc-issuer: the id under which the provider knows this server.",
    ),
    click.option(
        "--oidc-secret-file",
        type=_FILE,
        help="With --oidc-issuer: file with the client's secret (mode 600); a public "
        "client has none.",
    ),
    click.option(
        "--oidc-scope",
        multiple=True,
        metavar="SCOPE",
        help="With --oidc-issuer: what to ask for, repeatable; default: openid, email and profile.",
    ),
)
PROVIDER = grouped("signing_in", ProviderOptions, *_PROVIDER)
SIGN_IN = grouped(
    "signing_in",
    SignInOptions,
    *_PROVIDER,
    click.option(
        "--email-role",
        multiple=True,
        metavar="EMAIL=ROLE",
        help="Role of the person with this verified address; repeatable.",
    ),
    click.option(
        "--claim-role",
        multiple=True,
        metavar="CLAIM=VALUE=ROLE",
        help="Role of people with this value of a claim: groups=annotators=reader; repeatable.",
    ),
    click.option(
        "--contact", default="", metavar="TEXT", help="Whom people without a role are told to ask."
    ),
)


def door_of(options: SignInOptions, *, has_fixed_address: bool) -> "Door | None":
    """Return how people sign in; `None` if they do not.

    Args:
        options: the options.
        has_fixed_address: whether the page's address is the same at each start.

    Raises:
        ConfigError: an option is missing or wrong, or the extra is not installed.
        RefusedForSafety: others can read the secret.
    """
    if not options.oidc_issuer:
        _check_unused(options)
        return None
    load_extra("authlib", extra="oidc", use="--oidc-issuer")
    from piecework.review.sign_in import Door

    if not has_fixed_address:
        raise ConfigError(
            [
                (
                    "--oidc-issuer needs --port or --site-url: the provider sends people "
                    "back to an address that it knows"
                )
            ]
        )
    roles = _roles(options)
    secret = _secret(options.oidc_secret_file)
    _settings(options, secret, "http://127.0.0.1")

    def provider_at(address: str, now: Callable[[], float]) -> "Provider":
        from piecework.foundation.signin.provider import Provider

        return Provider(
            _settings(options, secret, address),
            now=now,
            roles_claim=roles.claim,
            wants_email=bool(roles.by_email),
        )

    return Door(provider_at=provider_at, roles=roles, contact=options.contact)


def provider_of(
    options: ProviderOptions, *, is_rehearsal: bool
) -> "Callable[[str], Provider] | None":
    """Return what makes the provider of a marketplace's workers; `None` without one.

    Args:
        options: the options.
        is_rehearsal: whether the marketplace is a rehearsal.

    Raises:
        ConfigError: an option is missing or wrong, or the extra is not installed.
        RefusedForSafety: others can read the secret.
    """
    if not options.oidc_issuer:
        _check_unused(options)
        return None
    if is_rehearsal:
        raise ConfigError(["--oidc-issuer: a rehearsal has simulated workers; leave it out"])
    load_extra("authlib", extra="oidc", use="--oidc-issuer")
    secret = _secret(options.oidc_secret_file)

    def provider_at(address: str) -> "Provider":
        from piecework.domain.clock import SystemClock
        from piecework.foundation.signin.provider import Provider

        clock = SystemClock()
        return Provider(_settings(options, secret, address), now=lambda: clock.now().timestamp())

    _look(provider_at("http://127.0.0.1"))
    return provider_at


def _look(provider: "Provider") -> None:
    """Say what is wrong with a provider, which may work later.

    Raises:
        ConfigError: it answers, but the settings do not fit it.
    """
    import asyncio

    from piecework.foundation.signin.person import SignInRefused, WrongProvider

    try:
        asyncio.run(provider.look())
    except WrongProvider as fault:
        raise ConfigError([f"--oidc-issuer: {str(fault).rstrip('.')}"]) from fault
    except SignInRefused as fault:
        click.echo(f"the provider does not work yet: {fault}", err=True)


def _settings(options: ProviderOptions, secret: str, address: str) -> "ProviderSettings":
    from piecework.foundation.signin.person import SCOPES, ProviderSettings, UnusableSettingsError

    try:
        return ProviderSettings(
            issuer=options.oidc_issuer,
            client_id=options.oidc_client,
            client_secret=secret,
            redirect_url=address,
            scopes=options.oidc_scope or SCOPES,
        )
    except UnusableSettingsError as fault:
        raise ConfigError([f"--oidc-issuer: {fault}"]) from fault


def _roles(options: SignInOptions) -> "Roles":
    from piecework.foundation.signin.person import Roles, comparable_email

    by_email = _read_roles("--email-role", options.email_role)
    if strange := [email for email in by_email if email.count("@") != 1]:
        raise ConfigError(
            [f"--email-role: {email!r} is not an e-mail address" for email in strange]
        )
    by_claim = [
        (claim.strip(), value, role)
        for who, role in _read_roles("--claim-role", options.claim_role).items()
        for claim, _, value in [who.partition("=")]
    ]
    if strange := [claim for claim, value, _ in by_claim if not (claim and value.strip())]:
        raise ConfigError(["--claim-role: write it as CLAIM=VALUE=ROLE"])
    claims = {claim for claim, _, _ in by_claim}
    if len(claims) > 1:
        raise ConfigError([f"--claim-role: one claim gives roles, not {' and '.join(claims)}"])
    by_value = {value.strip(): role for _, value, role in by_claim}
    if len(by_value) < len(by_claim):
        raise ConfigError(["--claim-role: a value has two roles"])
    if not by_email and not by_value:
        raise ConfigError(
            [("--oidc-issuer: no person has a role; give --email-role or --claim-role")]
        )
    return Roles(
        by_email={comparable_email(email): role for email, role in by_email.items()},
        claim="".join(claims),
        by_value=by_value,
    )


def _read_roles(option: str, texts: Sequence[str]) -> "dict[str, Role]":
    read: dict[str, Role] = {}
    faults = []
    for text in texts:
        who, equals, name = text.rpartition("=")
        role = role_named(name)
        if not equals or not who.strip() or role is None:
            faults.append(
                f"{option} {text}: write it as WHO=ROLE, with the role reader, "
                "reviewer or requester"
            )
        elif read.setdefault(who.strip(), role) != role:
            faults.append(f"{option}: {who.strip()} has two roles; give one")
    if faults:
        raise ConfigError(faults)
    return read


def role_named(name: str) -> "Role | None":
    """Return the role with a name, if there is one."""
    from piecework.foundation.signin.person import ROLES

    return next((role for role in ROLES if role == name.strip()), None)


def _secret(file: Path | None) -> str:
    if file is None:
        return ""
    with file.open("rb") as opened:
        # Checks the open file, so that it cannot be swapped in between.
        if os.fstat(opened.fileno()).st_mode & _OTHERS:
            raise RefusedForSafety(
                f"{file}: other users of this machine can read the secret",
                next_step=f"chmod 600 {shell_word(file)}; if someone may have read it, make a new "
                "secret at the provider",
            )
        text = opened.read(_LONGEST_SECRET).decode("utf-8", errors="replace").strip()
    if not text or not text.isprintable():
        raise ConfigError([f"--oidc-secret-file: {file} is empty, or has more than one line"])
    return text


def _check_unused(options: ProviderOptions) -> None:
    names = [field.name for field in fields(options) if getattr(options, field.name)]
    if names:
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in names)
        raise ConfigError([f"{listed}: has an effect only with --oidc-issuer"])
