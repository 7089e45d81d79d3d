"""The origins of the worker site and of the requesters' questions.

A browser keeps a page's stored data (mostly drafts) by origin. So each requester's
questions have a separate origin if the frames' address has a star: in
`https://*.frames.example.org`, the star becomes the requester's label. Without a star,
all questions share one origin.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

STAR = "*."


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """The addresses of a marketplace.

    Attributes:
        site: the origin of the workers' pages.
        frames: the origin of questions; a star in it stands for the requester.
    """

    site: str
    frames: str

    def frames_of(self, requester: int) -> str:
        """Return the origin of a requester's questions, by row id."""
        return self.frames.replace(STAR, f"{_label(requester)}.")

    def is_somebody_elses(self, host: str, requester: int) -> bool:
        """Return whether a host belongs to other requesters' questions.

        On it, a question could read their stored data.

        Args:
            host: the host as the browser sends it, with or without a port.
            requester: the question's requester, by row id.
        """
        if STAR not in self.frames:
            return False
        name = host.partition(":")[0].lower().rstrip(".")
        own = urlsplit(self.frames_of(requester)).hostname or ""
        return name != own and name.endswith(own.removeprefix(_label(requester)))


def _label(requester: int) -> str:
    return f"r{requester}"
