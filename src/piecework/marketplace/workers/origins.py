"""Where the two halves of the worker's side are, and whose questions lie where.

A browser keeps what a page stores (drafts, mostly) by origin. So the questions of each
requester have an origin of their own where the frames' address leaves room for one:
`https://*.frames.example.org`, whose star becomes the requester's label. Without a star
all questions share one origin.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

STAR = "*."


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """The addresses of a marketplace.

    Attributes:
        site: of the workers' pages.
        frames: of questions; a star in it stands for the requester.
    """

    site: str
    frames: str

    def frames_of(self, requester: int) -> str:
        """Where the questions of a requester (by row id) are."""
        return self.frames.replace(STAR, f"{_label(requester)}.")

    def is_somebody_elses(self, host: str, requester: int) -> bool:
        """Whether a host is where questions of other requesters have their own.

        Shown there, a question could read what theirs have stored.

        Args:
            host: as the browser names it, with or without a port.
            requester: whose question is asked for, by row id.
        """
        if STAR not in self.frames:
            return False
        name = host.partition(":")[0].lower().rstrip(".")
        own = urlsplit(self.frames_of(requester)).hostname or ""
        return name != own and name.endswith(own.removeprefix(_label(requester)))


def _label(requester: int) -> str:
    return f"r{requester}"
