"""Check the token, workspace, money, filters and address before use. It only reads."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

from piecework.foundation.client.calls import Money
from piecework.foundation.client.checks import (
    Check,
    Resolve,
    addresses_of,
    check_public_url,
    failed,
    passed,
)
from piecework.foundation.client.errors import ApiError, NoAccess, Unreachable
from piecework.foundation.hosts import is_loopback
from piecework.markets.prolific.calling import PROLIFIC, SERVICE
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.resources.account import Workspace

GROUP_FILTERS = ("participant_group_allowlist", "participant_group_blocklist")
"""The filters that let participants in by qualification, or keep them out."""
OTHER_FILTERS = ("approval_rate", "approval_numbers", "current-country-of-residence", "age")
"""The filters that express the other requirements."""

_LAST_DELIVERIES = 100

_NEW_TOKEN = (
    f"create one in Prolific's settings (API tokens), then: export {SERVICE.token_variable}=..."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the account is to be used for.

    Attributes:
        workspace_id: empty if the account has only one workspace.
        currency: GBP or USD; empty accepts either.
        public_url: where participants will be sent; empty if not known yet.
    """

    workspace_id: str = ""
    currency: str = ""
    public_url: str = ""


def examine(
    prolific: Prolific | None,
    wanted: Wanted,
    *,
    address: str = PROLIFIC,
    resolve: Resolve = addresses_of,
) -> Iterator[Check]:
    """Run each check in turn, without creating, changing or paying anything.

    Args:
        prolific: a client of `address`; `None` without a token.
        wanted: what the account is to be used for.
        address: the API's address.
        resolve: resolves a host name.
    """
    yield _address(address)
    if prolific is None:
        yield Check(
            name="token",
            level="fail",
            sentence=f"no token was found: neither {SERVICE.token_variable} nor a "
            "token file is set",
            next_step=_NEW_TOKEN,
        )
    else:
        yield from _account(prolific, wanted)
    if wanted.public_url:
        yield check_public_url(wanted.public_url, resolve)


def _address(address: str) -> Check:
    if address == PROLIFIC:
        return passed("address", address)
    host = address.partition("//")[2]
    if is_loopback(host) or is_loopback(host.rpartition(":")[0].strip("[]")):
        return passed("address", f"{address}, on this machine: it is not Prolific")
    return Check(
        name="address",
        level="warn",
        sentence=f"{address} is not Prolific's address, and the token is sent there",
        next_step=f"unset PROLIFIC_URL to use {PROLIFIC}, unless you know that server",
    )


def _account(prolific: Prolific, wanted: Wanted) -> Iterator[Check]:
    try:
        user = prolific.account.me()
    except NoAccess as fault:
        yield Check(name="token", level="fail", sentence=str(fault), next_step=_NEW_TOKEN)
        return
    except Unreachable as fault:
        yield failed("address", fault)
        return
    except ApiError as fault:
        yield failed("token", fault)
        return
    yield passed("token", "Prolific accepts it")
    yield passed("user", f"{user.email} ({user.id})")
    workspace = yield from _workspace(prolific, wanted)
    if workspace is None:
        return
    currency = yield from _balance(prolific, workspace, wanted)
    yield from _guarded("filters", lambda: _filters(prolific, workspace))
    if currency:
        yield from _guarded("pay", lambda: _pay(prolific, workspace, currency))
    if wanted.public_url:
        yield from _guarded("webhooks", lambda: _webhooks(prolific, workspace, wanted.public_url))


def _workspace(prolific: Prolific, wanted: Wanted) -> Generator[Check, None, Workspace | None]:
    try:
        workspaces = {each.id: each for each in prolific.account.workspaces()}
    except ApiError as fault:
        yield failed("workspace", fault)
        return None
    workspace = workspaces.get(wanted.workspace_id)
    if not wanted.workspace_id and len(workspaces) == 1:
        (workspace,) = workspaces.values()
    if workspace is not None:
        yield passed("workspace", f"{workspace.title} ({workspace.id})")
        return workspace
    listed = "; ".join(f"{each.title} ({each.id})" for each in workspaces.values())
    reached = f"the token has access to {listed or 'no workspace'}"
    yield Check(
        name="workspace",
        level="fail",
        sentence=f"{wanted.workspace_id} was not found: {reached}"
        if wanted.workspace_id
        else f"there is not exactly one: {reached}",
        next_step="piecework market prolific doctor --workspace ID",
    )
    return None


def _balance(
    prolific: Prolific, workspace: Workspace, wanted: Wanted
) -> Generator[Check, None, str]:
    """Return the currency, or "" if it could not be read."""
    try:
        balance = prolific.account.balance(workspace.id)
    except ApiError as fault:
        yield failed("balance", fault)
        return ""
    has = f"{balance.available} available"
    if wanted.currency and balance.currency != wanted.currency:
        yield Check(
            name="currency",
            level="fail",
            sentence=f"the workspace is in {balance.currency}, not {wanted.currency}",
            next_step=f"use a workspace in {wanted.currency}; amounts in two "
            "currencies cannot be added",
        )
    else:
        yield passed("currency", balance.currency)
    if balance.available_minor > 0:
        yield passed("balance", has)
    else:
        yield Check(
            name="balance",
            level="warn",
            sentence=f"{has}; no study can be published",
            next_step="add funds to the workspace at Prolific",
        )
    return balance.currency


def _filters(prolific: Prolific, workspace: Workspace) -> Iterator[Check]:
    offered = {kind.id for kind in prolific.recruiting.filter_kinds(workspace.id)}
    for filter_id in (*GROUP_FILTERS, *OTHER_FILTERS):
        if filter_id in offered:
            yield passed("filter", filter_id)
            continue
        yield Check(
            name="filter",
            level="fail" if filter_id in GROUP_FILTERS else "warn",
            sentence=f"{filter_id} is not among the {len(offered)} filters that this "
            "workspace may use",
            next_step="ask Prolific's support to enable it"
            if filter_id in GROUP_FILTERS
            else "do not require it",
        )


def _pay(prolific: Prolific, workspace: Workspace, currency: str) -> Iterator[Check]:
    hourly = prolific.recruiting.reward_recommendations(workspace.id, currency)
    for each in hourly:
        least = Money(minor=each.least_per_hour_minor, currency=each.currency)
        better = Money(minor=each.recommended_per_hour_minor, currency=each.currency)
        yield passed("pay", f"at least {least} an hour; {better} is recommended")
    if not hourly:
        yield Check(
            name="pay",
            level="warn",
            sentence=f"Prolific gives no recommendation in {currency}",
            next_step="look up its minimum hourly pay before you set a reward",
        )


def _webhooks(prolific: Prolific, workspace: Workspace, public_url: str) -> Iterator[Check]:
    """Check whether Prolific's webhooks reach the public address."""
    here = f"{public_url.rstrip('/')}/"
    mine = [
        each
        for each in prolific.webhooks.subscriptions(workspace.id)
        if each.target_url.startswith(here)
    ]
    if not mine:
        yield passed("webhooks", "none go to the public URL; the server polls instead")
    for each in mine:
        name = f"{each.event_type} to {each.target_url}"
        if not each.is_enabled:
            yield Check(
                name="webhooks",
                level="warn",
                sentence=f"{name} is not enabled; the server polls instead",
                next_step="start the server again with --webhooks",
            )
            continue
        last = prolific.webhooks.deliveries(each.id, most=_LAST_DELIVERIES)
        failures = sum(delivery.status == "FAILED" for delivery in last)
        taken = sum(delivery.status == "SUCCEEDED" for delivery in last)
        summary = f"{name}: of the last {len(last)}, {taken} were accepted"
        if not failures:
            yield passed("webhooks", summary)
            continue
        yield Check(
            name="webhooks",
            level="warn",
            sentence=f"{summary} and {failures} failed; the server also polls",
            next_step="check that the server runs with --webhooks and that any proxy "
            "in front of it passes POST requests on with their headers",
        )


def _guarded(name: str, checks: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    try:
        yield from checks()
    except ApiError as fault:
        yield failed(name, fault)
