"""Files that people write: UTF-8, with or without a byte order mark."""

from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.utf8 import not_utf8


def read_text(path: Path, *, name: str = "file", next_step: str = "") -> str:
    """The text of a file.

    Args:
        path: of the file.
        name: what the file is, for the fault.
        next_step: what helps if it cannot be read.

    Raises:
        ConfigError: it cannot be read, or is not UTF-8.
    """
    # A pipe or a device would be waited for, for ever.
    if path.exists() and not path.is_file():
        raise ConfigError([f"{path}: the {name} is no file"], next_step=next_step)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as fault:
        raise ConfigError(
            [f"{path}: the {name} cannot be read ({fault.strerror})"],
            next_step=next_step,
        ) from fault
    except UnicodeDecodeError as fault:
        raise ConfigError([f"{path}: {not_utf8(fault)}"]) from fault


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, whole or not at all.

    Half a file, of a full disk, would be in the way of the same command.

    Raises:
        FileExistsError: it is there.
        OSError: there is no room for it.
    """
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink()
            raise
