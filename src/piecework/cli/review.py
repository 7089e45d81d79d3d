"""`review`, `decisions` and `unreject`: people decide about work.

They decide on a page or in a CSV file, which also has the answers and the audit trail, and
may pay for rejected work after all.
"""

import getpass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import CAMPAIGN, LIVE_MARKETPLACE, PORT, REHEARSAL_NUMBER, load_results
from piecework.cli.sign_in_options import SIGN_IN, SignInOptions, door_of, role_named
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.hit import MTURK
from piecework.domain.ids import AssignmentId

if TYPE_CHECKING:
    from piecework.foundation.signin.person import Role

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@CAMPAIGN
@REHEARSAL_NUMBER
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
    from piecework.engine.opening import open_to_look
    from piecework.foundation.server.server import Certificate
    from piecework.review.desk import Manner
    from piecework.review.server import Address, serve
    from piecework.review.sessions import Sessions

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

    with open_to_look(load_results(campaign)) as opened:
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


@click.command()
@CAMPAIGN
@REHEARSAL_NUMBER
@click.option(
    "--write", type=click.Path(path_type=Path), help="Write the decisions to make to this CSV file."
)
@click.option(
    "--read",
    type=click.Path(path_type=Path),
    help="Read a filled-in file; an error in one row rejects the whole file.",
)
@click.option(
    "--audit",
    type=click.Path(path_type=Path),
    help="Write who signed in, and all decisions and undos so far, to this CSV file.",
)
@click.option("--by", help="With --read: the name of the person who decided.")
def decisions(
    campaign: Path, *, write: Path | None, read: Path | None, audit: Path | None, by: str | None
) -> None:
    """Export and import decisions as CSV.

    Write the file, fill it in, and read it back. `piecework review` offers the same
    decisions on a page.

    Examples:
      piecework decisions birds.toml --write decisions.csv
      piecework decisions birds.toml --read decisions.csv --by ada
      piecework decisions birds.toml --audit audit.csv
    """
    if [write, read, audit].count(None) != 2:  # noqa: PLR2004 - of three
        raise click.UsageError(
            "give --write FILE, --read FILE or --audit FILE, and only one of them"
        )
    if read is not None and not (by or "").strip():
        raise click.UsageError("--read needs --by NAME: the store keeps who decided")
    from piecework.engine.opening import open_to_look
    from piecework.review.model.decisions_csv import audit_csv, read_decisions, waiting_csv
    from piecework.store.files import write_private

    with open_to_look(load_results(campaign)) as opened:
        if write is not None:
            content, rows = waiting_csv(opened)
            write_private(write, content)
            click.echo(f"{write}: {rows} decisions to make")
        elif audit is not None:
            content, rows = audit_csv(opened)
            write_private(audit, content)
            click.echo(f"{audit}: {rows} entries")
        elif read is not None:
            new = read_decisions(
                opened, read_text(read), decided_by=str(by).strip(), name=str(read)
            )
            then = "the next export shows them"
            if not opened.is_imported:
                then = "the next pass acts on them"
            click.echo(f"{read}: {new} decisions stored; {then}")


@click.command()
@CAMPAIGN
@click.option("--assignment", required=True, help="Id of the rejected assignment.")
@click.option("--because", required=True, help="The reason, which the worker reads.")
@click.option("--by", required=True, help="Name of the person who decides.")
@click.option("--pay-only", is_flag=True, help="Pay, but do not count the answers.")
@LIVE_MARKETPLACE
def unreject(
    campaign: Path, *, assignment: str, because: str, by: str, pay_only: bool, live: bool
) -> None:
    r"""Reverse a rejection and pay the worker.

    The answers count again. You can reverse a rejection for 30 days after the
    submission. The store keeps a record of it.

    Examples:
      piecework unreject birds.toml --assignment 3X... --by ada \
        --because "The picture was upside down; the caption is right."
      piecework unreject birds.toml --assignment 3X... --by ada --pay-only \
        --because "The page was broken."
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.begun import bound_endpoint
    from piecework.engine.opening import open_on_marketplace
    from piecework.engine.payments.pay import close_interrupted
    from piecework.engine.payments.unreject import unreject as take_back

    reason, author = because.strip(), by.strip()
    faults = []
    if not MTURK.allows_reason(reason):
        faults.append(
            f"--because has {len(reason)} characters; the worker reads it, so "
            f"give {MTURK.shortest_reason} to {MTURK.longest_reason} on one line"
        )
    if not author:
        faults.append("--by is empty; the store keeps who decided")
    if faults:
        raise ConfigError(faults)
    loaded = load_campaign(campaign)
    with open_on_marketplace(loaded, bound_endpoint(loaded), live=live) as run:
        close_interrupted(run)
        kept = take_back(
            run, AssignmentId(assignment), because=reason, by=author, keep_answers=not pay_only
        )
    click.echo(f"{assignment}: paid; {kept} answers count again, or are surplus")
    click.echo(f"next: piecework export {campaign}, if you have written the dataset already")
