"""Pictures that rows of a growing source name, and that are not there or not whole yet."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, Protocol


class Pictures(Protocol):
    """Where pictures are; a name is a path inside."""

    def mark_of(self, name: str) -> str:
        """Return size and time of a picture; "" if it is not there.

        Raises:
            ConfigError: it cannot be asked.
        """

    def faults_of(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return which of these are not there or not whole, each with why.

        Raises:
            ConfigError: they cannot be read.
        """


class FolderPictures:
    """A folder on this machine."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder; nothing is read yet."""
        self._folder = folder

    def mark_of(self, name: str) -> str:
        """Return size and time of a picture; "" if it is not there."""
        try:
            facts = (self._folder / name).stat()
        except (OSError, ValueError):
            return ""
        return f"{facts.st_size} {facts.st_mtime_ns}"

    def faults_of(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return which of these are not there or not whole, each with why."""
        faults = {name: self._fault_of(name) for name in names}
        return {name: fault for name, fault in faults.items() if fault}

    def _fault_of(self, name: str) -> str:
        try:
            with (self._folder / name).open("rb") as file:
                return fault_of_picture(file, name)
        except (OSError, ValueError) as fault:
            return getattr(fault, "strerror", None) or str(fault)


def fault_of_picture(file: BinaryIO, name: str) -> str:
    """Return why an open picture cannot be decoded to its end, as a clause, or "".

    Raises:
        OSError: it cannot be read.
    """
    # Pillow is slow to import, and most passes have no new picture.
    from piecework.domain.picture_metadata.wholeness import fault_of_end  # noqa: PLC0415

    if why := fault_of_end(file, is_svg=name.lower().endswith(".svg")):
        return f"the picture cannot be decoded to its end ({why}); it is taken in when it is whole"
    return ""
