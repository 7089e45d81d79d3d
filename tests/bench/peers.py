"""Other programs' seconds on our data, each in an environment of its own (`make peers`)."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

PEERS = Path(".piecework")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_CROWD_KIT = """
import json, sys, time
import pandas as pd
from crowdkit.aggregation import DawidSkene
from crowdkit.metrics.data import alpha_krippendorff
votes = pd.read_csv(sys.stdin, dtype=str)
seconds = {}
for name, work in {"labels": DawidSkene().fit_predict_proba, "alpha": alpha_krippendorff}.items():
    work(votes.iloc[:5])
    began = time.process_time()
    work(votes)
    seconds[name] = time.process_time() - began
print(json.dumps(seconds))
"""
_SYMSPELL = """
import json, sys, time
from importlib.resources import files
from symspellpy import SymSpell, Verbosity
texts = sys.stdin.read().splitlines()
began = time.process_time()
speller = SymSpell()
words = files("symspellpy") / "frequency_dictionary_en_82_765.txt"
assert speller.load_dictionary(str(words), 0, 1)
for text in texts:
    for word in text.split():
        speller.lookup(word, Verbosity.TOP, 2, include_unknown=True)
print(json.dumps({"words": time.process_time() - began}))
"""


def crowd_kit_seconds(votes: pd.DataFrame) -> dict[str, str]:
    """Return how long crowd-kit needs for `labels` by Dawid-Skene and for `alpha`, or why not."""
    columns = {"item_id": "task", "worker": "worker", "value": "label"}
    text = votes.rename(columns=columns).to_csv(index=False)
    return _seconds("crowd-kit", _CROWD_KIT, text, ("labels", "alpha"))


def symspell_seconds(texts: Sequence[str]) -> str:
    """Return how long symspellpy looks up every word of texts, or why that is not known."""
    lines = (" ".join(text.split()) for text in texts)
    return _seconds("symspellpy", _SYMSPELL, "\n".join(lines), ("words",))["words"]


def _seconds(peer: str, program: str, text: str, names: Sequence[str]) -> dict[str, str]:
    python = PEERS / peer / "venv/bin/python"
    if not python.exists():
        return dict.fromkeys(names, f"{peer} is not installed (`make peers`)")
    ran = subprocess.run(
        [python, "-c", program],
        input=text,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | _ONE_THREAD,
    )
    seconds: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return {name: f"{peer}: {seconds[name]:.2f} s" for name in names}
