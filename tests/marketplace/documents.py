"""QuestionForms and AnswerKeys for tests, put together from parts."""

from collections.abc import Mapping, Sequence

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
FORM_2005 = f"{SCHEMAS}/2005-10-01/QuestionForm.xsd"
FORM_2017 = f"{SCHEMAS}/2017-11-06/QuestionForm.xsd"
KEY_NAMESPACE = f"{SCHEMAS}/2005-10-01/AnswerKey.xsd"

TEXT = "<FreeTextAnswer/>"


def form(*parts: str, namespace: str = FORM_2017) -> str:
    """A QuestionForm of these parts."""
    return f'<QuestionForm xmlns="{namespace}">{"".join(parts)}</QuestionForm>'


def question(
    key: str,
    answer: str = TEXT,
    *,
    required: bool = False,
    content: str = "<Text>What is it?</Text>",
) -> str:
    """A question."""
    return (
        f"<Question><QuestionIdentifier>{key}</QuestionIdentifier>"
        f"<IsRequired>{str(required).lower()}</IsRequired>"
        f"<QuestionContent>{content}</QuestionContent>"
        f"<AnswerSpecification>{answer}</AnswerSpecification></Question>"
    )


def choice(*keys: str, least: int = 1, most: int = 1, style: str = "", other: str = "") -> str:
    """A SelectionAnswer with these selections."""
    selections = "".join(
        f"<Selection><SelectionIdentifier>{key}</SelectionIdentifier>"
        f"<Text>{key.upper()}</Text></Selection>"
        for key in keys
    )
    styled = f"<StyleSuggestion>{style}</StyleSuggestion>" if style else ""
    return (
        f"<SelectionAnswer><MinSelectionCount>{least}</MinSelectionCount>"
        f"<MaxSelectionCount>{most}</MaxSelectionCount>{styled}"
        f"<Selections>{selections}{other}</Selections></SelectionAnswer>"
    )


def free_text(constraints: str = "", rest: str = "") -> str:
    """A FreeTextAnswer with these constraints."""
    held = f"<Constraints>{constraints}</Constraints>" if constraints else ""
    return f"<FreeTextAnswer>{held}{rest}</FreeTextAnswer>"


def formatted(markup: str) -> str:
    """A FormattedContent in its CDATA."""
    return f"<FormattedContent><![CDATA[{markup}]]></FormattedContent>"


def key(
    scores: Mapping[str, Sequence[tuple[Sequence[str], int]]],
    *,
    defaults: Mapping[str, int] | None = None,
    mapping: str = "",
) -> str:
    """An AnswerKey: for each question, sets of selections with their scores."""
    questions = "".join(
        f"<Question><QuestionIdentifier>{name}</QuestionIdentifier>"
        + "".join(
            "<AnswerOption>"
            + "".join(
                f"<SelectionIdentifier>{selection}</SelectionIdentifier>" for selection in chosen
            )
            + f"<AnswerScore>{score}</AnswerScore></AnswerOption>"
            for chosen, score in options
        )
        + (
            f"<DefaultScore>{defaults[name]}</DefaultScore>"
            if defaults and name in defaults
            else ""
        )
        + "</Question>"
        for name, options in scores.items()
    )
    mapped = ""
    if mapping:
        mapped = f"<QualificationValueMapping>{mapping}</QualificationValueMapping>"
    return f'<AnswerKey xmlns="{KEY_NAMESPACE}">{questions}{mapped}</AnswerKey>'


def percentage(maximum: int) -> str:
    """A PercentageMapping."""
    return (
        f"<PercentageMapping><MaximumSummedScore>{maximum}</MaximumSummedScore></PercentageMapping>"
    )


def scale(multiplier: str) -> str:
    """A ScaleMapping."""
    return (
        f"<ScaleMapping><SummedScoreMultiplier>{multiplier}</SummedScoreMultiplier></ScaleMapping>"
    )


def ranges(*bounds: tuple[int, int, int], outside: int) -> str:
    """A RangeMapping."""
    inside = "".join(
        f"<SummedScoreRange><InclusiveLowerBound>{low}</InclusiveLowerBound>"
        f"<InclusiveUpperBound>{high}</InclusiveUpperBound>"
        f"<QualificationValue>{value}</QualificationValue></SummedScoreRange>"
        for low, high, value in bounds
    )
    return (
        f"<RangeMapping>{inside}<OutOfRangeQualificationValue>{outside}"
        "</OutOfRangeQualificationValue></RangeMapping>"
    )
