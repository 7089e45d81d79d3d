"""Libraries that few users need; each is installed by an extra of the package."""

from importlib import import_module
from typing import Any

from piecework.domain.errors import ConfigError


def load_extra(module: str, *, extra: str, use: str) -> Any:  # noqa: ANN401 - a module
    """Import a module that an extra installs.

    Args:
        module: the module's full name.
        extra: the name of the extra in `pip install 'piecework[...]'`.
        use: what needs the module, as the beginning of the message.

    Raises:
        ConfigError: the extra is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as fault:
        library = module.partition(".")[0]
        raise ConfigError(
            [f"{use} needs {library}, which is not installed"],
            next_step=f"pip install 'piecework[{extra}]'",
        ) from fault


def load_offline_market(market: str) -> None:
    """Import what a rehearsal with the participants of a market needs.

    Args:
        market: `prolific` or `connect`; others need nothing.

    Raises:
        ConfigError: an extra is not installed.
    """
    use = f"--crowd {market}"
    if market in ("prolific", "connect"):
        load_extra("offline_markets", extra="offline-markets", use=use)
    if market == "prolific":
        load_extra("pycountry", extra="prolific", use=use)
