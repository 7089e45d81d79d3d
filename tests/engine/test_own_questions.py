"""A test whose file states the questions: posted, taken, graded and refused."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.domain.errors import PlatformRefused
from piecework.domain.qualifications import QualificationTest
from piecework.engine.requirements import post_test
from piecework.hit_templates import qualification
from piecework.hit_templates.qualification import answer_key, question_form
from piecework.marketplace.forms.answer_key import check_against
from piecework.marketplace.forms.form import Question
from piecework.marketplace.forms.schema import read_form
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of
from piecework.store import assignments, workers
from tests.engine.test_qualification import CAMPAIGN, finished, written

OWN = """
name = "House rules"
instructions = "Read <b>each</b> question & choose."
correct_at_least = 3

[[question]]
text = "Which is a colour?"
options = ["red", "round"]
answer = "red"

[[question]]
text = "Is 3 < 4 && 4 > 3?"
options = ["no", "yes", "it <depends>"]
answer = "yes"

[[question]]
text = "Which is largest?"
options = ["a cup", "a car", "a house", "a coin"]
answer = "a house"

[[question]]
text = "Which is a shape?"
options = ["red", "round"]
answer = "round"
"""


def test_questions_of_a_file_are_posted_and_graded(tmp_path: Path) -> None:
    """The form has the words of the file; the marketplace grades by its answers."""
    campaign = prepare(written(tmp_path, test=OWN))
    test = campaign.qualification
    assert test is not None
    form = read_form(question_form(test, site="http://127.0.0.1:1"))
    asked = [part for part in form.parts if isinstance(part, Question)]
    assert len(asked) == 4
    text = question_form(test, site="http://127.0.0.1:1")
    assert "Read &lt;b&gt;each&lt;/b&gt; question &amp; choose." in text
    assert "it &lt;depends&gt;" in text
    for right, score in ((4, 4), (3, 3), (2, 0), (0, 0)):
        assert _graded(test, right) == score
    with rehearsal_of(campaign) as (run, _):
        posted = run.platform._client.get_qualification_type(
            QualificationTypeId=post_test(run, test)
        )["QualificationType"]
    assert posted["Name"] == "House rules"
    assert posted["Test"].count("<Question>") == 4
    assert "Read &lt;b&gt;each" in posted["Test"]


def test_the_same_questions_in_a_form_of_another_version_are_the_same_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A campaign goes on with the test that it posted; other words need another name."""
    path = written(tmp_path, test=OWN)
    with rehearsal_of(prepare(path)) as (run, _):
        before = run.campaign.qualification
        assert before is not None
        posted = post_test(run, before)
        later = qualification.form_of_questions().replace("radiobutton", "dropdown")
        monkeypatch.setattr(qualification, "form_of_questions", lambda: later)
        after = prepare(path).qualification
        assert after is not None
        forms = {question_form(test, site="http://127.0.0.1:1") for test in (before, after)}
        assert len(forms) == 2
        assert post_test(run, after) == posted
        for old, new in (
            ("a colour?", "a hue?"),
            ('"a cup"', '"a mug"'),
            ("least = 3", "least = 2"),
        ):
            other = prepare(written(tmp_path, test=OWN.replace(old, new))).qualification
            assert other is not None
            with pytest.raises(PlatformRefused, match="exists with another test"):
                post_test(run, other)


def _graded(test: QualificationTest, right: int) -> int:
    form = read_form(question_form(test, site="http://127.0.0.1:1"))
    chosen = {}
    for number, item in enumerate(test.items):
        answer = test.right_answer(item)
        wrong = "2" if answer == "1" else "1"
        chosen[str(item.item_id)] = [answer if number < right else wrong]
    return check_against(answer_key(test), form).grade(chosen)


@pytest.mark.full
def test_who_fails_the_questions_never_works(tmp_path: Path) -> None:
    """Simulated workers take the test, as they take any other."""
    with finished(written(tmp_path, CAMPAIGN, OWN)) as (run, crowd):
        traits = crowd.traits_by_worker()
        scores = workers.load_scores(run.store)
        passed = {worker for worker, score in scores.items() if score >= 3}
        assert {
            assignment.worker_id for assignment in assignments.load_assignments(run.store)
        } <= passed
        assert any(traits[worker] == "diligent" for worker in passed)


_QUESTION = '[[question]]\ntext = "t"\noptions = {options}\nanswer = {answer}\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (OWN.replace('answer = "red"', 'answer = "rde"'), "is not one of the options"),
        (OWN.replace('["red", "round"]', '["red", "red"]'), "options has 'red' twice"),
        (OWN.replace('["red", "round"]', '["red"]'), "options"),
        (OWN.replace('["red", "round"]', '["red", " "]'), "options"),
        (OWN.replace("Which is a colour?", " "), "text"),
        (OWN.replace("Which is a colour?", "a\\u0007b"), "cannot have the character"),
        (OWN.replace("correct_at_least = 3", "correct_at_least = 5"), "but has 4 questions"),
        (OWN.replace("correct_at_least = 3", "correct_at_least = 0"), "correct_at_least"),
        (OWN.replace("= 3", "= { a = 3 }", 1), "correct_at_least is a number"),
        (f'task = "caption"\n{OWN}', "so leave out task"),
        ("correct_at_least = 3\n", "has no questions: write [[question]]"),
        ('task = "caption"\nitems = "q.csv"\ncorrect_at_least = 3\n', "a task has sections"),
        (f"{OWN}anwser = 1\n", "no such key"),
        (OWN.replace("Which is a colour?", "x" * 2001), "text"),
        (
            "correct_at_least = 1\n" + _QUESTION.format(options='["a", "b"]', answer='"a"') * 201,
            "question",
        ),
        (
            "correct_at_least = 1\n"
            + _QUESTION.replace('"t"', f'"{"x" * 1900}"').format(options='["a", "b"]', answer='"a"')
            * 40,
            "fit",
        ),
    ],
)
def test_a_faulty_test_is_refused_before_it_is_posted(
    tmp_path: Path, text: str, fault: str
) -> None:
    """By `check`, with exit code 2 and a sentence."""
    refused = CliRunner().invoke(main, ["check", str(written(tmp_path, test=text))])
    assert refused.exit_code == 2, refused.output
    assert fault in " ".join(refused.output.split())
    assert "Traceback" not in refused.output


def test_check_says_what_passes(tmp_path: Path) -> None:
    """How many questions, and how many right answers."""
    checked = CliRunner().invoke(main, ["check", str(written(tmp_path, test=OWN))])
    assert checked.exit_code == 0, checked.output
    assert "4 questions" in checked.output
    assert "3 right" in checked.output


_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01"


def _asked(key: str, selections: str, *, style: str = "radiobutton", most: int = 1) -> str:
    options = "".join(
        f"<Selection><SelectionIdentifier>{name}</SelectionIdentifier><Text>The {name}</Text>"
        "</Selection>"
        for name in selections.split()
    )
    return f"""<Question><QuestionIdentifier>{key}</QuestionIdentifier>
<IsRequired>true</IsRequired>
<QuestionContent><Text>Which &amp; why: {key}?</Text></QuestionContent>
<AnswerSpecification><SelectionAnswer><MaxSelectionCount>{most}</MaxSelectionCount>
<StyleSuggestion>{style}</StyleSuggestion><Selections>{options}</Selections></SelectionAnswer>
</AnswerSpecification></Question>"""


def _scored(key: str, *right: str) -> str:
    named = "".join(f"<SelectionIdentifier>{name}</SelectionIdentifier>" for name in right)
    return f"""<Question><QuestionIdentifier>{key}</QuestionIdentifier>
<AnswerOption>{named}<AnswerScore>1</AnswerScore></AnswerOption></Question>"""


FORM = f"""<?xml version="1.0" encoding="UTF-8"?>
<QuestionForm xmlns="{_SCHEMAS}/QuestionForm.xsd">
<Overview><Title>About birds</Title><Text>Choose well.</Text></Overview>
{_asked("flies", "penguin gull kiwi")}
{_asked("birds", "owl bat finch", style="checkbox", most=3)}
</QuestionForm>"""
KEY = f"""<AnswerKey xmlns="{_SCHEMAS}/AnswerKey.xsd">
{_scored("flies", "gull")}
{_scored("birds", "owl", "finch")}
<QualificationValueMapping><PercentageMapping><MaximumSummedScore>2</MaximumSummedScore>
</PercentageMapping></QualificationValueMapping>
</AnswerKey>"""
DOCUMENTS = """form = "birds.form.xml"
key = "birds.key.xml"
correct_at_least = 100
retry_hours = 1
"""


def of_documents(folder: Path, *, form: str = FORM, key: str = KEY, test: str = DOCUMENTS) -> Path:
    """A campaign whose test is two of MTurk's documents."""
    (folder / "birds.form.xml").write_text(form)
    (folder / "birds.key.xml").write_text(key)
    return written(folder, CAMPAIGN, test)


def test_documents_of_mturk_are_posted_as_they_are_and_graded(tmp_path: Path) -> None:
    """Simulated workers take the test, also where several selections are right together."""
    form, key = (
        text.replace("Identifier>flies<", "Identifier>it\n  flies<").replace(">gull<", ">a\n gull<")
        for text in (FORM, KEY)
    )
    path = of_documents(tmp_path, form=form, key=key)
    campaign = prepare(path)
    test = campaign.qualification
    assert test is not None
    assert [test.right_answer(item) for item in test.items] == ["a\n gull", "owl|finch"]
    assert test.task.title == "About birds"
    with finished(path) as (run, crowd):
        posted = run.platform._client.get_qualification_type(
            QualificationTypeId=post_test(run, test)
        )["QualificationType"]
        traits = crowd.traits_by_worker()
        scores = workers.load_scores(run.store)
        worked = {each.worker_id for each in assignments.load_assignments(run.store)}
    assert (posted["Test"], posted["AnswerKey"]) == (form, key)
    assert {0, 50, 100} >= {*scores.values()} >= {100}
    assert worked
    assert all(scores[worker] == 100 for worker in worked)
    assert "diligent" in {traits[worker] for worker in worked}


def test_faults_of_documents_have_file_line_and_column(tmp_path: Path) -> None:
    """The marketplace's own checks, before anything is posted; and what it cannot know."""
    text = FORM.replace("<SelectionAnswer>", "<FreeTextAnswer/><SelectionAnswer>", 1)
    cases = [
        ({"form": FORM.replace("</Overview>", "")}, "birds.form.xml: line 16, column 2: mism"),
        ({"form": FORM.replace("<Text>Which", "<Words>Which", 1)}, "birds.form.xml: line 6"),
        ({"form": FORM.replace("IsRequired", "IsRequested", 2)}, "birds.form.xml: line 5, col"),
        ({"form": text}, "birds.form.xml: line"),
        ({"form": "<!DOCTYPE a [<!ENTITY b 'c'>]>" + FORM.partition("?>")[2]}, "document type"),
        ({"form": FORM.replace("QuestionForm", "QuestionFrom")}, "the root element must be"),
        ({"form": f'<QuestionForm xmlns="{_SCHEMAS}/QuestionForm.xsd"/>'}, "has no Question"),
        ({"key": KEY.replace("gull", "eagle")}, "birds.key.xml: line 1, column 0: the question"),
        ({"key": KEY.replace("flies", "swims")}, "the test has no question 'swims'"),
        ({"key": KEY.replace("<AnswerScore>1", "<AnswerScore>one", 1)}, "birds.key.xml: line 3"),
        ({"test": DOCUMENTS.replace("100", "101")}, "gives at most the value 100"),
        ({"test": DOCUMENTS.replace("100", "{ a = 1 }")}, "correct_at_least is a number"),
        ({"test": DOCUMENTS.replace('key = "birds.key.xml"\n', "")}, "key is missing"),
        ({"test": DOCUMENTS.replace("birds.key", "bird.key")}, "bird.key.xml does not exist"),
        ({"test": f"{DOCUMENTS}{OWN.partition('3')[2]}"}, "so leave out question"),
    ]
    for changed, fault in cases:
        refused = CliRunner().invoke(main, ["check", str(of_documents(tmp_path, **changed))])
        assert refused.exit_code == 2, refused.output
        assert fault in " ".join(refused.output.split()), (fault, refused.output)
