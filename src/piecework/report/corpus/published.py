"""Figures from the VizWiz-Captions paper, for comparison.

Gurari, Zhao, Zhang, Bhattacharya: "Captioning Images Taken by People Who Are Blind",
ECCV 2020. All figures are about the whole dataset (39,181 images, 168,826 captions that
are neither canned nor rejected); the distribution of canned answers is in
`piecework.report.sections.difficulty`.
"""

from collections.abc import Mapping

from piecework.analyses.corpus.composition import Part

MEANS: Mapping[str, Mapping[Part, float]] = {
    "all": {
        "words": 13.0,
        "nouns": 4.4,
        "verbs": 0.9,
        "adjectives": 1.4,
        "spatial relations": 1.9,
    },
    "with text": {
        "words": 12.9,
        "nouns": 4.5,
        "verbs": 0.9,
        "adjectives": 1.4,
        "spatial relations": 1.9,
    },
    "without text": {
        "words": 13.1,
        "nouns": 4.2,
        "verbs": 0.9,
        "adjectives": 1.6,
        "spatial relations": 1.9,
    },
}
"""Table 1, left half: mean number in a caption."""

UNIQUE: Mapping[str, Mapping[Part, int]] = {
    "all": {
        "words": 24422,
        "nouns": 16400,
        "verbs": 4040,
        "adjectives": 8755,
        "spatial relations": 275,
    },
    "with text": {
        "words": 21161,
        "nouns": 14277,
        "verbs": 3294,
        "adjectives": 7263,
        "spatial relations": 243,
    },
    "without text": {
        "words": 10711,
        "nouns": 7114,
        "verbs": 1933,
        "adjectives": 3508,
        "spatial relations": 127,
    },
}
"""Table 1, right half."""

OVERLAP_PERCENT: Mapping[Part, float] = {
    "words": 54.4,
    "nouns": 45.1,
    "adjectives": 31.6,
    "verbs": 42.8,
}
"""Table 5: with MSCOCO-Captions' training set."""

HUMAN: Mapping[str, float] = {
    "BLEU-1": 60.3,
    "BLEU-2": 40.7,
    "BLEU-3": 27.7,
    "BLEU-4": 18.8,
    "METEOR": 22.0,
    "ROUGE-L": 43.4,
    "CIDEr-D": 83.5,
    "SPICE": 17.5,
}
"""Table 7 of the supplement, easy images; METEOR with synonyms and paraphrases."""

TEXT_PERCENT = 63.0
"""Section 3.2: images that show text, by majority."""

PEOPLE_PERCENT = 27.6
"""Section 0.C.2: images captioned with a word for people."""
