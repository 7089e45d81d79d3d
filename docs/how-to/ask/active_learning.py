"""Train a classifier on the headlines that it is least sure about."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
from prefect import flow

from piecework.flows.asking import ask_table

CAMPAIGN = Path(__file__).with_name("active_learning.toml")


@flow(persist_result=True)
def learn(
    pool: list[dict[str, str]], *, rounds: int = 5, per_round: int = 20, rehearse: bool = False
) -> dict[str, str]:
    """Return a label for each headline of the pool, by its `item_id`.

    Each round asks people about the headlines with the most uncertain labels, then
    trains again. Rounds that are answered return at once when the run is resumed.
    """
    headlines = pd.DataFrame(pool).set_index("item_id", drop=False)
    labels: dict[str, str] = {}
    for _ in range(rounds):
        classifier = NaiveBayes(headlines["headline"][labels.keys()], labels.values())
        unlabelled = headlines[~headlines.index.isin(labels.keys())]
        certainty = pd.Series(
            [max(classifier(text).values(), default=0) for text in unlabelled["headline"]],
            unlabelled.index,
        )
        chosen = certainty.sort_values(kind="stable").index[:per_round]
        answers = ask_table(headlines.loc[chosen], campaign=CAMPAIGN, rehearse=rehearse)
        labels |= dict(zip(answers["task"], answers["label"], strict=True))

    classifier = NaiveBayes(headlines["headline"][labels.keys()], labels.values())
    for item_id, text in headlines["headline"].items():
        probabilities = classifier(text)
        labels.setdefault(item_id, max(probabilities, key=probabilities.__getitem__))
    return labels


class NaiveBayes:
    """A multinomial classifier of words, with one added to each count."""

    def __init__(self, texts: Iterable[str], labels: Iterable[str]) -> None:
        self.words: dict[str, Counter[str]] = {}
        self.priors = Counter[str]()
        for text, label in zip(texts, labels, strict=True):
            self.words.setdefault(label, Counter()).update(text.lower().split())
            self.priors[label] += 1

    def __call__(self, text: str) -> Mapping[str, float]:
        """Return the probability of each label that has an example."""
        vocabulary = len({word for words in self.words.values() for word in words})
        logs = {
            label: math.log(count)
            + sum(
                math.log((words[word] + 1) / (words.total() + vocabulary))
                for word in text.lower().split()
            )
            for label, count in self.priors.items()
            for words in [self.words[label]]
        }
        highest = max(logs.values(), default=0.0)
        weights = {label: math.exp(log - highest) for label, log in logs.items()}
        total = sum(weights.values())
        return {label: weight / total for label, weight in weights.items()}
