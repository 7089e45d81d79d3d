"""What a campaign was made from: its file, what that leaves out, and a digest of each input.

A result carries the hash of what it was made from. So each pass records its inputs in
the store (`piecework.store.campaign_facts`), and a rehearsal is continued only with the
inputs that it began with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from piecework.domain.text import one_line

CAMPAIGN_FILE = "the campaign file"
CODE = "the version of piecework"
ONLY_WRITING = "how the campaign file is written"
"""What has changed if the file's bytes differ and every key means what it meant."""


_LONGEST = 60
"""Characters of a value that a message shows."""

_BEFORE = 20
"""Characters that it shows of what both values begin with."""


def _shortened(value: str, same: int) -> str:
    r"""Return a value, or words of it from shortly before what differs.

    >>> _shortened("one two three " * 6, same=30)
    '… three one two three one two three one two three one two…'
    """
    if len(value) <= _LONGEST:
        return one_line(value)
    begins = value.rfind(" ", 0, max(0, same - _BEFORE) + 1) + 1 if same > _BEFORE else 0
    words, rest = value[begins : begins + _LONGEST], value[begins + _LONGEST :]
    if rest and not rest.startswith(" "):
        words = words.rpartition(" ")[0] or words
    return one_line(f"{'… ' * bool(begins)}{words}{'…' * bool(rest)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A key of a campaign file, or a file that a key names, that is different now.

    Attributes:
        key: such as `budget.day`, or `items.file: birds.csv`.
        before: its value then, as TOML writes it; "" of a file, and of a key that was not
            there.
        now: its value now.
    """

    key: str
    before: str
    now: str

    def __str__(self) -> str:
        """Return the difference in a sentence."""
        if not (self.before or self.now):
            return f"{self.key} has changed"
        before, now = self.shown
        return f"{self.key} was {before or 'not set'} and is {now or 'not set'}"

    @property
    def shown(self) -> tuple[str, str]:
        """Both values on a line each, shortened at words to the part that differs."""
        before, now = (" ".join(value.split()) for value in (self.before, self.now))
        differs = (
            place for place, pair in enumerate(zip(before, now, strict=False)) if len({*pair}) > 1
        )
        same = next(differs, min(len(before), len(now)))
        return _shortened(before, same), _shortened(now, same)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The inputs of a campaign at one moment.

    Attributes:
        text: the campaign file's text.
        complete: the text with what the file leaves out, as `check --full` prints it; ""
            if that is not known.
        digests: sha256 by input: the campaign file, and each file that a key of it
            names, such as `items.file: birds.csv`; with `CODE`, the version of the
            code instead.
    """

    text: str = ""
    complete: str = ""
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
