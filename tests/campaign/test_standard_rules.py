"""What a new campaign's policy names."""

from dataclasses import replace
from pathlib import Path

from piecework.campaign.assembling import load_campaign
from piecework.campaign.deriving import standard_rules
from piecework.domain.field import MERGED, Field, Regions
from piecework.domain.task import Task
from piecework.hit_templates.answers import value_problems
from piecework.hit_templates.tasks import load_task, task_names
from piecework.qc.heuristics import rule_violation
from piecework.qc.registry import is_on
from piecework.qc.silence import silences
from tests.for_each import for_each
from tests.qc.rated import boxes, choice, choices, ratings, scale, task_of
from tests.qc.tables import flagged, row, table


def named(task: Task) -> set[str]:
    """Heuristics that the rules of a new campaign name."""
    return {name for rule in standard_rules(task, ()) for name in rule.any_of}


def test_words_about_quality_count_in_caption_tasks_alone() -> None:
    """Elsewhere they may be the answer; a rule never names what is off."""
    for name in ("caption", "hodosh_caption"):
        task = load_task(name)
        assert is_on("quality_words", task.heuristics)
        assert "quality_words" in named(task)
    own = replace(load_task("caption"), heuristics={})
    assert not is_on("quality_words", own.heuristics)
    assert "quality_words" not in named(own)
    assert "capitals" in named(own)


PATTERNS = {"straight_line", "low_scale_variance", "low_agreement"}
GRADES = choice("f", "1", "2", "3")
MARKS = {part: replace(boxes("f"), regions=part) for part in (*MERGED.values(), "lines")}
ANSWERS: dict[str, tuple[Field, object]] = {
    "choice": (choice("f", "yes", "no"), "yes"),
    "ticks": (choices("f", "a", "b"), ("a", "b")),
    "grades": (GRADES, "2"),
    "shuffled grades": (replace(GRADES, shuffled=True), "2"),
    "number": (scale("f"), 40.0),
    "text": (replace(boxes("f"), regions=""), "A dog"),
    "transcript": (replace(boxes("f"), regions="", is_transcript=True), "a dog"),
    **{part: (field, f'{{"{part}": []}}') for part, field in MARKS.items()},
}


@for_each("kind", ANSWERS)
def test_rules_name_the_heuristics_about_patterns_that_read_the_field(kind: str) -> None:
    """Who can say something about answers of this kind is named, and nobody else."""
    field, answer = ANSWERS[kind]
    task = task_of(field)
    rated = ratings(task, [(worker, f"i{n}", answer) for worker in "abc" for n in range(20)])
    assert named(task) & PATTERNS == PATTERNS - silences(rated, {}).keys()


@for_each("part", MERGED.values())
def test_marks_that_cannot_be_read_are_set_aside(part: Regions) -> None:
    """Agreement counts them for nobody, so the rules have to name what finds them."""
    task = task_of(MARKS[part])
    rules = standard_rules(task, ())
    assert "rule_violation" in next(rule for rule in rules if rule.then == "drop").any_of
    faults = value_problems(MARKS[part], "[", {})
    answers = table(row("a", problems=tuple(faults)), row("b"))
    assert flagged(rule_violation.score(answers, rule_violation.Params())) == {"a"}


@for_each("name", task_names())
def test_no_rule_of_a_new_campaign_refuses_pay(name: str) -> None:
    """Dropped answers are paid, so a flag such as `not_typed` does not reduce pay."""
    for rule in standard_rules(load_task(name), ()):
        assert rule.then in {"drop", "exclude"}


def test_repeated_sentences_are_set_aside_where_the_question_asks_for_sentences(
    tmp_path: Path,
) -> None:
    """That of `describe` itself does; one's own may ask for a word."""
    rows = "".join(f"s{number},dish {number}\n" for number in range(24))
    (tmp_path / "items.csv").write_text("item_id,text\n" + rows)
    path = tmp_path / "food.toml"
    lines = 'task = "describe"\nitems = "items.csv"\nhourly_wage = "12.00"\n'
    path.write_text(lines)
    usual = {name for rule in load_campaign(path).policy for name in rule.any_of}
    assert "same_sentence" in usual
    path.write_text(f'{lines}question = "Which colour is it?"\n')
    own = {name for rule in load_campaign(path).policy for name in rule.any_of}
    assert own == {"rule_violation"}
