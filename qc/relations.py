"""How a worker's ratings go with the others' about the same items.

Ratings are codes, numbers from 0; what the others say about an item is a row of shares or
probabilities, one for each code.
"""

from __future__ import annotations

from typing import TypeAlias

from piecework.domain.late_modules import np, npt

Floats: TypeAlias = "npt.NDArray[np.float64]"
Codes: TypeAlias = "npt.NDArray[np.intp]"

_TWO = 2

_NO_SPREAD = 1e-12

_ORDERS = 999
"""Random orders with which a worker's is compared."""

_SEED = 20_260_105


def nearness(codes: Codes, distances: Floats) -> tuple[float, float]:
    """Return how much nearer answers are to the others' than in random order.

    Args:
        codes: of a worker's answers, by item.
        distances: of each code (row) from the others' answers about each item (column).

    Returns:
        The relation, from -1 to 1 (between two options, the correlation), and how many
        standard deviations of all orders it is.
    """
    items = len(codes)
    counts = np.bincount(codes, minlength=len(distances))
    own = distances[codes, np.arange(items)].sum()
    of_items = counts @ distances / items
    of_codes = distances.mean(axis=1)
    beyond = distances - of_codes[:, None] - of_items + of_items.mean()
    squares = float((counts @ beyond**2).sum())
    if items < _TWO or squares <= _NO_SPREAD:
        return 0.0, 0.0
    deviation = np.sqrt(squares / (items - 1))
    nearer = float((of_items.sum() - own) / deviation)
    return nearer / float(np.sqrt(items - 1)), nearer


def correlation_ratio(codes: Codes, beliefs: Floats) -> float:
    """The root of the share of the beliefs' variance that a worker's options explain.

    Corrected for their number: options that explain nothing have 0.

    Args:
        codes: of a worker's votes, by item.
        beliefs: by item, the probability of each option by the others' votes.
    """
    items, options = len(codes), len(np.unique(codes))
    total = float(((beliefs - beliefs.mean(axis=0)) ** 2).sum())
    if items <= options or total <= _NO_SPREAD:
        return 0.0
    within = float((beliefs**2).sum()) - float(_between(codes[None, :], beliefs)[0])
    return float(np.sqrt(max(1 - within / (items - options) / (total / (items - 1)), 0.0)))


def chance_of_ratio(codes: Codes, beliefs: Floats) -> float:
    """The chance that options in random order explain as much."""
    rng = np.random.default_rng(_SEED)
    orders = rng.permuted(np.tile(codes, (_ORDERS, 1)), axis=1)
    as_much = _between(orders, beliefs) >= _between(codes[None, :], beliefs)[0] - _NO_SPREAD
    return float(1 + as_much.sum()) / (1 + _ORDERS)


def line_of(codes: npt.NDArray[np.intp], shares: Floats) -> Floats:
    """The first axis of a correspondence analysis of ratings and others' ratings.

    (M. Greenacre, "Correspondence Analysis in Practice", 2007; it puts "probably for"
    between "neutral" and "for".)

    Returns:
        By rating, its place; all 0 if ratings do not depend on each other.
    """
    size = shares.shape[1]
    together = np.zeros((size, size))
    np.add.at(together, codes, shares)
    together = (together + together.T) / max(2 * together.sum(), 1.0)
    mass = together.sum(axis=1)
    root = np.sqrt(np.where(mass > 0, mass, 1.0))
    left, _, _ = np.linalg.svd(together / np.outer(root, root) - np.outer(root, root))
    return np.asarray(np.where(mass > 0, left[:, 0] / root, 0.0)) if size else mass


def _between(orders: Codes, beliefs: Floats) -> Floats:
    """By order of codes, the squares of beliefs between codes (up to a constant)."""
    squares = np.zeros(len(orders))
    for code in np.unique(orders[0]):
        is_code = orders == code
        sums = is_code.astype("float64") @ beliefs
        squares += (sums**2).sum(axis=1) / is_code[0].sum()
    return squares
