"""Merged spans of a text that do not overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from piecework.domain.late_modules import np, npt

Floats: TypeAlias = "npt.NDArray[np.float64]"


def cut_apart(
    spans: Floats, labels: npt.NDArray[np.object_], drawn: Sequence[Mapping[int, Sequence[float]]]
) -> tuple[Floats, Sequence[int]]:
    """Cut spans of one label so that no two overlap, unless a worker drew two that do.

    Characters of two spans stay in that of more workers, or else in the first.

    Args:
        spans: low and high end of each.
        labels: of each.
        drawn: of each, the ends of its workers' spans, by worker.

    Returns:
        The ends, of shape (spans, 1, 2), and the places of the spans that keep half of their
        characters.
    """
    left: list[int] = []
    for n in sorted(range(len(spans)), key=lambda n: (-len(drawn[n]), *spans[n].tolist())):
        low, high = spans[n]
        for other in left:
            start, end = spans[other]
            is_shared = max(low, start) < min(high, end) and labels[n] == labels[other]
            if is_shared and not _overlap_in_one(drawn[n], drawn[other]):
                low, high = (low, start) if start - low > high - end else (end, high)
        if high - low >= (spans[n, 1] - spans[n, 0]) / 2:
            left.append(n)
        spans[n] = low, high
    return spans[:, None, :], left


def _overlap_in_one(
    first: Mapping[int, Sequence[float]], second: Mapping[int, Sequence[float]]
) -> bool:
    """Whether two spans of one worker overlap."""
    return any(
        max(first[worker][0], second[worker][0]) < min(first[worker][1], second[worker][1])
        for worker in first.keys() & second.keys()
    )
