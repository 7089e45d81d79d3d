"""Credentials out of a Prefect block, for passes on machines without an environment.

Without a block boto3's own chain is used (environment, shared files, roles). Neither
ever reaches the campaign file, the store, a log or a flow's parameters.
"""

from typing import Any, cast

from prefect.blocks.system import Secret

from piecework.domain.errors import ConfigError
from piecework.platforms.credentials import Credentials


def from_block(name: str) -> Credentials | None:
    """The keys in a `Secret` block; `None` without a name.

    The block holds `{"access_key_id": "...", "secret_access_key": "..."}`.

    Raises:
        ConfigError: there is no such block, or it holds something else.
    """
    if not name:
        return None
    try:
        # A flow that is no coroutine is given the block itself, not a promise of it.
        held = cast("Secret[Any]", Secret.load(name)).get()
    except ValueError as fault:
        raise ConfigError(
            [f"there is no Prefect block secret/{name}"],
            next_step="Secret(value={...}).save(NAME); see docs/how-to/live.md",
        ) from fault
    if not isinstance(held, dict) or not {
        "access_key_id",
        "secret_access_key",
    } <= set(held):
        # What it holds is not shown: it may be a secret all the same.
        raise ConfigError(
            [f"the block secret/{name} holds no access_key_id and secret_access_key"]
        )
    return Credentials(
        access_key=str(held["access_key_id"]),
        secret_key=str(held["secret_access_key"]),
    )
