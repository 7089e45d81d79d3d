"""Compares a marketplace's file with Prolific, and does what a person decided."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.work.prolific_token import needed_token
from piecework.domain.errors import ConfigError
from piecework.marketplace.state.backend import Backend, rules_of
from piecework.prolific.bridge.adopting import adopt, pay_lost
from piecework.prolific.bridge.bridge import Bridge
from piecework.prolific.bridge.reconciling import Difference, reconcile
from piecework.prolific.bridge.spending import LastStart
from piecework.prolific.bridge.terms import Terms
from piecework.prolific.bridge.unknown import look, set_aside
from piecework.prolific.client import Prolific
from piecework.prolific.http.address import api_address
from piecework.prolific.http.errors import ProlificError
from piecework.prolific.http.transport import Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What a person decided about studies; ids, and None is no decision.

    Attributes:
        adopted: taken into the file.
        hit_type_id: whose HITs its participants do; "" is as its name says.
        left: stopped, and left to Prolific.
        paid_as_lost: where those are paid whose answers are lost.
    """

    adopted: str | None = None
    hit_type_id: str = ""
    left: str | None = None
    paid_as_lost: str | None = None

    def carry_out(self, bridge: Bridge) -> list[Difference]:
        """Do all of it; sentences about what was done."""
        taken_in = []
        if self.adopted:
            lost = adopt(bridge, self.adopted, hit_type_id=self.hit_type_id)
            taken_in.append(
                (self.adopted, f"adopted; {lost} submissions are paid without answers")
            )
        if self.left:
            set_aside(bridge, self.left)
            taken_in.append((self.left, "left to Prolific"))
        if self.paid_as_lost:
            lost = pay_lost(bridge, self.paid_as_lost)
            taken_in.append(
                (self.paid_as_lost, f"{lost} submissions are paid without answers")
            )
        return [
            Difference(study_id=study_id, sentence=sentence, is_taken_in=True)
            for study_id, sentence in taken_in
        ]


def reconcile_file(
    database: Path,
    *,
    url: str,
    token_file: Path | None,
    decisions: Decisions | None = None,
) -> list[Difference]:
    """What differs between a marketplace and Prolific, after a person's decisions.

    Raises:
        ConfigError: no token, never served with Prolific, a decision about what is not
            there, or Prolific cannot be asked.
        RefusedForSafety: the token lies open.
    """
    with transaction_in(database) as transaction:
        start = LastStart.read(transaction)
    if not start.project_id:
        raise ConfigError(
            [f"{database}: it was never served with Prolific's participants"],
            next_step="piecework serve --crowd prolific",
        )
    terms = Terms(
        workspace_id=start.workspace_id,
        project_id=start.project_id,
        site_url="",
        currency=start.currency,
    )
    try:
        with (
            Transport(api_address(url), needed_token(token_file)) as transport,
            closing(Backend(database, rules_of(database))) as backend,
        ):
            bridge = Bridge(backend, Prolific(transport), terms)
            look(bridge)
            done = (decisions or Decisions()).carry_out(bridge)
            differences = done + reconcile(bridge)
    except ProlificError as fault:
        raise ConfigError([str(fault)], next_step=fault.next_step) from fault
    if bridge.faults:
        raise ConfigError(bridge.faults, next_step="try again later")
    return differences
