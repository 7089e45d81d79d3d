"""Our metrics are those that captions are published with.

`coco_caption.json` holds captions written for this test and their scores, computed once
by pycocoevalcap 1.2 (BLEU, CIDEr-D, ROUGE-L) and by METEOR 1.5 with the switches
`-l en -norm -m "exact stem" -w "1.0 0.6"`; the first caption of each image is scored
against its others.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from piecework.analyses.corpus.caption_metrics import (
    Pair,
    best_meteor_stats,
    bleu,
    cider_d,
    meteor,
    rouge_l,
)
from piecework.analyses.corpus.captions import tokens

_FILE = Path(__file__).with_name("coco_caption.json")
_GOLD = json.loads(_FILE.read_text(encoding="utf-8"))
_SCORES: Mapping[str, float] = _GOLD["scores"]


def _pairs() -> Sequence[Pair]:
    spoken = [[tokens(text) for text in image] for image in _GOLD["captions"]]
    return [Pair(words[0], words[1:]) for words in spoken]


def test_bleu_of_every_order_is_that_of_coco_caption() -> None:
    """Four orders, to the billionth that its smoothing by 1e-9 allows."""
    assert bleu(_pairs()) == pytest.approx(_GOLD["scores"]["BLEU"], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "metric"), [("CIDEr-D", cider_d), ("ROUGE-L", rouge_l), ("METEOR", meteor)]
)
def test_the_other_metrics_are_those_of_the_published_programs(name: str, metric: object) -> None:
    """The score over all captions is the same to twelve digits."""
    assert callable(metric)
    assert metric(_pairs()) == pytest.approx(_SCORES[name], rel=1e-12)


def test_meteor_of_each_caption_is_that_of_the_published_program() -> None:
    """Not only the sum agrees: every alignment has the same matches and chunks."""
    each = [best_meteor_stats(pair).score for pair in _pairs()]
    assert each == pytest.approx(_GOLD["METEOR of each"], rel=1e-12)
