"""Credentials from a Prefect block, for passes on machines without an environment.

Without a block, boto3's own chain is used (environment, shared files, roles). In
neither case do keys reach the campaign file, the store, a log or a flow's parameters.
"""

from typing import Any, cast

from prefect.blocks.system import Secret

from piecework.domain.errors import ConfigError
from piecework.platforms.endpoint import Credentials


def from_block(name: str) -> Credentials | None:
    """Return the keys in a `Secret` block; `None` without a name.

    The block holds `{"access_key_id": "...", "secret_access_key": "..."}`.

    Raises:
        ConfigError: there is no such block, or it holds something else.
    """
    if not name:
        return None
    try:
        # In a flow that is not a coroutine, `load` returns the block, not an awaitable.
        held = cast("Secret[Any]", Secret.load(name)).get()
    except ValueError as fault:
        raise ConfigError(
            [f"there is no Prefect block secret/{name}"],
            next_step=f"make it: Secret(value={{...}}).save({name!r}), see docs/how-to/schedule.md",
        ) from fault
    if not isinstance(held, dict) or not {"access_key_id", "secret_access_key"} <= set(held):
        # Do not show the value: it may be a secret even in the wrong shape.
        raise ConfigError(
            [f"the block secret/{name} lacks access_key_id or secret_access_key"],
            next_step="save it again with both keys, see docs/how-to/schedule.md",
        )
    return Credentials(
        access_key=str(held["access_key_id"]),
        secret_key=str(held["secret_access_key"]),
        source=f"the Prefect block secret/{name}",
    )
