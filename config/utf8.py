"""Reads and writes the user's files: UTF-8, with or without a byte order mark."""

from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.utf8 import not_utf8

LARGEST_BYTES = 500_000_000
"""A larger file would not fit into memory with what is made of it."""


def read_text(
    path: Path, *, name: str = "file", next_step: str = "", most: int = LARGEST_BYTES
) -> str:
    """Read the text of a file.

    Args:
        path: the path of the file.
        name: what the file is, for the error.
        next_step: what to do if it cannot be read.
        most: bytes that it may have.

    Raises:
        ConfigError: the file cannot be read, is too large, or is not UTF-8.
    """
    # Reading a pipe or a device could block forever.
    if path.exists() and not path.is_file():
        raise ConfigError([f"{path}: the {name} is not a regular file"], next_step=next_step)
    try:
        if (size := path.stat().st_size) > most:
            raise ConfigError(
                [f"{path}: the {name} has {size:,} bytes; at most {most:,} are read"],
                next_step=next_step,
            )
        return path.read_bytes().decode("utf-8-sig")
    except OSError as fault:
        raise ConfigError(
            [f"{path}: the {name} cannot be read ({fault.strerror})"], next_step=next_step
        ) from fault
    except UnicodeDecodeError as fault:
        raise ConfigError([f"{path}: {not_utf8(fault)}"]) from fault


def write_new(path: Path, text: str) -> None:
    """Write a new file, whole or not at all.

    After a full disk, half a file would stop the same command from running again.

    Raises:
        FileExistsError: the file exists.
        OSError: the disk is full.
    """
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink()
            raise
