"""Errors of the commands that call another market's API."""

from collections.abc import Iterator
from contextlib import contextmanager

from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.domain.printable import printable
from piecework.webclient.errors import ApiError
from piecework.webclient.token import Exposed


@contextmanager
def api_faults() -> Iterator[None]:
    """Turn what a market's client raises into errors of the command.

    Raises:
        ConfigError: the market cannot be called, or refused the call.
        RefusedForSafety: others can read the token's file.
    """
    try:
        yield
    except Exposed as fault:
        raise RefusedForSafety(str(fault), next_step=fault.next_step) from fault
    except ApiError as fault:
        raise ConfigError([printable(str(fault))], next_step=fault.next_step) from fault
