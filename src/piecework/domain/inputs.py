"""What a campaign was made from: the text of its file, and a digest of each input.

A result carries the hash of what it was made from. So each pass records its inputs in
the store (`piecework.store.campaign_facts`), and a rehearsal is continued only with the
inputs that it began with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

CAMPAIGN_FILE = "the campaign file"
CODE = "the version of piecework"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A key of a campaign file, or a file that a key names, that is different now.

    Attributes:
        key: such as `budget.day`, or `items.file: birds.csv`.
        before: its value then, as text; "" of a file, and of a key that was not there.
        now: its value now.
    """

    key: str
    before: str
    now: str

    def __str__(self) -> str:
        """Return the difference in a sentence."""
        if not (self.before or self.now):
            return f"{self.key} has changed"
        return f"{self.key} was {self.before or 'not set'} and is {self.now or 'not set'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The inputs of a campaign at one moment.

    Attributes:
        text: the campaign file's text.
        digests: sha256 by input: the campaign file, and each file that a key of it
            names, such as `items.file: birds.csv`; with `CODE`, the version of the
            code instead.
    """

    text: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def source_hash(self) -> str:
        """The sha256 of the campaign file's bytes; "" if there is no file."""
        return self.digests.get(CAMPAIGN_FILE, "")

    def by_code(self, version: str) -> "Inputs":
        """Return the same inputs, used by a version of the code."""
        return replace(self, digests={**self.digests, CODE: version})

    def changed_digests(self, now: "Inputs") -> tuple[str, ...]:
        """Name the inputs that differ now; the version of the code if both know it."""
        return tuple(
            name
            for name in dict.fromkeys([*self.digests, *now.digests])
            if self.digests.get(name) != now.digests.get(name)
            and (name != CODE or CODE in self.digests.keys() & now.digests.keys())
        )
