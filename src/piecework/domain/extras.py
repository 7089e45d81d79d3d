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
