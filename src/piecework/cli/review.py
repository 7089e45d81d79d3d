"""`review`: serves the page on which people decide about flagged work."""

import getpass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import CAMPAIGN, PORT
from piecework.cli.sign_in_options import SIGN_IN, SignInOptions, door_of, role_named
from piecework.domain.errors import ConfigError

if TYPE_CHECKING:
    from piecework.signin.roles import Role

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@CAMPAIGN
@click.option("--by", default="", help="Name of the person who decides; default: your login.")
@click.option("--blind", is_flag=True, help="Hide evidence, proposals and workers' histories.")
@click.option(
    "--twice",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Share of the reviewed answers to show to a second person too.",
)
@click.option("--port", type=PORT, default=0, help="Port of the page; default: a free port.")
@click.option(
    "--listen",
    default="127.0.0.1",
    show_default=True,
    metavar="HOST",
    help="Address to bind; an address that other machines can reach needs --tls.",
)
@click.option(
    "--tls",
    nargs=2,
    type=_FILE,
    metavar="CERTIFICATE KEY",
    help="PEM files, to serve the page over HTTPS.",
)
@click.option("--url", default="", help="URL at which browsers reach the page.")
@click.option(
    "--reviewer",
    "reviewers",
    multiple=True,
    metavar="NAME[:ROLE]",
    help="Name of a reviewer, who gets a link of their own; repeatable. Role: reader, "
    "reviewer (default) or requester.",
)
@SIGN_IN
def review(  # noqa: PLR0913 - an argument for each option
    campaign: Path,
    *,
    by: str,
    blind: bool,
    twice: float,
    port: int,
    listen: str,
    tls: tuple[Path, Path] | None,
    url: str,
    reviewers: tuple[str, ...],
    signing_in: SignInOptions,
) -> None:
    r"""Decide about flagged work in the browser.

    The page spends no money. The next pass carries the decisions out, and until then
    you can undo each of them. Only this machine can open the page, unless you give
    --listen.

    Examples:
      piecework review birds.toml --blind --twice 0.1
      piecework review birds.toml --listen 0.0.0.0 --port 8443 \
        --url https://review.example.org:8443 --tls cert.pem key.pem \
        --reviewer ada --reviewer grace:reader
      piecework review birds.toml --port 8443 --url https://review.example.org \
        --oidc-issuer https://login.example.org --oidc-client review \
        --oidc-secret-file secret --email-role ada@example.org=requester
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.review.desk import Manner
    from piecework.review.server import Address, serve
    from piecework.review.sessions import Sessions
    from piecework.webserver.server import Certificate

    if by and reviewers:
        raise ConfigError(["--by is for one person, --reviewer for several; give one"])
    door = door_of(signing_in, has_fixed_address=bool(port or url))
    # With a provider, there are only the links that are asked for.
    links = () if door and not by else (by or getpass.getuser(),)
    roles = dict(map(_name_and_role, reviewers or links))
    if len(roles) < len(reviewers):
        raise ConfigError(["--reviewer: two reviewers have the same name"])
    address = Address(
        host=listen,
        port=port,
        certificate=Certificate(chain=tls[0], key=tls[1]) if tls else None,
        url=url,
        reviewers=list(roles),
        roles=roles,
        door=door,
    )

    def ready(sessions: Sessions, problem: str) -> None:
        for name, link in sessions.links.items():
            click.echo(f"{name}: open {link}" if reviewers else f"open {link}")
        if door:
            click.echo(f"sign in at {sessions.origin}/sign-in")
        if problem:
            click.echo(f"the provider does not work yet: {problem}", err=True)
        click.echo("each decision is stored at once; Ctrl-C ends the page")

    with open_to_look(load_campaign(campaign)) as opened:
        serve(opened, address, Manner(is_blind=blind, twice=twice), ready=ready)


def _name_and_role(text: str) -> "tuple[str, Role]":
    """Return a name and its role.

    >>> _name_and_role("ada"), _name_and_role("grace:reader")
    (('ada', 'reviewer'), ('grace', 'reader'))
    """
    name, _, named = text.rpartition(":")
    role = role_named(named) if name else None
    return (_name(text), "reviewer") if role is None else (_name(name), role)


def _name(text: str) -> str:
    name, longest = text.strip(), 60
    if not name or not name.isprintable() or len(name) > longest:
        raise ConfigError([f"{text!r} is not a name of 1 to {longest} printable characters"])
    if name.startswith("policy:"):
        raise ConfigError([f"{text!r}: only the policy has a name that begins with 'policy:'"])
    return name
