"""Write `docs/internals/measurements/reproduced-figures.md` from commands on real files.

`python -m tools.reproduced_figures FOLDER` runs each command of the page on the files
of FOLDER, which are not part of this repository, and writes the published figure, the
command's, and why they differ. A test compares the page if the files are present.
"""

import csv
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from piecework.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/internals/measurements/reproduced-figures.md"
COLUMNS = ROOT / "config" / "columns"

_COCO = "coco_val_captions_half.csv"
_ERRORS = "error_analysis_2017/annotations_emiel"

COMMANDS: Mapping[str, str] = {
    "captions": f"data describe vizwiz_val_captions_half.csv --against {_COCO}",
    "votes": "data describe vizwiz_quality_train.json",
    "judgements": "data analyse flickr8k/CrowdFlowerAnnotations.txt "
    "--columns caption_judgements.toml",
    "congruency": f"data analyse {_ERRORS}/congruency_data_final.json --columns congruency.toml",
    "categories": f"data analyse {_ERRORS}/incongruent_final.json --columns error_categories.toml",
    "entailment": "data analyse snow_rte.csv --columns snow_rte.toml",
    "ratings": "data analyse multimodal_caption_eval.csv --columns caption_ratings.toml "
    "--condition choice --unit image_id",
    "side by side": "data analyse iiw_side_by_side_gpt4v.jsonl --columns side_by_side.toml",
}

_HALF = "a tenth of the images"
_TRAIN = "60 % of the images"
_COCO_HALF = "3 % of MSCOCO's captions"
_TAGGER = "probably another tagger: the paper names none"
_METEOR = "two of METEOR's four matchers: no synonyms, no paraphrases"
_DRAW = f"{_HALF}, and other captions drawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One published figure.

    Attributes:
        source: where it was published, and what it is about.
        published: as printed there.
        command: the key of the command that computes it.
        value: finds it in the command's JSON, in the same form.
        because: why the two differ, if they do.
    """

    source: str
    published: str
    command: str
    value: Callable[[Any], str]
    because: str = ""


def rows() -> list[Row]:
    """Return every published figure that a command computes on the files."""
    return [
        *_difficulty("captions", _HALF),
        *_difficulty("votes", _TRAIN),
        Row(
            source="VizWiz-Captions, images of the training split",
            published="23,431",
            command="votes",
            value=lambda figures: f"{figures['images']:,}",
        ),
        *_composition(),
        *_words(),
        *_people(),
        *_others(),
    ]


def page(folder: Path) -> str:
    """Return the page, computed on the files of a folder."""
    figures = {name: _run(command, folder) for name, command in COMMANDS.items()}
    lines = []
    agreeing = 0
    for row in rows():
        ours = row.value(figures[row.command])
        agrees = ours == row.published
        agreeing += agrees
        because = "" if agrees else row.because
        lines.append(f"| {row.source} | {row.published} | {ours} | {row.command} | {because} |")
    head = PAGE.read_text(encoding="utf-8").partition("<!-- figures -->")[0]
    commands = [f"| {name} | `piecework {command} --json` |" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            f"{head}<!-- figures -->",
            "",
            f"Of {len(lines)} published figures, {agreeing} come out as printed.",
            "",
            "| figure | theirs | ours | command | why they differ |",
            "|---|---:|---:|---|---|",
            *lines,
            "",
            "## Commands",
            "",
            "| name | command |",
            "|---|---|",
            *commands,
            "",
        ]
    )


def _difficulty(command: str, because: str) -> list[Row]:
    name = "VizWiz-Captions, section 3.2"
    published = ("68.5", "16.7", "5.9", "3.6", "3.1", "2.2")

    def level(canned: int) -> Callable[[Any], str]:
        return lambda figures: _percent(
            figures["images_by_canned_answers"][canned], sum(figures["images_by_canned_answers"])
        )

    by_level = "images_by_difficulty"
    return [
        *(
            Row(
                source=f"{name}: images by canned answers, {canned} of 5, %",
                published=percent,
                command=command,
                value=level(canned),
                because=because,
            )
            for canned, percent in enumerate(published)
        ),
        Row(
            source=f"{name}: insufficient quality for a minority, %",
            published="22.6",
            command=command,
            value=lambda figures: _percent(
                figures[by_level]["medium"], sum(figures[by_level].values())
            ),
            because=because,
        ),
        Row(
            source=f"{name}: insufficient quality for the majority, %",
            published="9",
            command=command,
            value=lambda figures: _percent(
                figures[by_level]["difficult"] + figures[by_level]["unrecognizable"],
                sum(figures[by_level].values()),
                decimals=0,
            ),
            because=because,
        ),
    ]


def _composition() -> list[Row]:
    """Table 1, in the way that the paper probably counted."""
    here = {
        "words and punctuation": ("words", "13.0", ""),
        "nouns": ("nouns", "4.4", ""),
        "verbs": ("verbs", "0.9", _TAGGER),
        "adjectives": ("adjectives", "1.4", ""),
        "prepositions": ("spatial relations", "1.9", ""),
    }
    there = {
        "words and punctuation": ("words", "11.3", ""),
        "nouns": ("nouns", "3.7", ""),
        "verbs": ("verbs", "1.0", _TAGGER),
        "adjectives": ("adjectives", "0.9", _TAGGER),
        "prepositions": ("spatial relations", "1.7", ""),
    }

    def mean_here(part: str) -> Callable[[Any], str]:
        return lambda figures: _one_decimal(figures["composition"]["all"]["per_caption"][part])

    def mean_there(part: str) -> Callable[[Any], str]:
        return lambda figures: _one_decimal(figures["against"]["composition"]["per_caption"][part])

    return [
        *(
            Row(
                source=f"VizWiz-Captions, Table 1: {_named(name, part)} in a caption",
                published=published,
                command="captions",
                value=mean_here(part),
                because=because,
            )
            for part, (name, published, because) in here.items()
        ),
        *(
            Row(
                source=f"VizWiz-Captions, Table 1: {_named(name, part)} in MSCOCO",
                published=published,
                command="captions",
                value=mean_there(part),
                because=because,
            )
            for part, (name, published, because) in there.items()
        ),
        Row(
            source="VizWiz-Captions, Table 1: different words",
            published="24,422",
            command="captions",
            value=lambda figures: f"{figures['composition']['all']['unique']['words']:,}",
            because=f"{_HALF}, and the number grows with the captions",
        ),
    ]


def _named(name: str, part: str) -> str:
    """Return the paper's name of a part, and what is counted for it."""
    return name if name == part else f"{name}, counted as {part},"


def _words() -> list[Row]:
    name = "VizWiz-Captions, Table 5"
    shared = {"words": "54.4", "nouns": "45.1", "adjectives": "31.6", "verbs": "42.8"}
    popular = ("table", "person", "box", "food", "monitor")
    novel = ("expiration", "captcha", "thermostat", "password", "currency")

    def overlap(part: str) -> Callable[[Any], str]:
        return lambda figures: f"{100 * figures['overlap'][part]['share']:.1f}"

    return [
        *(
            Row(
                source=f"{name}: common {part} shared with MSCOCO, %",
                published=percent,
                command="captions",
                value=overlap(part),
                because=f"{_HALF}, and {_COCO_HALF}",
            )
            for part, percent in shared.items()
        ),
        Row(
            source=f"VizWiz-Captions, Figure 9: {', '.join(popular)} among the 100 "
            "most common nouns",
            published="5",
            command="captions",
            value=lambda figures: str(
                sum(noun in figures["top_words"]["nouns"] for noun in popular)
            ),
            because=_HALF,
        ),
        Row(
            source=f"VizWiz-Captions, Figure 9: {', '.join(novel)} among the 100 most "
            "common nouns that MSCOCO lacks",
            published="5",
            command="captions",
            value=lambda figures: str(
                sum(noun in figures["against"]["novel_words"]["nouns"] for noun in novel)
            ),
            because=f"{_HALF}, and {_COCO_HALF}",
        ),
        Row(
            source="VizWiz-Captions, 0.A.2: captions with unknown tokens, %",
            published="14",
            command="captions",
            value=lambda figures: _percent(
                figures["unknown_words"]["dictionary"]["captions"],
                figures["unknown_words"]["dictionary"]["of_captions"],
                decimals=0,
            ),
            because="another word list, and the file has the corrected captions",
        ),
        Row(
            source="VizWiz-Captions, Figure 5: captions less alike than MSCOCO's",
            published="yes",
            command="captions",
            value=lambda figures: (
                "yes"
                if figures["specificity"]["mean"] < figures["against"]["specificity"]["mean"]
                else "no"
            ),
            because="another similarity of words",
        ),
    ]


def _people() -> list[Row]:
    name = "VizWiz-Captions, Table 7"
    published = {
        "BLEU-1": "60.3",
        "BLEU-2": "40.7",
        "BLEU-3": "27.7",
        "BLEU-4": "18.8",
        "METEOR, exact and stem": "22.0",
        "ROUGE-L": "43.4",
        "CIDEr-D": "83.5",
    }
    reasons = {
        "METEOR, exact and stem": f"{_METEOR}; {_DRAW}",
        "CIDEr-D": "[not explained](captions.md)",
    }

    def score(metric: str) -> Callable[[Any], str]:
        return lambda figures: _one_decimal(figures["human_performance"]["scores"][metric])

    return [
        Row(
            source="VizWiz-Captions, 0.C.2: images with a word for people, also in words, %",
            published="27.6",
            command="captions",
            value=lambda figures: _percent(
                figures["images_with_people_in_words"], figures["images"]
            ),
            because=_HALF,
        ),
        *(
            Row(
                source=f"{name}: people's captions, {metric.partition(',')[0]}",
                published=value,
                command="captions",
                value=score(metric),
                because=reasons.get(metric, _DRAW),
            )
            for metric, value in published.items()
        ),
    ]


def _others() -> list[Row]:
    return [
        Row(
            source="Hodosh et al. 2013: pairs judged three times",
            published="46,780",
            command="judgements",
            value=lambda figures: f"{figures['agreement'][0]['items_of_equal']:,}",
        ),
        Row(
            source="Hodosh et al. 2013: Fleiss' kappa of these",
            published="0.515",
            command="judgements",
            value=lambda figures: f"{figures['agreement'][0]['kappa_of_equal']:.3f}",
        ),
        Row(
            source="Hodosh et al. 2013: unanimous pairs, %",
            published="90.5",
            command="judgements",
            value=lambda figures: _one_decimal(100 * figures["agreement"][0]["unanimous"]),
        ),
        Row(
            source="Hodosh et al. 2013: share of yes",
            published="0.0688",
            command="judgements",
            value=lambda figures: f"{_of(figures, 'yes')['share']:.4f}",
        ),
        Row(
            source="van Miltenburg and Elliott 2017: congruent captions",
            published="202",
            command="congruency",
            value=lambda figures: f"{_of(figures, 'congruent')['answers']:.0f}",
        ),
        Row(
            source="van Miltenburg and Elliott 2017: generally unrelated",
            published="264",
            command="categories",
            value=lambda figures: f"{_of(figures, 'generally unrelated')['answers']:.0f}",
        ),
        Row(
            source="Snow et al. 2008: majority right",
            published="0.8969",
            command="entailment",
            value=lambda figures: f"{_by(figures['labels'], 'method', 'majority')['right']:.4f}",
        ),
        *(
            Row(
                source=f"Multimodal caption evaluation: visual fit, {name}",
                published=published,
                command="ratings",
                value=_mean_of(condition),
            )
            for name, condition, published in (
                ("human", "gt", "4.51"),
                ("first generated", "ours", "3.49"),
                ("second generated", "zerocap_fixed", "1.97"),
            )
        ),
        Row(
            source="ImageInWords 2024: specificity better, neutral, worse",
            published="69 / 15 / 16",
            command="side by side",
            value=_specificity,
        ),
        Row(
            source="ImageInWords 2024: better less worse over criteria, %",
            published="+48",
            command="side by side",
            value=lambda figures: f"{100 * _net(figures):+.0f}",
        ),
    ]


def _mean_of(condition: str) -> Callable[[Any], str]:
    return lambda figures: f"{_by(figures['means_visual_fit'], 'condition', condition)['mean']:.2f}"


def _specificity(figures: Any) -> str:  # noqa: ANN401 - a JSON document
    row = _by(figures["preferences"], "criterion", "specificity")
    return f"{row['better']:.0f} / {row['neutral']:.0f} / {row['worse']:.0f}"


def _net(figures: Any) -> float:  # noqa: ANN401 - a JSON document
    nets = [float(row["net"]) for row in figures["preferences"]]
    return sum(nets) / len(nets)


def _of(figures: Any, category: str) -> Any:  # noqa: ANN401 - a JSON document
    return _by(figures["categories"], "category", category)


def _by(entries: Any, name: str, value: str) -> Any:  # noqa: ANN401 - a JSON document
    return next(entry for entry in entries if entry[name] == value)


def _percent(part: float, whole: float, *, decimals: int = 1) -> str:
    return f"{100 * part / whole:.{decimals}f}"


def _one_decimal(value: float) -> str:
    return f"{value:.1f}"


def _run(command: str, folder: Path) -> Any:  # noqa: ANN401 - a JSON document
    """Run a command on the files of a folder, and return its JSON document."""
    with tempfile.TemporaryDirectory() as made:
        places = {_COCO: Path(made) / _COCO}
        if _COCO in command:
            _write_coco(folder, places[_COCO])
        words = []
        for word in command.split():
            if word.endswith(".toml"):
                words.append(str(COLUMNS / word))
            elif word in places:
                words.append(str(places[word]))
            elif "." in word:
                words.append(str(folder / word))
            else:
                words.append(word)
        result = CliRunner().invoke(main, [*words, "--json"], catch_exceptions=False)
    if result.exit_code:
        raise RuntimeError(f"piecework {command}: {result.output}")
    return json.loads(result.stdout)


def _write_coco(folder: Path, path: Path) -> None:
    """Write MSCOCO's captions, which the files hold among others, as a table."""
    corpus = folder / "spelling" / "input_corpus.jsonl"
    captions = map(json.loads, corpus.read_text(encoding="utf-8").splitlines())
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["image_id", "caption"])
        table.writerows(
            (caption["image"], caption["text"])
            for caption in captions
            if caption["corpus"] == "coco"
        )


if __name__ == "__main__":
    PAGE.write_text(page(Path(sys.argv[1])), encoding="utf-8")
