"""Heuristics that could flag nothing, so that silence is not read as praise."""

from collections.abc import Mapping

from piecework.qc.registry import TITLES
from piecework.report.components import Table, text
from piecework.report.formatting import listed


def silent_tables(silent: Mapping[str, str], *, is_wide: bool = True) -> tuple[Table, ...]:
    """One row per reason, with the titles of the heuristics; no table if none.

    Args:
        silent: why each can flag nothing, by name (`piecework.qc.silence.silences`).
        is_wide: False if the table stands beside a plot.
    """
    because: dict[str, list[str]] = {}
    for name, why in silent.items():
        because.setdefault(why, []).append(TITLES.get(name, name))
    if not because:
        return ()
    columns = ("Reason", "Heuristics") if is_wide else ("Reason: heuristics",)
    cells = [(why, listed(titles)) for why, titles in because.items()]
    table = Table(
        caption="Heuristics that could flag nothing here",
        columns=tuple(text(column) for column in columns),
        rows=tuple(pair if is_wide else (": ".join(pair),) for pair in cells),
        is_wide=is_wide,
    )
    return (table,)
