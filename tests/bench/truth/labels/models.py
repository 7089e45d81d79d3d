"""Our models of labels and crowd-kit's, in one shape: probabilities by item and value.

crowd-kit runs in an environment of its own (`crowd_kit.py`, `crowd-kit.lock`).
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from piecework.analyses.dawid_skene import dawid_skene
from piecework.analyses.labels_from_votes import ability
from piecework.analyses.votes import vote_table

PYTHON = Path(".piecework/crowd-kit/venv/bin/python")
_PROGRAM = Path(__file__).with_name("crowd_kit.py")

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""The matrices are small: more threads wait for each other."""

Model = Callable[[pd.DataFrame, Sequence[str]], pd.DataFrame]
"""From votes and possible values to probabilities: index `item_id`, column value."""

ABILITY = "`ability`"


def _majority(votes: pd.DataFrame, values: Sequence[str]) -> pd.DataFrame:
    counts = vote_table(votes).reindex(columns=list(values), fill_value=0)
    return counts.div(counts.sum(axis=1), axis="index")


def _dawid_skene(votes: pd.DataFrame, values: Sequence[str]) -> pd.DataFrame:
    fit = dawid_skene(votes)
    return fit.probabilities.reindex(columns=list(values), fill_value=0.0)


def _ability(votes: pd.DataFrame, values: Sequence[str]) -> pd.DataFrame:
    return ability(votes, values=values).probabilities[list(values)]


OWN: Mapping[str, Model] = {"majority": _majority, "Dawid-Skene": _dawid_skene, ABILITY: _ability}


def crowd_kit(votes: pd.DataFrame, values: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the probabilities of each of crowd-kit's models."""
    rows = votes[["item_id", "worker", "value"]].to_numpy().tolist()
    ran = subprocess.run(
        [PYTHON, _PROGRAM],
        input=json.dumps(rows),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | _ONE_THREAD,
    )
    return {
        f"crowd-kit {name}": pd.DataFrame(
            table["data"], index=table["index"], columns=table["columns"]
        ).reindex(columns=list(values), fill_value=0.0)
        for name, table in json.loads(ran.stdout).items()
    }
