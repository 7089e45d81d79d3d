"""Compare published figures with those that our methods find in the same data.

`python -m tests.analyses.published` rewrites the tables of the page, and a test
compares them. "Published" is what the source prints, never our result.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from piecework.analyses.agreement import (
    category_agreement,
    fleiss_kappa_of_counts,
    krippendorff_alpha,
)
from piecework.analyses.answers_needed import weighed
from piecework.analyses.condition_scores import mean_ratings
from piecework.analyses.dawid_skene import dawid_skene
from piecework.analyses.labels_from_votes import ability
from piecework.analyses.minimal_pairs import corpus_bleu, correction_gains, merged_edits
from piecework.analyses.page_effects import position_effect
from piecework.analyses.paired_comparisons import preferences
from piecework.analyses.votes import accuracy, majority
from piecework.analyses.within_subject import equivalence_tests, paired_t_tests, repeated_measures
from piecework.domain.campaign import AsNeeded

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs/internals/measurements/published-figures.md"
METHODS = ROOT / "docs/internals/methods.md"

Row = tuple[str, str, str]
"""What, published, recomputed."""

GRADES = {
    "IIW-Human is substantially better": 2,
    "IIW-Human is marginally better": 1,
    "Neutral": 0,
    "GPT-4V is marginally better": -1,
    "GPT-4V is substantially better": -2,
}

CORRECTED = {
    "activity": "activity",
    "color of clothing": "color-of-clothing",
    "gender": "gender",
    "scene/event/location": "scene-event-location",
    "type of clothing": "type-of-clothing",
}

MATCHES = {
    "nothing": (7187, 2964, 1176, 493),
    "activity": (7305, 3073, 1231, 526),
    "color of clothing": (7262, 3059, 1275, 552),
    "gender": (7261, 3053, 1247, 534),
    "scene/event/location": (7206, 2991, 1198, 503),
    "type of clothing": (7216, 2988, 1195, 511),
}
"""Matching n-grams as the authors' `metrics/*.metrics` print them ("correct")."""

BLEU_4 = {
    "nothing": 0.1775219662391833,
    "activity": 0.18544834187860113,
    "color of clothing": 0.18799690332936977,
    "gender": 0.18558039476211058,
    "scene/event/location": 0.18049151860104568,
    "type of clothing": 0.18081478108702936,
}
"""BLEU-4 from the same files."""

PEOPLE = 61
DRAWS = 5


def flickr8k() -> pd.DataFrame:
    """Counts of `yes` and `no`, a row a pair of image and caption."""
    return pd.read_csv(
        DATA / "flickr8k/CrowdFlowerAnnotations.txt",
        sep="\t",
        names=["image", "caption", "share", "yes", "no"],
    )


def flickr8k_rows() -> Iterator[Row]:
    """The crowd-sourced judgements of Hodosh et al. 2013."""
    counts = flickr8k()[["yes", "no"]]
    judged = counts.sum(axis=1)
    three = counts[judged == 3]
    kappa = fleiss_kappa_of_counts(three)
    yield "pairs judged three times", "46,780", f"{len(three):,}"
    yield "Fleiss' kappa of these", "0.515", f"{kappa:.3f}"
    yield "Fleiss' kappa of all 47,830", "-", f"{fleiss_kappa_of_counts(counts):.3f}"
    yield "share of yes", "0.0688", f"{counts['yes'].sum() / judged.sum():.4f}"
    unanimous = (counts == 0).any(axis=1)
    yield "unanimous pairs", "90.5 %", f"{100 * unanimous.mean():.1f} %"
    more = unanimous[judged > 3]
    share = f"{100 * more.mean():.0f} % of {len(more):,}"
    yield "unanimous pairs of those judged more often", "-", share


def errors_2017() -> tuple[pd.Series, pd.DataFrame]:
    """Congruency by caption, and the categories ticked for the incongruent ones."""
    folder = DATA / "error_analysis_2017/annotations_emiel"
    congruency = pd.Series(json.loads((folder / "congruency_data_final.json").read_text()))
    ticked = json.loads((folder / "incongruent_final.json").read_text())
    ticks = pd.DataFrame(
        [(item, "first author", tuple(names)) for item, names in ticked.items()],
        columns=["item_id", "worker", "value"],
    )
    return congruency, ticks


def categories() -> pd.DataFrame:
    """How often each category of error was ticked, the most frequent first."""
    _, ticks = errors_2017()
    names = sorted({name for ticked in ticks["value"] for name in ticked})
    table = category_agreement(ticks, names)
    return table.sort_values("answers", ascending=False, kind="stable")


def captions(path: str) -> "pd.Series[str]":
    """The first 1,014 lines of a file of captions."""
    text = (DATA / "error_analysis_2017" / path).read_text(encoding="utf-8")
    return pd.Series(text.split("\n")[:1014], dtype="str")


def versions() -> tuple["pd.Series[str]", dict[str, "pd.Series[str]"], pd.DataFrame]:
    """Generated captions, the hand-corrected versions, and five references."""
    references = {f"r{n}": captions(f"flickr30k_dev/reference{n}") for n in range(5)}
    return (
        captions("satyrid/19-sept-2016-error-analysis.dev.txt"),
        {name: captions(f"fixed/{at}_fixed.txt") for name, at in CORRECTED.items()},
        pd.DataFrame(references),
    )


def errors_rows() -> Iterator[Row]:
    """Van Miltenburg and Elliott 2017 (arXiv 1704.04198), and their repository."""
    congruency, _ = errors_2017()
    table = categories()
    yield "congruent captions of 1,014", "202", f"{(congruency == 'congruent').sum()}"
    yield "generally unrelated", "264", f"{table['answers']['generally unrelated']}"
    original, corrected, references = versions()
    before = corpus_bleu(original, references)
    yield (
        "BLEU-4 of the generated captions",
        f"{100 * BLEU_4['nothing']:.2f}",
        f"{100 * before.scores[3]:.2f}",
    )
    gains = correction_gains(original, corrected, references)
    for kind, row in gains.iterrows():
        published = 100 * (BLEU_4[str(kind)] - BLEU_4["nothing"])
        yield (
            f"gain of correcting {kind}",
            f"{published:+.2f}",
            f"{100 * row['gain_4']:+.2f} ({row['changed']:.0f} captions changed)",
        )
    together = _all_corrected(original, corrected)
    after = corpus_bleu(together, references)
    changed = int((together != original).sum())
    gain = f"{100 * (after.scores[3] - before.scores[3]):+.2f}"
    what = "gain of correcting these five together"
    yield what, "-", f"{gain} ({changed} captions changed)"
    first = gains.sort_values("gain_1", ascending=False).index[0]
    yield "helps most by BLEU-4", "color of clothing", str(gains.index[0])
    yield "helps most by BLEU-1", "activity", str(first)


def _all_corrected(
    original: "pd.Series[str]", corrected: Mapping[str, "pd.Series[str]"]
) -> "pd.Series[str]":
    """Each caption with the corrections of all kinds."""
    versions_of = zip(*corrected.values(), strict=True)
    return pd.Series(
        [
            " ".join(merged_edits(words.split(), [text.split() for text in texts]).words)
            for words, texts in zip(original, versions_of, strict=True)
        ],
        index=original.index,
    )


def rte() -> tuple[pd.DataFrame, pd.Series]:
    """Votes on textual entailment, and gold."""
    votes = pd.read_csv(DATA / "snow_rte.csv").rename(
        columns={"orig_id": "item_id", "!amt_worker_ids": "worker", "response": "value"}
    )
    return votes, votes.groupby("item_id")["gold"].first()


def rte_rows() -> Iterator[Row]:
    """Snow et al. 2008 (doi:10.3115/1613715.1613751)."""
    votes, gold = rte()
    plain, fit = majority(votes), dawid_skene(votes)
    ties = int(plain["value"].isna().sum())
    yield "majority, a tie is half right", "0.8969", f"{accuracy(plain, gold):.4f}"
    yield "items without a majority", "-", f"{ties} of {len(plain)}"
    yield "Dawid-Skene", "-", f"{accuracy(fit.labels, gold):.4f}"
    for most in (3, 5, 7):
        drawn = [fewer(votes, most, seed) for seed in range(DRAWS)]
        plain_mean = np.mean([accuracy(majority(few), gold) for few in drawn])
        fit_mean = np.mean([accuracy(dawid_skene(few).labels, gold) for few in drawn])
        able_mean = np.mean([accuracy(_believed(few), gold) for few in drawn])
        all_three = f"{plain_mean:.3f}, {fit_mean:.3f}, {able_mean:.3f}"
        yield f"{most} votes an item: majority, Dawid-Skene, ability", "-", all_three
    for most in (10, 5, 3):
        labels = _believed(fewer(votes, most, 0))
        sure, right = labels["probability"].mean(), accuracy(labels, gold)
        what = f"ability, {most} votes an item: right, and its mean probability"
        yield what, "-", f"{right:.3f}, {sure:.3f}"


def _believed(votes: pd.DataFrame) -> pd.DataFrame:
    return ability(votes, values=(0, 1)).labels


def replay_rows() -> Iterator[tuple[str, ...]]:
    """Compare votes requested until a label is certain with fixed numbers of votes."""
    for name, votes, truth in (
        ("entailments, labels by experts", *rte()),
        ("image and caption, all votes as the truth", *_as_all(fits()[0])),
        ("can the image be recognised, all five votes as the truth", *_as_all(recognised()[0])),
    ):
        most_there = int(votes.groupby("item_id").size().median())
        fixed: dict[int, float] = {}
        for least, most, until in ((3, 7, 0.9), (3, 7, 0.95), (2, most_there, 0.95)):
            upto = min(most, most_there)
            if least >= upto:
                continue
            for each in {*range(2, upto + 1)} - fixed.keys():
                fixed[each] = _right_of_fixed(votes, truth, each)
            rule = AsNeeded(most=upto, until=until)
            runs = [asked_until(votes, truth, least, rule, seed) for seed in range(DRAWS)]
            asked, right = np.mean(runs, axis=0)
            equal = as_right_as(fixed, right)
            yield (
                f"{name}: {least} to {upto}, until {until}",
                f"{asked:.2f}",
                f"{right:.4f}",
                f"{fixed[upto]:.4f} with {upto}",
                f"{equal:.1f}" if equal else f"more than {upto}",
                f"{1 - asked / (equal or upto):.0%}",
            )


def _as_all(votes: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Return votes and the labels that all of them give, where the truth is unknown."""
    return votes, _believed(votes)["value"].dropna()


def sure_rows() -> Iterator[tuple[str, ...]]:
    """How true the probabilities of `ability` are, where experts say what is right."""
    votes, gold = rte()
    for who, some in (("named", votes), ("unnamed", votes.assign(worker=None))):
        for most in (3, 5, 7):
            drawn = [fewer(some, most, seed) for seed in range(DRAWS)]
            estimates = [ability(few, values=(0, 1)) for few in drawn]
            rows = [_truth_of(estimate.probabilities[1], gold) for estimate in estimates]
            means = np.mean(rows, axis=0)
            yield (f"{most} votes, {who}", *(f"{mean:.3f}" for mean in means))


def _truth_of(yes: "pd.Series[float]", gold: pd.Series) -> tuple[float, ...]:
    """Shares of right labels, mean probability, Brier, log loss, ECE in tenths."""
    truth = gold.reindex(yes.index)
    sure = yes.where(yes > 0.5, 1 - yes)
    right = ((yes > 0.5) == (truth == 1)).astype("float64").where(yes != 0.5, 0.5)
    tenths = pd.DataFrame({"sure": sure, "right": right}).groupby(np.ceil(sure * 10))
    off = (tenths["sure"].mean() - tenths["right"].mean()).abs()
    ece = (off * tenths.size()).sum() / len(sure)
    log_loss = -np.log(yes.where(truth == 1, 1 - yes)).mean()
    return right.mean(), sure.mean(), ((yes - truth) ** 2).mean(), log_loss, ece


def rare_rows() -> Iterator[tuple[str, ...]]:
    """What `ability` says of a rare value, by how many unnamed workers gave it."""
    for name, each, (votes, _) in (
        ("can the image not be recognised", 5, recognised()),
        ("is the caption about the image", 3, fits()),
    ):
        tallies = votes.groupby("item_id")["value"].agg(["sum", "size"])
        probability = ability(votes, values=(0, 1)).probabilities[1]
        means = probability.groupby([tallies["size"], tallies["sum"]]).mean()
        yield name, " / ".join(f"{means[each, yes]:.2f}" for yes in range(each + 1))


def as_right_as(fixed: Mapping[int, float], right: float) -> float:
    """The fixed number of votes that is as often right, between whole numbers too.

    0 if even the largest is not.
    """
    numbers = sorted(fixed)
    for few, more in pairwise(numbers):
        if fixed[few] >= right:
            return float(few)
        if fixed[more] >= right:
            return few + (right - fixed[few]) / (fixed[more] - fixed[few])
    return 0.0


def _right_of_fixed(votes: pd.DataFrame, truth: pd.Series, each: int) -> float:
    drawn = [fewer(votes, each, seed) for seed in range(DRAWS)]
    return float(np.mean([accuracy(_believed(few), truth) for few in drawn]))


def asked_until(
    votes: pd.DataFrame, truth: pd.Series, least: int, rule: AsNeeded, seed: int
) -> tuple[float, float]:
    """Mean votes an item, and share of right labels, decided as the engine decides.

    An item that is sure is not asked again, whatever is learnt of workers later.
    """
    drawn = votes.sample(frac=1, random_state=seed)
    place = drawn.groupby("item_id").cumcount()
    there = drawn.groupby("item_id").size()
    wanted = there.clip(upper=least)
    due = wanted.index
    while True:
        asked = drawn[place < drawn["item_id"].map(wanted)]
        answers = wanted.loc[due]
        votes_wanted = weighed([(asked, (0, 1))], answers, rule)["wanted"]
        wanted.loc[due] = np.minimum(votes_wanted, there.loc[due])
        due = answers.index[wanted.loc[due] > answers]
        if due.empty:
            return len(asked) / len(wanted), accuracy(_believed(asked), truth)


def fits() -> tuple[pd.DataFrame, pd.Series]:
    """Whether a caption is about an image, and what most of all who were asked say."""
    counts = flickr8k().reset_index(drop=True)
    return _ballots(counts["yes"], counts["no"])


def recognised() -> tuple[pd.DataFrame, pd.Series]:
    """Whether an image cannot be recognised, and what most of five say."""
    images = json.loads((DATA / "vizwiz_quality_train.json").read_text())
    yes = pd.Series([image["unrecognizable"] for image in images])
    return _ballots(yes, 5 - yes)


def _ballots(yes: pd.Series, no: pd.Series) -> tuple[pd.DataFrame, pd.Series]:
    """Votes of unnamed workers from counts; the majority, where there is one."""
    items = np.repeat(yes.index.astype(str), yes + no)
    values = np.concatenate([[1] * y + [0] * n for y, n in zip(yes, no, strict=True)])
    votes = pd.DataFrame({"item_id": items, "worker": None, "value": values})
    truth = (yes > no).astype(int).set_axis(yes.index.astype(str))
    return votes, truth[(yes != no).to_numpy()]


def fewer(votes: pd.DataFrame, most: int, seed: int) -> pd.DataFrame:
    """Draw at most this many votes of each item at random."""
    return votes.sample(frac=1, random_state=seed).groupby("item_id").head(most)


def ratings() -> pd.DataFrame:
    """Three captions an image on one page, three workers: a row a rating."""
    pages = pd.read_csv(DATA / "multimodal_caption_eval.csv", encoding="utf-8-sig")
    rows = [
        {
            "item_id": str(page["image_id"]),
            "worker": str(number),
            "condition": page[f"choice{place}"],
            "position": place,
            "scale": scale,
            "value": page[f"Answer.{scale}{place}"],
        }
        for number, page in enumerate(pages.to_dict("records"))
        for place in range(3)
        for scale in "vif"
    ]
    return pd.DataFrame(rows)


def fit_rows() -> Iterator[Row]:
    """Visual fit, on a scale from 1 to 5."""
    fit = ratings().query("scale == 'v'")
    means = mean_ratings(fit)
    published = {"gt": "4.51", "ours": "3.49", "zerocap_fixed": "1.97"}
    named = {"gt": "human", "ours": "first generated", "zerocap_fixed": "second generated"}
    for condition, row in means.iterrows():
        yield (
            f"visual fit, {named[str(condition)]}",
            published[str(condition)],
            f"{row['mean']:.2f} ({row['low']:.2f} to {row['high']:.2f})",
        )
    both = fit.assign(item_id=fit["item_id"] + "/" + fit["condition"])
    alpha = krippendorff_alpha(both, level="ordinal", seed=1)
    span = f"{alpha.low:.2f} to {alpha.high:.2f}"
    yield "ordinal alpha of visual fit", "-", f"{alpha.alpha:.2f} ({span})"
    human = krippendorff_alpha(fit[fit["condition"] == "gt"], level="ordinal", seed=1)
    span = f"{human.low:.2f} to {human.high:.2f}"
    yield "the same, human captions only", "-", f"{human.alpha:.2f} ({span})"
    effect = position_effect(fit.assign(unit=fit["item_id"]), seed=1)
    first = fit.loc[fit["position"] == 0].drop_duplicates("item_id")["condition"]
    weakest = f"{(first == 'zerocap_fixed').sum()} of {len(first)}"
    yield "pages on which the second generated caption stands first", "-", weakest
    means_by_place = " / ".join(f"{mean:.2f}" for mean in effect.positions["mean"])
    beyond = " / ".join(f"{mean:+.2f}" for mean in effect.positions["beyond"])
    yield "mean by position on the page", "-", means_by_place
    yield ("the same, adjusted for the caption", "-", f"{beyond} (p = {effect.p_value:.2f})")
    tested = repeated_measures(fit.rename(columns={"item_id": "subject"}))
    degrees = f"{tested.df_corrected:.2f}, {tested.df_error_corrected:.1f}"
    yield "captions differ", "-", f"F({degrees}) = {tested.f:.1f}"
    eta = tested.eta_squared_generalised
    yield "generalised eta squared", "-", f"{eta:.2f}"


def side_by_side() -> pd.DataFrame:
    """Grades from 2 (the human text is much better) to -2, a row a judgement."""
    lines = (DATA / "iiw_side_by_side_gpt4v.jsonl").read_text(encoding="utf-8")
    rows = [
        (criterion.removeprefix("metrics/"), GRADES[grade])
        for line in lines.splitlines()
        for criterion, grade in json.loads(line)["iiw-human-sxs-gpt4v"].items()
    ]
    return pd.DataFrame(rows, columns=["criterion", "grade"])


def side_by_side_rows() -> Iterator[Row]:
    """ImageInWords (arXiv 2405.02793): human texts against GPT-4V's."""
    table = preferences(side_by_side())
    for criterion, row in table.iterrows():
        published = "69 / 15 / 16" if criterion == "Specificity" else "-"
        counts = f"{row['better']:.0f} / {row['neutral']:.0f} / {row['worse']:.0f}"
        p_value = f"{row['p_adjusted']:.2g}"
        yield (f"{criterion}: better, neutral, worse", published, f"{counts} (p {p_value})")
    mean = table["net"].mean()
    yield "better less worse, over criteria", "+48 %", f"{100 * mean:+.0f} %"


def severity_scores(*, difference: float, t: float) -> pd.DataFrame:
    """Sixty-one people whose two scores differ with this mean and this t."""
    noise = np.random.default_rng(1).normal(size=PEOPLE)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    gap = difference + noise * abs(difference / t) * PEOPLE**0.5
    rows = [(f"s{n}", "a", 40 + value) for n, value in enumerate(gap)]
    rows += [(f"s{n}", "b", 40.0) for n in range(PEOPLE)]
    return pd.DataFrame(rows, columns=["subject", "condition", "value"])


def severity_rows() -> Iterator[Row]:
    """Van Miltenburg et al. 2020 (INLG): what its figures say about each other."""
    epsilon = 139.5 / (3 * (PEOPLE - 1))
    yield "epsilon from 139.5 of 180 degrees of freedom", "-", f"{epsilon:.3f}"
    yield "so 3 degrees of freedom become", "2.33", f"{3 * epsilon:.3f}"
    p_value = stats.f.sf(13.827, 3 * epsilon, 139.5)
    yield "p of F(2.33, 139.5) = 13.827", "< 0.001", f"{p_value:.1e}"
    partial = 13.827 * 3 / (13.827 * 3 + 180)
    yield "eta squared", "0.05", f"{partial:.2f} if partial, so it is another kind"
    gender = severity_scores(difference=1.093, t=0.835)
    age = severity_scores(difference=-9.249, t=-4.49)
    p_value = paired_t_tests(gender)["p_value"].iloc[0]
    yield "gender: p of t(60) = 0.835", "0.407", f"{p_value:.3f}"
    p_value = paired_t_tests(age)["p_value"].iloc[0]
    yield "age: p of t(60) = -4.49", "< 0.001", f"{p_value:.1e}"
    for margin in (3, 5):
        same = equivalence_tests(gender, margin=margin)["p_value"].iloc[0]
        yield f"gender is the same within {margin} of 100", "-", f"p = {same:.3f}"


def table(rows: Iterable[Row]) -> str:
    """A Markdown table."""
    lines = ["| what | published | recomputed |", "|---|---|---|"]
    lines += [f"| {what} | {old} | {new} |" for what, old, new in rows]
    return "\n".join(lines)


def category_lines() -> str:
    """The table of categories, in Markdown."""
    lines = ["| category | captions | of 812 |", "|---|---|---|"]
    lines += [
        f"| {name} | {row['answers']:.0f} | {100 * row['share']:.1f} % |"
        for name, row in categories().iterrows()
    ]
    return "\n".join(lines)


@cache
def computed_rows() -> dict[str, list[Row]]:
    """Return all rows by the name of their table; computed once per process."""
    return {
        "flickr8k": list(flickr8k_rows()),
        "errors": list(errors_rows()),
        "rte": list(rte_rows()),
        "fit": list(fit_rows()),
        "side by side": list(side_by_side_rows()),
        "severity": list(severity_rows()),
    }


def with_blocks(page: str) -> str:
    """Return the page with its generated tables up to date, except the replay."""
    blocks = {name: table(rows) for name, rows in computed_rows().items()}
    return _written(page, {**blocks, "categories": category_lines()})


def with_replay(page: str) -> str:
    """Return the page with the tables of probabilities and replay; takes minutes."""
    rows = ["| " + " | ".join(row) + " |" for row in replay_rows()]
    head = (
        "| votes requested | mean an item | right | right with the maximum | "
        "equally right fixed number | saved |"
    )
    line = "|---|---:|---:|---|---:|---:|"
    sure = [
        "| votes an item | right | mean probability | Brier | log loss | ECE |",
        "|---|---:|---:|---:|---:|---:|",
        *("| " + " | ".join(row) + " |" for row in sure_rows()),
    ]
    rare = [
        "| asked | probability of yes if 0, 1, 2 ... workers say yes |",
        "|---|---|",
        *("| " + " | ".join(row) + " |" for row in rare_rows()),
    ]
    replay = "\n".join([head, line, *rows])
    tables = {"replay": replay, "sure": "\n".join(sure), "rare": "\n".join(rare)}
    return _written(page, tables)


def _written(page: str, blocks: Mapping[str, str]) -> str:
    for name, text in blocks.items():
        start, end = f"<!-- {name} -->\n", "<!-- end -->"
        before, rest = page.split(start)
        _, after = rest.split(end, maxsplit=1)
        page = f"{before}{start}{text}\n{end}{after}"
    return page


if __name__ == "__main__":
    written = with_replay(with_blocks(PAGE.read_text(encoding="utf-8")))
    PAGE.write_text(written, encoding="utf-8")
