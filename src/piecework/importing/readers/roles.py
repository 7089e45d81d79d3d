"""Tell the columns of items from answers, in tables that do not name which is which.

Several people answer about one unit. What differs between their rows is an answer, and
what is the same for all may be of the unit.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from piecework.domain.imported import Reading
from piecework.domain.toml_text import toml_line

_LEAST_REPEATED = 2
"""Without a second row for any unit, values that repeat this often are answers."""


class Roles(NamedTuple):
    """What columns hold.

    Attributes:
        shown: the columns of items.
        sent: the columns of answers.
        guesses: what was guessed, with the line that states otherwise.
    """

    shown: frozenset[str]
    sent: frozenset[str]
    guesses: tuple[tuple[str, str], ...] = ()


def stated_roles(names: Collection[str], reading: Reading) -> Roles | None:
    """Return what is stated; `None` if it does not tell items from answers."""
    items = {*reading.item, reading.item_id} - {""}
    if reading.answers:
        sent = frozenset(reading.answers.values())
        return Roles(frozenset(items or set(names) - sent), sent)
    if items:
        return Roles(frozenset(items), frozenset(set(names) - items))
    return None


def guessed_roles(
    rows: Iterable[tuple[str, Mapping[str, str]]],
    names: Sequence[str],
    *,
    asked: Collection[str] = (),
    answers_stand_together: bool = False,
) -> Roles:
    """Guess roles from the rows.

    Args:
        rows: the unit and the cells of each row.
        names: the columns in question, in the order of the file.
        asked: columns that are known to be answers.
        answers_stand_together: whether no column of items stands between answers.
    """
    columns = _Columns(names)
    for unit, cells in rows:
        columns.see(unit, cells)
    sent = {*asked} & {*names} | columns.answers()
    if answers_stand_together and sent:
        positions = [number for number, name in enumerate(names) if name in sent]
        sent |= {*names[positions[0] : positions[-1] + 1]}
    shown = [name for name in names if name not in sent]
    ordered = [name for name in names if name in sent]
    items, answers = ", ".join(shown) or "none", ", ".join(ordered) or "none"
    stated = toml_line("answers", {name: name for name in (ordered or shown)[:1]})
    guess = f"columns of items: {items}; answers: {answers}"
    return Roles(frozenset(shown), frozenset(ordered), ((guess, stated),))


class _Columns:
    """The values of columns by unit; memory grows with units and columns."""

    def __init__(self, names: Sequence[str]) -> None:
        self._of_units: dict[str, dict[str, int]] = {}
        self._same = dict.fromkeys(names)
        self._different: dict[str, set[int]] = {name: set() for name in names}
        self._rows = 0
        self._is_repeated = False

    def see(self, unit: str, cells: Mapping[str, str]) -> None:
        """Add a row."""
        self._rows += 1
        before = self._of_units.get(unit)
        values = {name: hash(cells.get(name, "").strip()) for name in self._same}
        if before is None:
            self._of_units[unit] = values
        else:
            self._is_repeated = True
        for name, value in values.items():
            self._different[name].add(value)
            if before is not None and before.get(name, value) != value:
                del self._same[name]

    def answers(self) -> set[str]:
        """Return the columns that differ within a unit, or hold few values."""
        if self._is_repeated:
            return self._different.keys() - self._same.keys()
        return {
            name
            for name, values in self._different.items()
            if 1 < len(values) <= self._rows / _LEAST_REPEATED
        }
