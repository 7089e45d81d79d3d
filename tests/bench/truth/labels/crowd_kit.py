"""Runs crowd-kit's models on votes; a program for an environment that has crowd-kit.

Reads votes as JSON, and writes the probability of each label of each item. It
imports nothing of piecework, so that crowd-kit is no dependency of piecework.
"""

import json
import sys
from typing import Any

import pandas as pd
from crowdkit.aggregation import GLAD, MACE, DawidSkene, Wawa, ZeroBasedSkill

MODELS: dict[str, Any] = {
    "Dawid-Skene": DawidSkene,
    "MACE": MACE,
    "GLAD": GLAD,
    "Wawa": Wawa,
    "ZBS": ZeroBasedSkill,
}
"""All with their default settings."""


def main() -> None:
    """From standard input to standard output."""
    frame = pd.DataFrame(json.load(sys.stdin), columns=["task", "worker", "label"])
    tables = {
        name: model().fit_predict_proba(frame).fillna(0.0).to_dict("split")
        for name, model in MODELS.items()
    }
    json.dump(tables, sys.stdout)


if __name__ == "__main__":
    main()
