"""Libraries that few users need: each comes with an extra of the package."""

from importlib import import_module
from typing import Any

from piecework.domain.errors import ConfigError


def load_extra(module: str, *, extra: str, use: str) -> Any:  # noqa: ANN401 - a module
    """Import a module that an extra installs.

    Args:
        module: its full name.
        extra: what `pip install 'piecework[...]'` has to name.
        use: what needs the module, as the message begins.

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
