"""`review`: people decide about work, on a page or in a CSV file.

Another CSV file has the audit trail of the decisions.
"""

import getpass
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import (
    BY_PERSON,
    CAMPAIGN,
    DATABASE,
    HOST,
    LIVE_MARKETPLACE,
    PORT,
    REHEARSAL_NUMBER,
    SITE_ADDRESS,
    TLS,
    NewFile,
    grouped,
    is_typed,
    load_results,
)
from piecework.cli.payday import known_people
from piecework.cli.sign_in_options import SIGN_IN, SignInOptions, door_of, role_named
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError, PieceworkError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from piecework.campaign.opened import OpenedCampaign
    from piecework.domain.ids import AssignmentId
    from piecework.foundation.signin.person import Role

_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """The CSV files that stand in for the page."""

    write: Path | None
    read: Path | None
    audit: Path | None

    @property
    def asked(self) -> list[str]:
        """The options that are stated."""
        stated = {"--csv": self.write, "--read": self.read, "--audit": self.audit}
        return [name for name, path in stated.items() if path is not None]


@click.command()
@CAMPAIGN
@REHEARSAL_NUMBER
@grouped(
    "file",
    _Files,
    click.option(
        "--csv",
        "write",
        metavar="FILE",
        type=NewFile(path_type=Path),
        help="Open no page: write the decisions to make to this new CSV.",
    ),
    click.option(
        "--read",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Open no page: read a filled-in file, all rows or none.",
    ),
    click.option(
        "--audit",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Open no page: write sign-ins, decisions and undos to this CSV.",
    ),
)
@BY_PERSON
@DATABASE
@LIVE_MARKETPLACE
@click.option("--blind", is_flag=True, help="Hide evidence, proposals and workers' histories.")
@click.option(
    "--twice",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Share of answers to show to a second person too.",
)
@click.option("--port", type=PORT, default=0, help="Port of the page; default: a free port.")
@HOST
@TLS
@SITE_ADDRESS
@click.option(
    "--reviewer",
    "reviewers",
    multiple=True,
    metavar="NAME[:ROLE]",
    help="A reviewer, who gets a link; repeatable. Role: reader, reviewer (default) or requester.",
)
@SIGN_IN
def review(  # noqa: PLR0913 - an argument for each option
    campaign: Path,
    *,
    file: "_Files",
    by: str,
    database: Path,
    live: bool,
    blind: bool,
    twice: float,
    port: int,
    host: str,
    tls: tuple[Path, Path] | None,
    site_url: str,
    reviewers: tuple[str, ...],
    signing_in: SignInOptions,
) -> None:
    r"""Decide about flagged work.

    The command opens a page in the browser; --csv writes the same decisions to a file,
    which --read reads back.

    People are shown by pseudonym, and to you alone also by name, if the marketplace's
    file (--database) is here. The page also shows what workers wrote about rejections, as
    the marketplace states it when the command starts; with --live also one on another machine.

    The next pass carries decisions out; until then you can undo them. Only this machine
    can open the page, unless you give --host, which for other machines needs --tls.

    Examples:
      piecework review birds.toml --blind --twice 0.1
      piecework review birds.toml --csv decisions.csv
      piecework review birds.toml --host 0.0.0.0 --port 8443 \
        --site-url https://review.example.org:8443 --tls cert.pem key.pem \
        --reviewer ada --reviewer grace:reader
    """
    if asked := file.asked:
        _refuse_of_the_page(asked)
        _exchange(campaign, file, by=by.strip())
        return
    from piecework.engine.opening import open_to_look
    from piecework.foundation.server.server import Certificate
    from piecework.review.desk import Manner
    from piecework.review.server import Address, serve
    from piecework.review.sessions import Sessions

    if by and reviewers:
        raise ConfigError(["--by is for one person, --reviewer for several; give one"])
    door = door_of(signing_in, has_fixed_address=bool(port or site_url))
    # With a provider, there are only the links that are asked for.
    links = () if door and not by else (by or getpass.getuser(),)
    roles = dict(map(_name_and_role, reviewers or links))
    if len(roles) < len(reviewers):
        raise ConfigError(["--reviewer: two reviewers have the same name"])
    address = Address(
        host=host,
        port=port,
        certificate=Certificate(chain=tls[0], key=tls[1]) if tls else None,
        url=site_url,
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

    names = known_people(database).names
    with open_to_look(load_results(campaign)) as opened:
        manner = Manner(
            is_blind=blind,
            twice=twice,
            names={} if reviewers or door else names,
            objections={} if blind else _objections(opened, live=live),
        )
        serve(opened, address, manner, ready=ready)


def _objections(opened: "OpenedCampaign", *, live: bool) -> "Mapping[AssignmentId, str]":
    """Return what the campaign's marketplace knows of objections to rejections.

    If it cannot be asked, the command says so: the page works without it.
    """
    from piecework.engine.opening import on_its_platform
    from piecework.platforms.endpoint import is_on_this_machine

    if not opened.endpoint:
        return {}
    if not live and not is_on_this_machine(opened.endpoint):
        why = "--live also asks a marketplace on another machine"
    else:
        try:
            here = on_its_platform(opened, patience_seconds=_PATIENCE_SECONDS)
            return here.platform.objections()
        except PieceworkError as fault:
            why = str(fault)
    click.echo(f"the page does not show what workers wrote about rejections: {why}", err=True)
    return {}


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


def _refuse_of_the_page(asked: list[str]) -> None:
    """Refuse several files, and options of the page beside a file.

    Raises:
        click.UsageError: a part of the command line would have no effect.
    """
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)}: give only one of them")
    context = click.get_current_context()
    typed = {
        option.name: max(option.opts, key=len)
        for option in context.command.params
        if isinstance(option, click.Option) and is_typed(str(option.name))
    }
    of_a_file = {"write", "read", "audit", "log_file", "verbose", "config", "rehearsal"}
    of_a_file |= {"by"} if asked == ["--read"] else set()
    if strange := [name for key, name in typed.items() if key not in of_a_file]:
        raise click.UsageError(f"{', '.join(strange)}: no use with {asked[0]}, which opens no page")
    if asked == ["--read"] and not str(context.params["by"]).strip():
        raise click.UsageError("--read needs --by NAME: the store keeps who decided")


def _exchange(campaign: Path, file: _Files, *, by: str) -> None:
    """Write or read decisions, or write the audit trail."""
    from piecework.engine.opening import open_to_look
    from piecework.review.model.decisions_csv import audit_csv, read_decisions, waiting_csv
    from piecework.store.files import write_private

    with open_to_look(load_results(campaign)) as opened:
        if file.write is not None:
            content, rows = waiting_csv(opened)
            write_private(file.write, content)
            click.echo(f"{file.write}: {rows} decisions to make")
        elif file.audit is not None:
            content, rows = audit_csv(opened)
            write_private(file.audit, content)
            click.echo(f"{file.audit}: {rows} entries")
        elif file.read is not None:
            new = read_decisions(opened, read_text(file.read), decided_by=by, name=str(file.read))
            then = "the next export shows them"
            if not opened.is_imported:
                then = "the next pass acts on them"
            click.echo(f"{file.read}: {new} decisions stored; {then}")
