"""Turns a task's questions into a qualification test: form and answer key.

A task can be a test if its folder holds `question_form.xml.j2`. Questions and right
answers come from the items file that the task's page shows. Questions that a test's file
states itself become such a task with one section. A form and a key that somebody wrote for
MTurk are posted as they are. The marketplace adds up
scores and maps the sum to a value. Sections are weighted like digits, so that one sum
encodes every section's count: a right answer in the last section counts 1, in the one
before it 1 more than the last has questions, and so on. Each passing sum is mapped to
the number of right answers, every other sum to 0.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from itertools import product
from math import prod
from urllib.parse import quote
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from piecework.domain.errors import ConfigError
from piecework.domain.field import Field, Option
from piecework.domain.hit import MTURK, Item
from piecework.domain.ids import ItemId
from piecework.domain.qualifications import SECTION, QualificationTest, TestDocuments
from piecework.domain.task import GOLD, OwnFiles, Task
from piecework.domain.text import plural
from piecework.hit_templates.answers import offered
from piecework.hit_templates.item_faults import faults_of_item
from piecework.hit_templates.messages import ENGLISH, FOLDER, languages, messages, texts
from piecework.hit_templates.templates import has_template, rendered

FORM = "question_form.xml.j2"
_KEY = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/AnswerKey.xsd"
_IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,100}")
_ANY_SITE = "https://marketplace.example"
_MOST_RANGES = 400
"""With more passing results than this, the key is too long."""


QUESTIONS = "questions"
"""The section of a test whose file states the questions, and the name of its task."""


def task_of_questions(
    questions: Sequence[tuple[str, Sequence[str], str]],
    *,
    title: str | None,
    instructions: str | None,
    path: str,
    language: str,
) -> tuple[Task, tuple[Item, ...]]:
    """Return the task and the items of a test whose file states the questions.

    Args:
        questions: text, options and the right option of each.
        title: the heading of the test, if stated.
        instructions: what workers read above the questions, if stated.
        path: the test's file.
        language: of the texts that are not stated; English in place of an unknown one.
    """
    generic = FOLDER / "_generic"
    spoken = language if language in languages(generic) else ENGLISH
    words = texts(messages(generic, spoken))
    title = title or words["test_title"]
    most = max(len(options) for _, options, _ in questions)
    fields = (
        Field(
            name="answer",
            kind="choice",
            label="Answer",
            options=tuple(
                Option(value=str(number), column=f"option_{number}")
                for number in range(1, most + 1)
            ),
        ),
    )
    form = form_of_questions()
    task = Task(
        name=QUESTIONS,
        version=1,
        title=title,
        description=words["test_description"].format(
            count=len(questions), questions=plural(len(questions), "question")
        ),
        keywords=("test",),
        columns=("question_id", "text"),
        items_per_hit=len(questions),
        reward_cents=1,
        assignment_duration_seconds=1,
        fields=fields,
        seconds_per_item=12,
        texts={
            f"{QUESTIONS}_question": title,
            "instructions": instructions or words["test_instructions"],
        },
        own=OwnFiles(
            path=path,
            digest=sha256(repr((form, title, instructions, questions)).encode()).hexdigest(),
            templates={FORM: form},
        ),
    )
    return task, tuple(
        Item(
            item_id=ItemId(f"question_{number}"),
            columns={
                "question_id": f"question_{number}",
                "text": text,
                SECTION: QUESTIONS,
                **{f"option_{place}": option for place, option in enumerate(options, start=1)},
                f"{GOLD}answer": str(options.index(answer) + 1),
            },
        )
        for number, (text, options, answer) in enumerate(questions, start=1)
    )


def form_of_questions() -> str:
    """Return the template of tests whose file states the questions."""
    return (FOLDER / "_generic" / FORM).read_text("utf-8")


def task_of_documents(documents: TestDocuments) -> tuple[Task, tuple[Item, ...]]:
    """Return the task and the items of a test that MTurk's documents state.

    Only what simulated workers and `check` need is read; the marketplace checks the rest.

    Raises:
        ConfigError: a document is no XML, or the form has no question.
    """
    form = _root(documents.form, documents.form_path)
    key = _root(documents.key, documents.key_path)
    right = {
        _text(asked, "QuestionIdentifier"): _best(asked)
        for asked in key.iterfind(f".//{_ANY}Question")
    }
    questions = [*form.iterfind(f".//{_ANY}Question")]
    if not questions:
        raise ConfigError([f"{documents.form_path}: has no Question."])
    selections = {
        _text(selection, "SelectionIdentifier"): ""
        for selection in form.iterfind(f".//{_ANY}Selection")
    }
    options = tuple(Option(value=each, column=f"selection {each}") for each in selections)
    title = next((_words(each) for each in form.iterfind(f".//{_ANY}Title")), "")
    task = Task(
        name=QUESTIONS,
        version=1,
        title=title or "A test",
        description=f"A test of {plural(len(questions), 'question')} before the work.",
        keywords=("test",),
        columns=("question_id", "text"),
        items_per_hit=len(questions),
        reward_cents=1,
        assignment_duration_seconds=1,
        fields=(Field(name="answer", kind="choice", label="Answer", options=options),),
        seconds_per_item=12,
        own=OwnFiles(
            path=documents.form_path,
            digest=sha256(repr((documents.form, documents.key)).encode()).hexdigest(),
            templates={},
        ),
    )
    return task, tuple(
        Item(
            item_id=ItemId(key),
            columns={
                "question_id": key,
                "text": _words(asked.find(_ANY + "QuestionContent")),
                SECTION: QUESTIONS,
                **{
                    f"selection {_text(selection, 'SelectionIdentifier')}": _words(selection)
                    for selection in asked.iterfind(f".//{_ANY}Selection")
                },
                f"{GOLD}answer": right.get(key, ""),
            },
        )
        for asked in questions
        for key in [_text(asked, "QuestionIdentifier")]
    )


_ANY = "{*}"


def _root(text: str, path: str) -> Element:
    try:
        return fromstring(text)
    except ParseError as error:
        line, column = error.position
        reason = str(error).partition(":")[0]
        raise ConfigError([f"{path}: line {line}, column {column}: {reason}."]) from error
    except DefusedXmlException as error:
        raise ConfigError([f"{path}: a document type is not allowed."]) from error


def _words(node: Element | None) -> str:
    return " ".join("".join([] if node is None else node.itertext()).split())


def _text(node: Element, name: str) -> str:
    return _identifier(node.find(_ANY + name))


def _identifier(node: Element | None) -> str:
    """Return a text as the marketplace does, with its line breaks."""
    return "" if node is None else "".join(node.itertext()).strip()


def _best(asked: Element) -> str:
    """Return the selections that score most, joined by a bar."""
    scored = [
        (_text(option, "AnswerScore"), option)
        for option in asked.iterfind(f".//{_ANY}AnswerOption")
    ]
    numbers = [(int(score), option) for score, option in scored if score.lstrip("-").isdecimal()]
    best = max(numbers, key=lambda each: each[0], default=None)
    if best is None:
        return ""
    return "|".join(map(_identifier, best[1].iterfind(_ANY + "SelectionIdentifier")))


def question_form(test: QualificationTest, *, site: str) -> str:
    """Return the test as MTurk's QuestionForm.

    Args:
        test: a test without faults (see `faults_of_test`).
        site: the marketplace's address, for pictures that it serves itself.
    """
    if test.documents is not None:
        return test.documents.form
    values = {
        "task": test.task,
        "t": test.task.texts,
        "sections": {
            name: [_with_whole_url(item, site) for item in items]
            for name, items in test.sections.items()
        },
        "offered": lambda item: [
            (option.value, item.columns.get(option.column, "") or option.label)
            for option in test.field.options
            if option.value in offered(test.field, item.columns)
        ],
    }
    return rendered(test.task, FORM, values)


def digest_of_test(test: QualificationTest) -> str:
    """Return a digest of what a test asks and who passes, whatever form and key say it.

    Another version of piecework may write the form of the same questions differently.
    """
    task, documents = test.task, test.documents
    own = "" if task.own is None else task.own.templates.get(FORM, "")
    terms = (
        (test.name, test.duration_seconds, test.retry_seconds),
        sorted(test.correct_at_least.items()),
        (task.title, sorted(task.texts.items())),
        [(option.value, option.column, option.label) for option in test.field.options],
        [sorted(item.columns.items()) for item in test.items],
        "" if own == form_of_questions() else own,
        None if documents is None else (documents.form, documents.key),
    )
    return sha256(repr(terms).encode()).hexdigest()[:16]


def answer_key(test: QualificationTest) -> str:
    """Return the key that grades the test: the number of right answers, or 0."""
    if test.documents is not None:
        return test.documents.key
    sections = test.sections
    sizes = [len(items) for items in sections.values()]
    weights = [prod(size + 1 for size in sizes[n + 1 :]) for n in range(len(sizes))]
    questions = (
        f"<Question><QuestionIdentifier>{escape(item.item_id, quote=False)}</QuestionIdentifier>"
        f"<AnswerOption><SelectionIdentifier>{escape(test.right_answer(item), quote=False)}"
        f"</SelectionIdentifier><AnswerScore>{weight}</AnswerScore></AnswerOption>"
        "</Question>\n"
        for weight, items in zip(weights, sections.values(), strict=True)
        for item in items
    )
    ranges = (
        f"<SummedScoreRange><InclusiveLowerBound>{total}</InclusiveLowerBound>"
        f"<InclusiveUpperBound>{total}</InclusiveUpperBound>"
        f"<QualificationValue>{sum(right)}</QualificationValue></SummedScoreRange>\n"
        for right in _passing(test)
        for total in [sum(n * weight for n, weight in zip(right, weights, strict=True))]
    )
    return (
        f'<AnswerKey xmlns="{_KEY}">\n{"".join(questions)}'
        f"<QualificationValueMapping><RangeMapping>\n{''.join(ranges)}"
        "<OutOfRangeQualificationValue>0</OutOfRangeQualificationValue>"
        "</RangeMapping></QualificationValueMapping>\n</AnswerKey>"
    )


def faults_of_test(test: QualificationTest) -> list[str]:
    """Return why this cannot be a test, one sentence per reason."""
    task = test.task
    if test.documents is not None:
        return []  # the marketplace's own checks say more (`refuse_faulty_test`)
    if not has_template(task, FORM):
        return [f"qualification.task: {task.name} cannot be a test; it has no {FORM}"]
    if [field.kind for field in task.fields] != ["choice"]:
        return [f"qualification.task: {task.name} must have exactly one field, a choice"]
    faults = [
        *(
            f"qualification: item {item.item_id!r}: {fault}"
            for item in test.items
            for fault in _faults_of_question(test, item)
        ),
        *_faults_of_thresholds(test),
    ]
    if faults:
        return faults
    sizes = {"form": question_form(test, site=_ANY_SITE), "key": answer_key(test)}
    return [
        f"qualification: the {name} has {len(text.encode()):,} bytes; at most "
        f"{MTURK.question_bytes:,} fit"
        for name, text in sizes.items()
        if len(text.encode()) > MTURK.question_bytes
    ]


def _faults_of_question(test: QualificationTest, item: Item) -> Iterator[str]:
    if not _IDENTIFIER.fullmatch(item.item_id):
        yield "a test's ids are letters, digits, - and _ only"
    if not test.right_answer(item):
        yield f"the column gold.{test.field.name} does not say the right answer"
    section = item.columns.get(SECTION, "")
    if f"{section}_question" not in test.task.texts:
        yield f"{test.task.name} has no section {section!r}"
    yield from faults_of_item(test.task, _with_whole_url(item, _ANY_SITE))


def _faults_of_thresholds(test: QualificationTest) -> Iterator[str]:
    where = "qualification.correct_at_least"
    sections = test.sections
    for name in sections:
        if name not in test.correct_at_least:
            yield f"{where}: the section {name!r} is missing"
    for name, least in test.correct_at_least.items():
        if name not in sections:
            known = ", ".join(sections)
            yield f"{where}: there is no section {name!r}; there are {known}"
        elif least > len(sections[name]):
            questions = plural(len(sections[name]), "question")
            yield f"{where}: {name} is {least}, but has {questions}"
    rooms = [
        max(len(items) - test.correct_at_least.get(name, 0) + 1, 1)
        for name, items in sections.items()
    ]
    if prod(rooms) > _MOST_RANGES:
        yield (
            f"{where}: {prod(rooms):,} results pass, and a key can list "
            f"{_MOST_RANGES}; ask for more right answers"
        )


def _passing(test: QualificationTest) -> Iterator[tuple[int, ...]]:
    """Yield every way to pass, as right answers by section."""
    return product(
        *(
            range(test.correct_at_least[name], len(items) + 1)
            for name, items in test.sections.items()
        )
    )


def _with_whole_url(item: Item, site: str) -> Item:
    """Other sites show a form too, so its pictures need absolute addresses."""
    url = item.columns.get("url", "")
    if not url or "://" in url:
        return item
    name = url.removeprefix("/pictures/")
    path = name if name.startswith("/") else f"/pictures/{quote(name)}"
    return Item(item_id=item.item_id, columns={**item.columns, "url": site + path})
