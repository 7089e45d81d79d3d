"""Workers with abilities and biases, and items that lure to a wrong value.

A vote is drawn with odds `exp(score)`, where

    score(vote) = bias[worker, vote] + ability[worker] * (vote == truth)
        + lure[item] * (vote == lured[item])

so that a worker who always clicks the same has a bias and no ability. Each item lures to
one wrong value, strongly or not at all. Between two values that is the model GLAD (J.
Whitehill and others, NIPS 2009) with a difficulty that is subtracted, as in item response
theory. Which value an item lures to, and how strongly, is integrated out and never
estimated, so that an item with few votes stays uncertain.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

from piecework.analyses.vote_models import Ballots, Counts, Floats, Places, VoteModel, truths_of
from piecework.domain.late_modules import np, scipy

_SMALLEST, _CELLS = 1e-300, 32_768
"""The least sum of weights, and the weights held at once: as many as a core's cache holds."""

_USUAL = 1.5
"""Prior ability, in logits above guessing: right four times in five between two values."""

_USUAL_SPREAD = 0.7
_CROWDS_BIAS = 0.1
"""Prior bias of a whole crowd towards a value, one standard deviation in logits. From 0.03
to 0.15 labels are equally often right; without a bias, votes for a rare value get too
little weight."""

_NODES = 3
_MOST_LURES = 6
"""With more values than this, an item lures to all wrong values alike."""

_STRENGTH, _LONGEST_STEP, _SHARE_OF_STEP = 0.5, 1.0, 0.7
"""All parameters move at once; whole steps may oscillate around the optimum."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Part:
    """Some items beside each other: their places, and votes by item and worker, and the reverse."""

    place: slice
    met: Counts
    reverse: scipy.sparse.csc_array


class Abilities(VoteModel):
    """Workers have an ability and biases, and items lure to a wrong value.

    An item's state is its truth, and which value's score moves by how much. Tables have a
    row a state, and a column an item or a worker: numpy is slow at adding up short rows.
    """

    pull = 0.2

    name = "abilities"
    is_prior_fixed = True
    """At the shares of votes."""

    def __init__(self, ballots: Ballots, outputs: Floats | None = None) -> None:
        """Start from the votes' shares and ordinary workers."""
        super().__init__(ballots, outputs)
        kinds, crowd = ballots.kinds, ballots.crowd
        self.has_lures = kinds <= _MOST_LURES
        states = [state for kind in range(kinds) for state in self._states_of(kind)]
        truth, moved, moves, weights = map(np.array, zip(*states, strict=True))
        self.truth, self.moved, self.moves = truth, moved, moves
        self.log_weights = np.log(weights)[:, None]
        # Without lures a state moves its own truth, so no table of all values by states is needed.
        self.is_moved = np.eye(kinds)[:, moved] if self.has_lures else np.empty((0, len(moved)))
        self.guessing = float(np.log(max(kinds - 1, 1)))
        self.usual = _USUAL + self.guessing
        self.abilities: Floats = np.full(crowd, self.usual)
        self.biases: Floats = np.zeros((crowd, kinds))
        self.leaning: Floats = np.zeros(kinds)
        self.spread, self.bias_spread, self.difficulty = 1.0, 0.7, _STRENGTH
        self.parts = self._in_parts(ballots.met)
        self._begin_counts()
        for part in self.parts:
            self._count(part, self.truths[part.place].T[truth] * weights[:, None])
        self._end_counts()

    def _states_of(self, kind: int) -> list[tuple[int, int, float, float]]:
        """Return the states of a truth: it, the moved value, by how much, and their weight."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        each = [*zip(nodes.tolist(), (weights / weights.sum()).tolist(), strict=True)]
        if not self.has_lures:
            return [(kind, kind, -node, weight) for node, weight in each]
        others = [other for other in range(self.ballots.kinds) if other != kind]
        # Items that do not lure are a single state, whichever value they do not lure to.
        return [
            *(
                (kind, other, node, weight / len(others))
                for other in others
                for node, weight in each
                if node
            ),
            *((kind, kind, 0.0, weight) for node, weight in each if not node),
        ]

    def _in_parts(self, met: Counts) -> list[_Part]:
        # Each part adds to a table of all workers, so a part has as many items as these.
        size, step = self.ballots.size, max(_CELLS // len(self.truth), self.ballots.crowd)
        parts = []
        for start in range(0, size, step):
            place = slice(start, min(start + step, size))
            some = met[place]
            parts.append(_Part(place=place, met=some, reverse=some.T))
        return parts

    def freed(self) -> Abilities:
        """Return a model that starts from this one and estimates the frequencies of truths."""
        free = copy(self)
        free.abilities, free.biases = self.abilities.copy(), self.biases.copy()
        free.models = copy(self.models)
        free.is_prior_fixed, free.name = False, "abilities, frequencies estimated"
        return free

    def chances(self, workers: Places, values: Places, items: Places) -> Floats:
        """As of all models."""
        chances = np.empty(len(items))
        able, priors = self._able(), self.models.log_priors(self.prior)
        edges, sums = self._odds()
        gains, norms = np.expm1(edges), _by_worker(sums)
        shifts = np.expm1(self.difficulty * self.moves)[:, None]
        odds = np.exp(self.biases)
        for part in self.parts:
            some = slice(*np.searchsorted(items, (part.place.start, part.place.stop)).tolist())
            of, by, value = items[some] - part.place.start, workers[some], values[some]
            logs = self._logs(part, able, norms) + priors[part.place].T[self.truth]
            shares = scipy.special.softmax(logs, axis=0)[:, of] / sums[:, by]
            votes = np.arange(len(of))
            weighed = shares.sum(axis=0) + self._by_truth(shares * gains[:, by])[value, votes]
            if self.has_lures:
                weighed += (self.is_moved @ (shares * shifts))[value, votes]
            chances[some] = odds[by, value] * weighed
        return chances

    def _odds(self) -> tuple[Floats, Floats]:
        """By state (or for all at once) and worker, the truth's edge; and what odds add up to."""
        edges: Floats = self.abilities[None, :]
        moves = (self.difficulty * self.moves)[:, None]
        if not self.has_lures:
            edges = edges + moves
        odds = np.exp(self.biases.T)
        sums: Floats = odds.sum(axis=0) + odds[self.truth] * np.expm1(edges)
        if self.has_lures:
            sums += odds[self.moved] * np.expm1(moves)
        return edges, sums

    def _able(self) -> Floats:
        """By value and item, the abilities of those who gave it."""
        ballots = self.ballots
        cells = ballots.values * ballots.size + ballots.items
        size = ballots.size * ballots.kinds
        able = np.bincount(cells, self.abilities[ballots.workers], size).astype("float64")
        return able.reshape(ballots.kinds, ballots.size)

    def _logs(self, part: _Part, able: Floats, norms: Floats) -> Floats:
        """By state and item, the log probability of the votes, up to a constant of the item."""
        logs: Floats = self.ballots.counts[part.place].T[self.moved]
        logs *= (self.difficulty * self.moves)[:, None]
        logs += able[:, part.place][self.truth]
        logs -= (part.met @ norms).T
        logs += self.log_weights
        return logs

    def _by_truth(self, of_states: Floats) -> Floats:
        """Add up over the states of each truth, which are beside each other."""
        kinds, (states, width) = self.ballots.kinds, of_states.shape
        summed: Floats = of_states.reshape(kinds, states // kinds, width).sum(axis=1)
        return summed

    def _weigh_truths(self) -> None:
        able, priors = self._able(), self.models.log_priors(self.prior)
        norms = _by_worker(self._odds()[1])
        self.evidence, truths = np.empty_like(self.truths), np.empty_like(self.truths)
        self._begin_counts()
        for part in self.parts:
            weights = self._logs(part, able, norms)
            top = weights.max(axis=0)
            weights -= top
            np.exp(weights, out=weights)
            sums = np.maximum(self._by_truth(weights), _SMALLEST)
            evidence, place = (np.log(sums) + top).T, part.place
            own = truths_of(evidence + priors[place], self.ballots.counts[place])
            self.evidence[place], truths[place] = evidence, own
            weights *= (own.T / sums)[self.truth]
            self._count(part, weights)
        self._end_counts()
        self.truths = truths

    def _begin_counts(self) -> None:
        self.met: Floats = np.zeros((self.ballots.crowd, len(self.truth)))
        self.moved_votes = 0.0

    def _count(self, part: _Part, states: Floats) -> None:
        """Add what the steps need of some items: by worker and state, the votes."""
        self.met += part.reverse @ states.T
        by_moved = (
            (self.is_moved * self.moves) @ states
            if self.has_lures
            else self._by_truth(states * self.moves[:, None])
        )
        self.moved_votes += float((self.ballots.counts[part.place].T * by_moved).sum())

    def _end_counts(self) -> None:
        self.met = np.ascontiguousarray(self.met.T)

    def _improve(self) -> None:
        """Make one Newton step for every parameter, given the weights of the states."""
        edges, sums = self._odds()
        odds = np.exp(self.biases.T)
        right = odds[self.truth] * np.exp(edges) / sums
        moved = right
        if self.has_lures:
            moved = odds[self.moved] * np.exp(self.difficulty * self.moves)[:, None] / sums
        slopes, curves = self._slopes_of_biases(right, moved, odds, sums)
        self._improve_difficulty(moved)
        ballots = self.ballots
        of_votes = self.truths[ballots.items, ballots.values]
        expected = self.met * right
        slope: Floats = np.bincount(ballots.workers, of_votes, minlength=ballots.crowd) - (
            expected.sum(axis=0)
        )
        self._improve_abilities(slope, (expected * (1.0 - right)).sum(axis=0))
        self._improve_biases(slopes, curves)
        if not self.is_prior_fixed:
            self._estimate_prior()

    def _improve_difficulty(self, moved: Floats) -> None:
        expected = self.met * moved
        slope = self.moved_votes - float((expected.sum(axis=1) * self.moves).sum())
        curve = float(((expected * (1.0 - moved)).sum(axis=1) * self.moves**2).sum())
        step = (slope - (self.difficulty - _STRENGTH) * 4.0) / (curve + 4.0)
        self.difficulty = min(max(self.difficulty + float(_part(step)), 0.05), 4.0)

    def _slopes_of_biases(
        self, right: Floats, moved: Floats, odds: Floats, sums: Floats
    ) -> tuple[Floats, Floats]:
        plain = self.met / sums
        expected = odds * plain.sum(axis=0)
        squared = odds**2 * (plain / sums).sum(axis=0)
        other = odds[self.truth] / sums
        expected += self._by_truth(self.met * (right - other))
        squared += self._by_truth(self.met * (right**2 - other**2))
        if self.has_lures:
            other = odds[self.moved] / sums
            expected += self.is_moved @ (self.met * (moved - other))
            squared += self.is_moved @ (self.met * (moved**2 - other**2))
        curves = np.maximum(expected - squared, 0.0)
        return self.ballots.of_workers - expected.T, curves.T

    def _improve_abilities(self, slope: Floats, curve: Floats) -> None:
        known, tight = slice(0, -1), 1.0 / self.spread**2
        beyond = self.abilities[known] - self.usual
        self.abilities[known] += _part((slope[known] - beyond * tight) / (curve[known] + tight))
        people, pull = len(beyond), 1.0 / _USUAL_SPREAD**2
        beyond = self.abilities[known] - self.usual
        step = (
            (beyond * tight).sum() + slope[-1] - (self.usual - _USUAL - self.guessing) * pull
        ) / (people * tight + curve[-1] + pull)
        self.usual += float(_part(step))
        self.abilities[-1] = self.usual
        unsure = 1.0 / (curve[known] + tight)
        squares = ((self.abilities[known] - self.usual) ** 2 + unsure).sum()
        self.spread = float(np.sqrt((squares + 1.0) / (people + 2)))

    def _improve_biases(self, slope: Floats, curve: Floats) -> None:
        known, tight = slice(0, -1), 1.0 / self.bias_spread**2
        beyond = self.biases[known] - self.leaning
        beyond = _centred(beyond + _part((slope[known] - beyond * tight) / (curve[known] + tight)))
        people, pull = len(beyond), 1.0 / _CROWDS_BIAS**2
        step = (beyond.sum(axis=0) * tight + slope[-1] - self.leaning * pull) / (
            people * tight + curve[-1] + pull
        )
        self.leaning = _centred(self.leaning + _part(step))
        self.biases[known] = self.leaning + beyond
        self.biases[-1] = self.leaning
        unsure = 1.0 / (curve[known] + tight)
        squares = (beyond**2 + unsure).sum()
        self.bias_spread = float(np.sqrt((squares + 1.0) / (people * self.ballots.kinds + 2)))


def _by_worker(sums: Floats) -> Floats:
    """By worker and state, the log of what odds add up to: a row for each vote's worker."""
    return np.ascontiguousarray(np.log(sums).T)


def _centred(scores: Floats) -> Floats:
    """Shift scores so that they add up to 0 over the values."""
    centred: Floats = scores - scores.mean(axis=-1, keepdims=True)
    return centred


def _part(step: Floats | float) -> Floats:
    parts: Floats = _SHARE_OF_STEP * np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
    return parts
