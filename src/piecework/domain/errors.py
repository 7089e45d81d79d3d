"""Errors that a person can do something about, and libraries that an extra installs.

A message says what is wrong, where (file, key, row or id), what was found and what is
allowed; `next_step` names the command or the edit that helps. Messages are stored, shown
and sent, so they have no secrets of addresses.
"""

from importlib import import_module
from typing import Any, Literal

from piecework.domain.text import without_secrets

RefusalKind = Literal[
    "hit_unknown",
    "hit_type_unknown",
    "qualification_type_unknown",
    "already_exists",
    "decided_already",
    "other",
]
"""What a refusal is about, if any caller acts on it; otherwise `other`."""


class PieceworkError(Exception):
    """An error that a user can understand and correct; never shown as a traceback."""

    exit_code = 1

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(without_secrets(message))
        self.next_step = without_secrets(next_step)


class ConfigError(PieceworkError):
    """The user's input cannot be used: a campaign file, items, an argument.

    Attributes:
        faults: all errors, one sentence each; they are collected before this is raised.
    """

    exit_code = 2

    def __init__(self, faults: list[str], *, next_step: str = "") -> None:
        super().__init__("\n".join(faults), next_step=next_step)
        self.faults = [*map(without_secrets, faults)]

    def __reduce__(self) -> tuple[object, ...]:
        """Restore it unchanged from another process."""
        return type(self), (self.faults,), {"next_step": self.next_step}


class RefusedForSafety(PieceworkError):  # noqa: N818 - not an error
    """The request is valid, but could cost money or do harm; exit code 3."""

    exit_code = 3


class BudgetExceeded(RefusedForSafety):
    """The next call would exceed the campaign's cap, so it is not made."""


class NotAnswered(PieceworkError):  # noqa: N818 - not an error
    """People have not answered in time, or answer no more; asking again continues."""


class StoreError(PieceworkError):
    """The campaign's store cannot be read, written, or belongs to something else."""


class StoreLocked(StoreError):  # noqa: N818 - not an error; a process writes
    """Another process writes to the store for longer than this one waits."""


class CampaignBusy(StoreError):  # noqa: N818 - not an error; a process is at work
    """Another process works on the campaign, as the message says; exit code 5."""

    exit_code = 5


class PlatformRefused(PieceworkError):  # noqa: N818 - the platform's verdict, not ours
    """The platform understood the call and refused it.

    Attributes:
        code: the platform's own error code, for messages, e.g. `HITDoesNotExist`.
        kind: what the refusal is about; callers decide by it.
    """

    def __init__(
        self, message: str, *, code: str, kind: RefusalKind = "other", next_step: str = ""
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.code, self.kind = code, kind


class TransientPlatformError(PieceworkError):
    """The platform could not be reached or was busy; the outcome may be unknown."""


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
