"""A correction is questioned where it goes beyond the kind of error."""

import pytest

from piecework.hit_templates.rules import check
from piecework.hit_templates.tasks import load_task
from tests.for_each import for_each

TASK = load_task("correction")
MAN = "A man in a blue shirt."


def broken(error: str, after: str, *, outcome: str = "corrected") -> list[str]:
    """Names of the rules that an edit of the man's description breaks."""
    broken_rules = check(
        TASK,
        {"outcome": outcome, "correction": after},
        columns={"description": MAN, "error": error},
    )
    return [rule.name for rule in broken_rules]


@for_each(
    ("error", "after", "names"),
    [
        ("color_of_clothing", "A man in a red shirt.", []),
        ("color_of_clothing", "a man, in an ORANGE shirt", []),  # signs and case
        ("color_of_clothing", "A man in a red coat.", ["correction_only_colors"]),
        ("color_of_clothing", "A man in a shirt.", ["correction_only_colors"]),
        ("gender", "A woman in a blue shirt.", []),
        # A man who becomes a girl changes his age, too: the source's own example.
        ("gender", "A girl in a blue shirt.", ["correction_only_gender"]),
        ("age", "A boy in a blue shirt.", []),
        ("age", "A woman in a blue shirt.", ["correction_only_age"]),
        ("number", "Two men in blue shirts.", []),  # 4 words
        (
            "number",
            "Two very old and tired men in a blue shirt.",  # 6 words for 2
            ["correction_small"],
        ),
        ("number", MAN, ["correction_as_said"]),
        ("number", "", ["correction_required"]),
    ],
)
def test_what_goes_beyond_the_kind_is_questioned(error: str, after: str, names: list[str]) -> None:
    """Colors for colors, man for woman; elsewhere a few words."""
    assert broken(error, after) == names


@pytest.mark.parametrize("outcome", ["would_rewrite", "no_such_error"])
def test_who_leaves_it_leaves_it(outcome: str) -> None:
    """The text is as it was, or what was said is not true."""
    assert broken("color", MAN, outcome=outcome) == []
    assert broken("color", "A man in a red shirt.", outcome=outcome) == ["correction_as_said"]


def test_questions_let_the_answer_pass_and_the_rest_does_not() -> None:
    """Only what the page cannot know is a question."""
    questions = {rule.name for rule in TASK.rules if rule.is_question}
    assert questions == {
        "correction_small",
        "correction_only_colors",
        "correction_only_gender",
        "correction_only_age",
    }
