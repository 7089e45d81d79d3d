"""What docs/internals/measurements/captions.md says of the real captions beside this repository.

The figures are recomputed ones, not the paper's: at hand is half of the val split.
"""

from pathlib import Path
from statistics import fmean

import pytest

from piecework.postprocess.datasets.reading import read_captions
from piecework.report.corpus.description import describe_corpus

_DATA = Path(__file__).resolve().parents[3] / "../shared/data"

pytestmark = pytest.mark.shared


def _path(name: str) -> Path:
    path = _DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not beside this repository")
    return path


@pytest.mark.full
def test_half_of_val_is_as_documented() -> None:
    """The column "here" of each table in docs/internals/measurements/captions.md.

    One test and not four, since the analyses take ten seconds and tests run apart.
    """
    description = describe_corpus(read_captions(_path("vizwiz_val_captions_half.csv")), seed=0)

    assert description.levels.canned.tolist() == [2575, 656, 237, 146, 132, 97]
    assert (description.images, description.captions, description.canned) == (3843, 16634, 2581)
    whole = description.compositions["all"]
    assert {part: round(mean, 2) for part, mean in whole.per_caption.items()} == {
        "words": 12.10,
        "words and punctuation": 12.96,
        "nouns": 4.44,
        "verbs": 0.78,
        "adjectives": 1.37,
        "spatial relations": 1.19,
        "prepositions": 1.90,
    }
    assert {part: round(mean, 2) for part, mean in whole.per_image.items()} == {
        "words": 12.06,
        "words and punctuation": 12.91,
        "nouns": 4.37,
        "verbs": 0.78,
        "adjectives": 1.40,
        "spatial relations": 1.19,
        "prepositions": 1.88,
    }
    assert whole.unique == {
        "words": 8170,
        "nouns": 5475,
        "verbs": 1220,
        "adjectives": 1559,
        "spatial relations": 43,
        "prepositions": 63,
    }
    assert description.people == 784
    assert description.people_in_words == 1018
    unknown = description.unknown
    assert unknown["dictionary"].captions == 2224
    assert unknown["dictionary and common words"].captions == 1555
    assert len(description.specificity) == 3614
    assert round(fmean(description.specificity.values()), 2) == 0.30
    assert description.human.images == 2575
    assert {name: round(score, 1) for name, score in description.human.scores.items()} == {
        "BLEU-1": 59.6,
        "BLEU-2": 39.8,
        "BLEU-3": 26.8,
        "BLEU-4": 18.0,
        "METEOR, exact and stem": 20.8,
        "ROUGE-L": 42.8,
        "CIDEr-D": 77.5,
    }


def test_votes_of_the_training_images_are_as_documented() -> None:
    """23,431 images by the votes of five workers, and the flaws most of them saw."""
    description = describe_corpus(read_captions(_path("vizwiz_quality_train.json")))

    assert description.levels.canned.tolist() == [15751, 4122, 1424, 878, 725, 531]
    assert dict(description.levels.names) == {
        "easy": 15751,
        "medium": 4122 + 1424,
        "difficult": 878 + 725,
        "unrecognizable": 531,
    }
    assert description.levels.flaws["BLR"] == 6696
