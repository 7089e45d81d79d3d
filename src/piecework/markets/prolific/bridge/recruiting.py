"""Who may take part in a study: groups of participants that follow qualifications."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from piecework.foundation.client.checks import refuse_what_fails
from piecework.foundation.client.errors import Lost, Unusable
from piecework.foundation.client.transport import Transport
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging import studies as bridging_studies
from piecework.markets.prolific.bridge import requirements
from piecework.markets.prolific.bridge.bridge import NAME, Bridge, Terms
from piecework.markets.prolific.bridge.requirements import type_id_of
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.doctor import Wanted, examine
from piecework.markets.prolific.resources.recruiting import Choice, Filter


@dataclass(frozen=True, slots=True, kw_only=True)
class Recruiting:
    """How studies are set up, and how much may be spent on them.

    Attributes:
        workspace_id: "" if the account has only one.
        project_id: "" is the project called piecework.
        is_live: whether anything may be published and paid.
        spend_at_most_cents: the cap for everything, in the workspace's currency.
        hits_per_visit: 0 derives it from the time that HITs take.
        hit_seconds: how long a HIT takes; 0 if unknown.
        visits_per_participant: visits allowed per participant and study.
        settle_seconds: posts less than this far apart share one study.
        screening_cents: the pay for taking a qualification test; 0 offers no tests.
        screen_out_cents: the pay for participants who arrive but find no work; 0 pays
            nothing.
    """

    workspace_id: str
    project_id: str
    is_live: bool
    spend_at_most_cents: int
    hits_per_visit: int
    hit_seconds: int
    visits_per_participant: int
    settle_seconds: int
    screening_cents: int
    screen_out_cents: int


def agreed_terms(recruiting: Recruiting, address: str, token: Token, *, site_url: str) -> Terms:
    """Return the terms, with the workspace and its currency looked up.

    Args:
        recruiting: the person's choices.
        address: the API's address.
        token: the account's token.
        site_url: the marketplace's site, as participants' browsers reach it.

    Raises:
        Unusable: a check of `piecework market prolific doctor` fails.
    """
    wanted = Wanted(workspace_id=recruiting.workspace_id)
    with Transport(address, token) as transport:
        prolific = Prolific(transport)
        refuse_what_fails(
            examine(prolific, wanted, address=address), otherwise="piecework market prolific doctor"
        )
        workspace_id = recruiting.workspace_id or next(prolific.account.workspaces()).id
        currency = prolific.account.balance(workspace_id).currency
    return Terms(
        workspace_id=workspace_id,
        project_id=recruiting.project_id,
        site_url=site_url,
        currency=currency,
        is_live=recruiting.is_live,
        spend_at_most_cents=recruiting.spend_at_most_cents,
        hits_per_visit=recruiting.hits_per_visit,
        hit_seconds=recruiting.hit_seconds,
        visits_per_participant=recruiting.visits_per_participant,
        settle_seconds=recruiting.settle_seconds,
        screening_cents=recruiting.screening_cents,
        screen_out_cents=recruiting.screen_out_cents,
    )


ALLOWED, BLOCKED = "custom_allowlist", "custom_blocklist"


def with_recruiting(
    filters: Sequence[Filter], stated: str | None, *, divides: bool = True
) -> list[Filter]:
    """Return filters that also follow what a requester stated about recruiting.

    Args:
        filters: the filters of the requirements.
        stated: the statement of the HIT type (JSON); `None` if there is none.
        divides: whether the places are divided by the shares.

    Raises:
        Unusable: a share is of a choice that the filters do not ask for.
    """
    if stated is None:
        return list(filters)
    recruiting: Mapping[str, Any] = json.loads(stated)
    shares = dict(recruiting["Shares"]) if divides else {}
    divided: list[Filter] = []
    for each in filters:
        weightings = (
            shares.pop(type_id_of(each.filter_id), None) if isinstance(each, Choice) else None
        )
        if weightings is None or not isinstance(each, Choice):
            divided.append(each)
            continue
        if set(weightings) != set(each.values):
            raise Unusable(
                f"the shares of {each.filter_id} are of other choices than those that are required"
            )
        divided.append(replace(each, weightings=weightings))
    if shares:
        raise Unusable(f"there are shares of {min(shares)}, but no requirement on its choices")
    for filter_id, name in ((ALLOWED, "Only"), (BLOCKED, "Not")):
        if recruiting[name]:
            divided.append(Choice(filter_id=filter_id, values=recruiting[name]))
    return divided


_STUDIES = (
    "SELECT studies.*, hit_types.requirements, hit_types.requester, "
    "hit_types.hit_group_id FROM studies JOIN hit_types "
    "ON hit_types.id = studies.hit_type WHERE keep_out_group IS NOT NULL "
    f"AND studies.market = '{NAME}' "
    "AND stage IN ('Draft', 'Published') "
    "AND studies.status NOT IN ('AWAITING REVIEW', 'COMPLETED')"
)
NOBODY_HOLDS = (
    "no participant holds the qualifications that these HITs require, so the study "
    "admits no participant yet; grant them, and the running study admits their holders"
)
"""The trouble of a study whose group of participants to let in is empty."""


def ensure(bridge: Bridge, study: sqlite3.Row, wanted: Sequence[dict[str, Any]]) -> sqlite3.Row:
    """Create the study's groups if they are missing, and return the study."""
    needs_holding = bridging_studies.needs_holding(requirements.custom(wanted))
    for column, words in (("keep_out_group", "not"), ("let_in_group", "only")):
        if study[column] or (column == "let_in_group" and not needs_holding):
            continue
        name = f"{words} in {study['internal_name']}"
        group_id = _find(bridge, name)
        if group_id is None:
            bridge.changes += 1
            made = bridge.prolific.groups.create(bridge.terms.workspace_id, name)
            group_id = made.id
        with bridge.backend.transaction() as transaction:
            transaction.execute(
                f"UPDATE studies SET {column} = ? WHERE id = ?", group_id, study["id"]
            )
    with bridge.backend.reading() as transaction:
        row = transaction.first_row("SELECT * FROM studies WHERE id = ?", study["id"])
    return study if row is None else row


def keep_in_step(bridge: Bridge) -> None:
    """Update the groups of all recruiting studies."""
    with bridge.backend.reading() as transaction:
        studies = transaction.all(_STUDIES)
        participants = transaction.all(bridging_studies.PARTICIPANTS, NAME)
    for study in studies:
        with bridge.backend.reading() as transaction:
            let_in, keep_out = _members(transaction, study, participants)
        _say_if_empty(bridge, study, let_in)
        for column, wanted in (("let_in_group", let_in), ("keep_out_group", keep_out)):
            if study[column]:
                bridge.tried(partial(_set, bridge, study[column], wanted))


def _say_if_empty(bridge: Bridge, study: sqlite3.Row, let_in: set[str]) -> None:
    """Say that a study admits no participant while its group of holders is empty."""
    is_empty = study["let_in_group"] is not None and not let_in
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET trouble = iif(?1, ?2, '') WHERE id = ?3 "
            "AND trouble = iif(?1, '', ?2)",
            is_empty,
            NOBODY_HOLDS,
            study["id"],
        )


def _members(
    transaction: Transaction, study: sqlite3.Row, participants: Sequence[sqlite3.Row]
) -> tuple[set[str], set[str]]:
    """Return the ids of participants let in to a study, and of those kept out."""
    let_in, keep_out = set[str](), _screened_out(transaction, study)
    if study["qualification_type"] is not None:
        return let_in, keep_out | _tested(transaction, study)
    own = requirements.custom(json.loads(study["requirements"]))
    fitting, unfit = bridging_studies.fitting_and_unfit(transaction, study, participants, own)
    return fitting, keep_out | unfit


def _screened_out(transaction: Transaction, study: sqlite3.Row) -> set[str]:
    """Return those already paid for coming to a study without work."""
    return {
        row["participant_id"]
        for row in transaction.all(
            "SELECT participant_id FROM participants JOIN visits USING (worker) "
            "WHERE study = ? AND screen_out_cents > 0",
            study["id"],
        )
    }


def _tested(transaction: Transaction, study: sqlite3.Row) -> set[str]:
    """Return those who took a screening's test or hold the qualification already."""
    return {
        row["participant_id"]
        for row in transaction.all(
            f"SELECT participant_id FROM participants WHERE market = '{NAME}' "
            "AND worker IN "
            "(SELECT worker FROM test_attempts WHERE qualification_type = ?1 UNION "
            "SELECT worker FROM qualifications WHERE qualification_type = ?1)",
            study["qualification_type"],
        )
    }


def _set(bridge: Bridge, group_id: str, wanted: set[str]) -> None:
    known = bridge.members.get(group_id)
    if known is None:
        listed = bridge.prolific.groups.participants(group_id)
        known = bridge.members[group_id] = {each.participant_id for each in listed}
    missing, strange = sorted(wanted - known), sorted(known - wanted)
    try:
        if missing:
            bridge.changes += 1
            bridge.prolific.groups.add(group_id, missing)
        if strange:
            bridge.changes += 1
            bridge.prolific.groups.remove(group_id, strange)
    except Lost:
        del bridge.members[group_id]
        raise
    bridge.members[group_id] = set(wanted)


def _find(bridge: Bridge, name: str) -> str | None:
    for group in bridge.prolific.groups.of_workspace(bridge.terms.workspace_id):
        if group.name == name and not group.is_deleted:
            return group.id
    return None
