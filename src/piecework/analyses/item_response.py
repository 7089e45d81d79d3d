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

from piecework.analyses.vote_models import Ballots, Floats, Places, VoteModel, bounded
from piecework.domain.late_modules import np, scipy

_SMALLEST, _CHUNK = 1e-300, 50_000
"""The least sum of weights, and the items whose states are held in memory at once."""

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


class Abilities(VoteModel):
    """Workers have an ability and biases, and items lure to a wrong value."""

    pull = 0.2

    name = "abilities"
    is_prior_fixed = True
    """At the shares of votes."""

    def __init__(self, ballots: Ballots, outputs: Floats | None = None) -> None:
        """Start from the votes' shares and ordinary workers."""
        super().__init__(ballots, outputs)
        kinds, crowd = ballots.kinds, ballots.crowd
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        others = [[other for other in range(kinds) if other != kind] for kind in range(kinds)]
        self.has_lures = kinds <= _MOST_LURES
        if not self.has_lures:
            others = [[kind] for kind in range(kinds)]
        # By state: its truth, the value whose score moves, by how much, and its log weight.
        self.truth = np.array([k for k in range(kinds) for _ in others[k] for _ in nodes])
        self.moved = np.array([other for k in range(kinds) for other in others[k] for _ in nodes])
        self.moves = np.tile(nodes, len(self.truth) // _NODES)
        each = len(self.truth) // kinds
        self.log_weights = np.log(
            np.tile(weights / weights.sum() * _NODES / each, each * kinds // _NODES)
        )
        self.guessing = float(np.log(max(kinds - 1, 1)))
        self.usual = _USUAL + self.guessing
        self.abilities: Floats = np.full(crowd, self.usual)
        self.biases: Floats = np.zeros((crowd, kinds))
        self.leaning: Floats = np.zeros(kinds)
        self.spread, self.bias_spread, self.difficulty = 1.0, 0.7, _STRENGTH
        self.met: Floats = np.zeros((crowd, len(self.truth)))
        self.moved_votes = 0.0
        for part in self._parts():
            self._count(part, self.truths[part][:, self.truth] * np.exp(self.log_weights))

    def freed(self) -> Abilities:
        """Return a model that starts from this one and estimates the frequencies of truths."""
        free = copy(self)
        free.abilities, free.biases = self.abilities.copy(), self.biases.copy()
        free.models = copy(self.models)
        free.is_prior_fixed, free.name = False, "abilities, frequencies estimated"
        return free

    def log_evidence(self) -> Floats:
        """As of all models."""
        sums = self._sums()
        return np.concatenate([self._states(part, *sums)[2] for part in self._parts()])

    def chances(self, workers: Places, values: Places, items: Places) -> Floats:
        """As of all models."""
        chances = np.empty(len(items))
        sums, priors = self._sums(), self.models.log_priors(self.prior)
        edges, norms = self._norms()
        for part in self._parts():
            votes = np.flatnonzero((items >= part.start) & (items < part.stop))
            states = scipy.special.softmax(
                self._logs(part, *sums) + priors[part][:, self.truth], axis=1
            )
            for at in range(0, len(votes), _CHUNK):
                some = votes[at : at + _CHUNK]
                scores = self.biases[workers[some], values[some]][:, None] - norms[workers[some]]
                is_right = self.truth == values[some][:, None]
                scores = scores + np.where(is_right, edges[workers[some]], 0.0)
                if self.has_lures:
                    is_lured = self.moved == values[some][:, None]
                    scores += np.where(is_lured, self.difficulty * self.moves, 0.0)
                chances[some] = (states[items[some] - part.start] * np.exp(scores)).sum(axis=1)
        return chances

    def _parts(self) -> list[slice]:
        size = self.ballots.size
        return [slice(at, min(at + _CHUNK, size)) for at in range(0, size, _CHUNK)]

    def _norms(self) -> tuple[Floats, Floats]:
        """By worker and state: the truth's edge, and the log of what odds add up to."""
        edges = np.repeat(self.abilities[:, None], len(self.truth), axis=1)
        if not self.has_lures:
            edges -= self.difficulty * self.moves
        odds = np.exp(self.biases)
        sums = odds.sum(axis=1)[:, None] + odds[:, self.truth] * np.expm1(edges)
        if self.has_lures:
            sums += odds[:, self.moved] * np.expm1(self.difficulty * self.moves)
        return edges, np.log(sums)

    def _sums(self) -> tuple[Floats, Floats]:
        """By item and value, the abilities of those who gave it; and the norms."""
        ballots = self.ballots
        cells = ballots.items * ballots.kinds + ballots.values
        size = ballots.size * ballots.kinds
        able = np.bincount(cells, self.abilities[ballots.workers], size).astype("float64")
        return able.reshape(ballots.size, ballots.kinds), self._norms()[1]

    def _logs(self, part: slice, able: Floats, norms: Floats) -> Floats:
        """By item and state, the log probability of the votes, up to a constant of the item."""
        moves = self.difficulty * self.moves * (1.0 if self.has_lures else -1.0)
        logs: Floats = able[part][:, self.truth] - self.ballots.met[part] @ norms
        logs += self.ballots.counts[part][:, self.moved] * moves + self.log_weights
        return logs

    def _states(self, part: slice, able: Floats, norms: Floats) -> tuple[Floats, Floats, Floats]:
        """Some items' states: weights, their sums by truth, and the logs of these sums."""
        logs = self._logs(part, able, norms)
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - top)
        sums = np.maximum(self._by_truth(weights), _SMALLEST)
        return weights, sums, np.log(sums) + top

    def _by_truth(self, of_states: Floats) -> Floats:
        """Add up over the states of each truth, which are beside each other."""
        summed: Floats = of_states.reshape(len(of_states), self.ballots.kinds, -1).sum(axis=2)
        return summed

    def _by_moved(self, of_states: Floats) -> Floats:
        """Add up over the states that move each value's score."""
        if not self.has_lures:
            return self._by_truth(of_states)
        summed: Floats = of_states @ np.eye(self.ballots.kinds)[self.moved]
        return summed

    def _weigh_truths(self) -> None:
        sums, priors = self._sums(), self.models.log_priors(self.prior)
        self.met = np.zeros_like(self.met)
        self.moved_votes = 0.0
        truths = np.empty_like(self.truths)
        for part in self._parts():
            weights, of_truths, logs = self._states(part, *sums)
            bound = bounded(logs + priors[part], self.ballots.counts[part])
            truths[part] = scipy.special.softmax(bound, axis=1)
            self._count(part, weights * (truths[part] / of_truths)[:, self.truth])
        self.truths = truths

    def _count(self, part: slice, states: Floats) -> None:
        """Add what the steps need of some items: by worker and state, the votes."""
        ballots = self.ballots
        self.met += ballots.met[part].T @ states
        moves = self.moves * (1.0 if self.has_lures else -1.0)
        self.moved_votes += float((ballots.counts[part] * self._by_moved(states * moves)).sum())

    def _improve(self) -> None:
        """Make one Newton step for every parameter, given the weights of the states."""
        edges, norms = self._norms()
        right = np.exp(edges + self.biases[:, self.truth] - norms)
        moved = right
        if self.has_lures:
            moved = np.exp(self.difficulty * self.moves + self.biases[:, self.moved] - norms)
        self._improve_difficulty(moved)
        slopes, curves = self._slopes_of_biases(right, moved, norms)
        ballots = self.ballots
        of_votes = self.truths[ballots.items, ballots.values]
        slope: Floats = np.bincount(ballots.workers, of_votes, minlength=ballots.crowd) - (
            self.met * right
        ).sum(axis=1)
        self._improve_abilities(slope, (self.met * right * (1.0 - right)).sum(axis=1))
        self._improve_biases(slopes, curves)
        if not self.is_prior_fixed:
            self._estimate_prior()

    def _improve_difficulty(self, moved: Floats) -> None:
        moves = self.moves * (1.0 if self.has_lures else -1.0)
        slope = self.moved_votes - float((self.met * moved * moves).sum())
        curve = float((self.met * moved * (1.0 - moved) * moves**2).sum())
        step = (slope - (self.difficulty - _STRENGTH) * 4.0) / (curve + 4.0)
        self.difficulty = min(max(self.difficulty + float(_part(step)), 0.05), 4.0)

    def _slopes_of_biases(
        self, right: Floats, moved: Floats, norms: Floats
    ) -> tuple[Floats, Floats]:
        odds = np.exp(self.biases)
        plain = self.met * np.exp(-norms)
        expected = odds * plain.sum(axis=1, keepdims=True)
        squared = odds**2 * (plain * np.exp(-norms)).sum(axis=1, keepdims=True)
        places = [(right, self.truth, self._by_truth)]
        if self.has_lures:
            places.append((moved, self.moved, self._by_moved))
        for chances, place, summed in places:
            other = odds[:, place] * np.exp(-norms)
            expected += summed(self.met * (chances - other))
            squared += summed(self.met * (chances**2 - other**2))
        return self.ballots.of_workers - expected, np.maximum(expected - squared, 0.0)

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


def _centred(scores: Floats) -> Floats:
    """Shift scores so that they add up to 0 over the values."""
    centred: Floats = scores - scores.mean(axis=-1, keepdims=True)
    return centred


def _part(step: Floats | float) -> Floats:
    parts: Floats = _SHARE_OF_STEP * np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
    return parts
