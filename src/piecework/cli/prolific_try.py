"""`prolific try`: one visit of a campaign, by a test participant, for no money."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.checks_shown import say_checks
from piecework.cli.options import CAMPAIGN, JSON, PORT, WholeNumber, grouped
from piecework.cli.prolific_account import TOKEN_FILE, URL, WORKSPACE, needed_token
from piecework.domain.extras import load_extra
from piecework.domain.printable import printable
from piecework.prolific.token import SERVICE
from piecework.webclient.address import api_address
from piecework.webclient.public_url import is_emulator, refuse_closed_frames, refuse_closed_site

if TYPE_CHECKING:
    from piecework.webclient.checks import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteOptions:
    """Where the trial's site is, and how long it waits."""

    public_url: str
    frames_url: str
    port: int
    frames_port: int
    email: str
    minutes: int


_SITE = grouped(
    "site",
    SiteOptions,
    click.option(
        "--public-url", required=True, help="URL at which the participant's browser reaches --port."
    ),
    click.option(
        "--frames-url",
        required=True,
        help="URL at which the participant's browser reaches --frames-port.",
    ),
    click.option("--port", type=PORT, default=8080, show_default=True, help="Port of the site."),
    click.option(
        "--frames-port",
        type=PORT,
        default=8081,
        show_default=True,
        help="Port of the question pages.",
    ),
    click.option(
        "--email",
        default="",
        help="Create a test participant with this address, unknown to Prolific so far.",
    ),
    click.option(
        "--minutes",
        type=WholeNumber(0, 1440),
        default=30,
        show_default=True,
        help="How long to wait for the visit.",
    ),
)


@click.command("try")
@CAMPAIGN
@_SITE
@WORKSPACE
@URL
@TOKEN_FILE
@JSON
@click.pass_context
def prolific_try(
    ctx: click.Context,
    *,
    campaign: Path,
    site: SiteOptions,
    workspace: str,
    url: str,
    token_file: Path | None,
    as_json: bool,
) -> None:
    r"""Do one visit as a test participant.

    The command serves the HITs of one visit, drafts their study at Prolific, and has a
    test of it published to your test participants only. Sign in as one of them and do
    the visit. The command then says what held: the study, the link, the pages, the
    code, the answers. It pays nothing, and removes what it created. The workspace needs
    Prolific's feature for test participants.

    The same command continues a trial that was killed. The exit code is 1 if a part
    failed. It was tried on the offline Prolific only.

    Examples:
      piecework prolific try birds.toml --public-url https://hits.example.org \
        --frames-url https://frames.example.org --email me+test@example.org
      piecework prolific try birds.toml --public-url https://hits.example.org \
        --frames-url https://frames.example.org --minutes 60
    """
    load_extra("pycountry", extra="prolific", use="prolific try")
    from piecework.campaign.assembling import read_anywhere
    from piecework.rehearsing.live_trial import Trial, Wanted

    read = read_anywhere(campaign)
    checks: list[Check] = []
    with api_faults():
        address = api_address(url, SERVICE)
        if not is_emulator(address):
            refuse_closed_site(site.public_url)
            refuse_closed_frames(site.frames_url)
        wanted = Wanted(
            address=address,
            token=needed_token(token_file),
            workspace_id=workspace,
            site_url=site.public_url.rstrip("/"),
            frames_url=site.frames_url.rstrip("/"),
            port=site.port,
            frames_port=site.frames_port,
            email=site.email,
            patience_seconds=site.minutes * 60,
        )
        for check in Trial(read, wanted, say=_say).checks():
            checks.append(check)
            if not as_json:
                say_checks([check])
    is_well = all(check.level != "fail" for check in checks)
    if as_json:
        shown = [check.as_dict() for check in checks]
        click.echo(json.dumps({"ok": is_well, "checks": shown}, indent=2))
    ctx.exit(0 if is_well else 1)


def _say(words: str) -> None:
    click.echo(printable(words), err=True)
