"""What a campaign was made from: the text of its file, and a digest of each input.

A result carries the hash of what it was made from. So each pass records its inputs in
the store (`piecework.store.campaign_facts`), and a rehearsal is continued only with the
inputs that it began with.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from piecework.domain.text import one_line

CAMPAIGN_FILE = "the campaign file"
CODE = "the version of piecework"


_SHOWN = 60
"""Characters of a value that a message shows."""


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

    def changes(self, now: "Inputs") -> tuple[str, ...]:
        """Name what differs now, keys of the campaign file first.

        The version of the code counts if both know it.

        >>> before = Inputs(text="a = 1", digests={CAMPAIGN_FILE: "1", "x: x.csv": "1"})
        >>> now = Inputs(text="a = 2", digests={CAMPAIGN_FILE: "2", "x: x.csv": "2"})
        >>> before.changes(now)
        ('a', 'x: x.csv')
        """
        changed = [
            name
            for name in dict.fromkeys([*self.digests, *now.digests])
            if self.digests.get(name) != now.digests.get(name)
            and (name != CODE or CODE in self.digests.keys() & now.digests.keys())
        ]
        if CAMPAIGN_FILE not in changed:
            return tuple(changed)
        changed.remove(CAMPAIGN_FILE)
        keys = _changed_keys(self.text, now.text)
        return (*(keys or [f"{CAMPAIGN_FILE} (no key)"]), *changed)

    def differences(self, now: "Inputs") -> tuple[Difference, ...]:
        """Return the same with old and new values, shortened.

        >>> Inputs(text="a = 1").differences(Inputs(text="a = 2"))
        ()
        """
        then, today = keys_of_text(self.text), keys_of_text(now.text)
        return tuple(
            Difference(
                key=key,
                before=one_line(then.get(key, ""), at_most=_SHOWN),
                now=one_line(today.get(key, ""), at_most=_SHOWN),
            )
            for key in self.changes(now)
        )


def _changed_keys(before: str, now: str) -> list[str]:
    then, today = keys_of_text(before), keys_of_text(now)
    return [key for key in dict.fromkeys([*then, *today]) if then.get(key) != today.get(key)]


def keys_of_text(text: str) -> dict[str, str]:
    """Return each key of a TOML file with its value as text; a list of tables is one.

    >>> keys_of_text("a = 1") | keys_of_text("b = {c = true}")
    {'a': '1', 'b.c': 'True'}
    """
    return dict(_flat(tomllib.loads(text), ""))


def _flat(table: Mapping[str, object], under: str) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{under}{name}.")
        else:
            # Values of different types compare equal (1 and true); their texts do not.
            yield f"{under}{name}", repr(value)
