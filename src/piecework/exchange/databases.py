"""Open a database of the user's through SQLAlchemy."""

from typing import TYPE_CHECKING

import sqlalchemy as sa

from piecework.config.variables import with_secrets
from piecework.domain.errors import ConfigError

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine


def engine_at(address: str) -> "Engine":
    """Return the engine of a database, without connecting.

    Args:
        address: SQLAlchemy's URL, as in the campaign file; may have `${VARIABLES}`.

    Raises:
        ConfigError: the address is wrong, or its driver is not installed.
    """
    try:
        return sa.create_engine(with_secrets(address))
    except ModuleNotFoundError as fault:
        raise ConfigError(
            [f"{address}: needs {fault.name}, which is not installed"],
            next_step="pip install 'piecework[sql]'",
        ) from fault
    except sa.exc.ArgumentError as fault:
        wrong = (
            f"{address}: is no URL of a database; write it like "
            "postgresql+psycopg://user@host/database or sqlite:///file.db"
        )
        raise ConfigError([wrong]) from fault


def first_line(fault: Exception) -> str:
    """Return what a database says, without the statement and its values."""
    cause = getattr(fault, "orig", None) or fault
    return str(cause).strip().partition("\n")[0]
