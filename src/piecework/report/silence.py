"""Heuristics that could say nothing, so that silence is not read as praise."""

from collections.abc import Mapping

from piecework.report.components import Table, text
from piecework.report.formatting import listed


def silent_tables(silent: Mapping[str, str]) -> tuple[Table, ...]:
    """A row a reason, with the heuristics that it silences; no table without any.

    Args:
        silent: why each can say nothing, by name (`piecework.qc.silence.silences`).
    """
    because: dict[str, list[str]] = {}
    for name, why in silent.items():
        because.setdefault(why, []).append(name)
    if not because:
        return ()
    table = Table(
        caption="Heuristics that could say nothing here",
        columns=(text("Since"), text("Heuristics")),
        rows=tuple((why, listed(names)) for why, names in because.items()),
        is_wide=True,
    )
    return (table,)
