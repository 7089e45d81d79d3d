"""`panel link`: prints a link as the panel would make it."""

from pathlib import Path
from urllib.parse import urlencode

import click

from piecework.cli.panel_file import read_panel, read_secrets
from piecework.domain.errors import ConfigError


@click.command("link")
@click.argument("panel_file", type=click.Path(path_type=Path))
@click.argument("person")
@click.option("--session", default="", help="Id of the participation.")
@click.option("--project", default="", help="The panel's project.")
@click.option(
    "--site-url",
    default="http://127.0.0.1:8080",
    show_default=True,
    help="URL at which browsers reach the site.",
)
def panel_link(*, panel_file: Path, person: str, session: str, project: str, site_url: str) -> None:
    """Print a person's link, to try it.

    PANEL_FILE describes the panel, and PERSON is an id there. The link is as the panel
    would make it, with its signature or secret, so do not publish it.

    Examples:
      piecework panel link panel.toml P123
      piecework panel link panel.toml P123 --session S456
    """
    from piecework.marketplace.exceptions import Refusal
    from piecework.panel.arrivals import Ids, Links, proof_of
    from piecework.panel.secrets import UnusableError

    panel = read_panel(panel_file)
    secrets = read_secrets(panel_file, panel)
    ids = Ids(person=person, session=session or person, project=project)
    query = {
        parameter: ids.values()[name] for name, parameter in panel.link.names().items() if parameter
    }
    if panel.verification.parameter:
        query[panel.verification.parameter] = proof_of(panel, secrets, ids)
    try:
        Links(panel, secrets).read(query)
    except Refusal as refusal:
        raise ConfigError(
            [f"these ids make no link: {refusal.message}"], next_step="piecework panel link --help"
        ) from refusal
    except UnusableError as fault:
        raise ConfigError([f"{panel_file}: {fault}"]) from fault
    click.echo(f"{site_url.rstrip('/')}/visit/arrive?{urlencode(query)}")
