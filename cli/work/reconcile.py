"""Compares a marketplace's file with Prolific; changes nothing there."""

from contextlib import closing
from pathlib import Path

from cli.marketplace_file import transaction_in
from cli.work.prolific_token import needed_token
from domain.errors import ConfigError
from marketplace.state.backend import Backend, rules_of
from prolific.bridge.bridge import Bridge
from prolific.bridge.reconciling import Difference, reconcile
from prolific.bridge.terms import Terms
from prolific.client import Prolific
from prolific.http.address import api_address
from prolific.http.errors import ProlificError
from prolific.http.transport import Transport


def reconcile_file(
    database: Path, *, url: str, token_file: Path | None
) -> list[Difference]:
    """What differs between a marketplace and Prolific.

    Raises:
        ConfigError: no token, no study, or Prolific cannot be asked.
        RefusedForSafety: the token lies open.
    """
    with transaction_in(database) as transaction:
        study = transaction.one("SELECT currency FROM studies WHERE study_id NOT NULL")
    if study is None:
        raise ConfigError([f"{database}: none of its HITs recruits at Prolific"])
    terms = Terms(
        workspace_id="", project_id="", site_url="", currency=study["currency"]
    )
    try:
        with (
            Transport(api_address(url), needed_token(token_file)) as transport,
            closing(Backend(database, rules_of(database))) as backend,
        ):
            bridge = Bridge(backend, Prolific(transport), terms)
            differences = reconcile(bridge)
    except ProlificError as fault:
        raise ConfigError([str(fault)], next_step=fault.next_step) from fault
    if bridge.faults:
        raise ConfigError(bridge.faults, next_step="try again later")
    return differences
