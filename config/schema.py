"""The campaign file as users write it: every key, its type and its limits.

Unknown keys are refused. Money is written as a string (`"0.55"`), because a TOML float
cannot represent a cent exactly.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from piecework.config.input_tables import GrowsTable, ImportedTable, Items, ItemsTable, is_folder
from piecework.config.named import Names, Words, as_list
from piecework.config.posting_tables import (
    Answers,
    Budget,
    BudgetTable,
    Cents,
    ExperimentTable,
    GoldTable,
    MachineTable,
    Markets,
    Scale,
    TextTable,
    as_example,
    as_option,
    currency_of_signs,
)
from piecework.config.requirements_table import (
    EarnedTable,
    Limit,
    ProlificTable,
    RequirementsTable,
)
from piecework.config.results_tables import CardTable, DatasetTable, Sinks
from piecework.domain.campaign import OutputFormat
from piecework.domain.field import FieldKind, FieldScope, MarkKind
from piecework.domain.hit import MTURK
from piecework.domain.money import Currency
from piecework.domain.task import GENERIC, is_page
from piecework.domain.text import control_in, did_you_mean
from piecework.domain.verdicts import VERDICTS, SubjectKind, Verdict

_TASK = re.compile(r"[a-z0-9][a-z0-9_-]*|(\.{1,2})?/.+|\.{1,2}")


def _task(value: str) -> str:
    # What names a file is refused for a control character in a sentence of its own.
    if not (is_page(value) or _TASK.fullmatch(value) or control_in(value)):
        raise ValueError(
            "name a task that `piecework init --tasks` lists, your own page, such as hit.html, or "
            "the folder of your own task with a dot in front, such as ./dog"
        )
    return value


Name = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=40), Names.NOTHING
]
TaskName = Annotated[
    str, StringConstraints(min_length=1, max_length=200), AfterValidator(_task), Names.DEFINITION
]
Host = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$", max_length=253), Names.LINK
]
Language = Annotated[
    str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"), Names.NOTHING
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _at_least_a_cent(cents: int) -> int:
    if cents < 1:
        raise ValueError(
            'a HIT pays a cent or more; for course credit, write reward = "0.01" and '
            'hourly_wage = "0", and count answers with `piecework pay CAMPAIGN --sheet FILE`'
        )
    return cents


def in_full(document: dict[str, Any]) -> dict[str, Any]:
    """Return a campaign file with a table for each short form.

    A folder of pictures is `pictures`, and the currency is that of the signs.
    """
    full = {**document}
    if sign := currency_of_signs(document):
        full.setdefault("currency", sign)
    if is_folder(full.get("items"), full.get("pictures")):
        full["pictures"] = full.pop("items")
    if "prolific" in full:
        full.setdefault("markets", {"prolific": 100})
    return full


Keyword = Annotated[Words, StringConstraints(max_length=48, pattern="^[^,]*$")]
"""A keyword by which workers find a HIT; a comma would split it."""


class PostingTable(_Strict):
    """`[posting]`: how HITs are posted."""

    items_per_hit: Annotated[int, Field(ge=1, le=50)] | None = None
    lifetime_hours: Annotated[float, Field(ge=0.01, le=8760)] = 168
    assignment_minutes: Annotated[float, Field(ge=0.5, le=525_600)] | None = None
    auto_approval_hours: Annotated[float, Field(ge=1, le=720)] = 720
    max_rounds: Annotated[int, Field(ge=0, le=50)] = 5
    # 583 of 3,387 crowdsourced paraphrases that an expert labelled `Cheating`:
    # Para-Quality, Yaghoub-Zadeh-Fard et al., NAACL 2019.
    expected_loss_percent: Annotated[float, Field(ge=0, le=90)] = 17
    title: Annotated[Words, StringConstraints(max_length=128)] | None = None
    description: Annotated[Words, StringConstraints(max_length=2000)] | None = None
    # Joined by commas, they fit the 1000 characters that MTurk allows.
    keywords: Annotated[tuple[Keyword, ...], Field(max_length=20)] | None = None
    records_typing: bool = True


class QuestionTable(_Strict):
    """`[[question]]` in the file of a test: a question, and which option is right."""

    text: Annotated[Words, StringConstraints(max_length=2000)]
    options: Annotated[
        tuple[Annotated[Words, StringConstraints(max_length=300)], ...],
        Field(min_length=2, max_length=20),
    ]
    answer: Words

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> "QuestionTable":
        for words in (self.text, *self.options):
            # A line may break in the text; other control characters fit into no form.
            if control := control_in(words.replace("\n", " ")):
                raise ValueError(f"a question cannot have the character {control!r}")
        for option in self.options:
            if self.options.count(option) > 1:
                raise ValueError(f"options has {option!r} twice")
        if self.answer not in self.options:
            meant = did_you_mean(self.answer, self.options) or ""
            raise ValueError(f"answer = {self.answer!r} is not one of the options{meant}")
        return self


_RightAnswers = Annotated[int, Field(ge=1, le=1000)]


class QualificationTestTable(_Strict):
    """The file of `qualification`: a test that workers take before they may work.

    Its questions are here, or MTurk's documents have them, or a task and its items.
    """

    file: Annotated[str, Names.DEFINITION] = ""
    task: TaskName | None = None
    items: Annotated[str, Names.INPUT] | None = None
    form: Annotated[str, Names.INPUT] | None = None
    key: Annotated[str, Names.INPUT] | None = None
    question: Annotated[tuple[QuestionTable, ...], Field(max_length=200)] = ()
    instructions: Annotated[Words, StringConstraints(max_length=2000)] | None = None
    name: Annotated[Words, StringConstraints(max_length=200)] | None = None
    correct_at_least: _RightAnswers | Annotated[dict[Name, _RightAnswers], Field(min_length=1)]
    time_limit_minutes: Annotated[float, Field(ge=1, le=1440)] = 60
    retry_hours: Annotated[float, Field(ge=0, le=8760)] | None = None

    @model_validator(mode="after")
    def _questions_are_in_one_place(self) -> "QualificationTestTable":
        stated = self.model_fields_set
        is_of_documents = bool({"form", "key"} & stated)
        if is_of_documents:
            where, others = "form and key", {"question", "task", "items", "instructions"}
        elif self.question:
            where, others = "[[question]]", {"task", "items"}
        elif {"task", "items"} <= stated:
            where, others = "a task", {"instructions"}
        else:
            raise ValueError(
                "has no questions: write [[question]] with text, options and answer, or name "
                "form and key, MTurk's documents, or task and items"
            )
        if is_of_documents and (lacking := {"form", "key"} - stated):
            raise ValueError(f"form and key go together; {min(lacking)} is missing")
        if more := others & stated:
            raise ValueError(f"has {where}, so leave out {' and '.join(sorted(more))}")
        by_section = isinstance(self.correct_at_least, dict)
        if by_section == (where != "a task"):
            raise ValueError(
                "a task has sections: correct_at_least = { SECTION = 4 }"
                if not by_section
                else "there are no sections, so correct_at_least is a number"
            )
        return self


class PolicyTable(_Strict):
    """`[[decisions.rule]]`: one rule of the policy."""

    on: SubjectKind
    any_of: tuple[Words, ...] = ()
    suspicion_above: Annotated[float, Field(ge=0.5, le=1)] | None = None
    at_least: Annotated[int, Field(ge=1)] = 1
    share: Annotated[float, Field(ge=0, le=1)] = 0.0
    then: Verdict
    because: Annotated[Words, StringConstraints(min_length=10, max_length=MTURK.longest_reason)]

    @model_validator(mode="after")
    def _verdict_fits(self) -> "PolicyTable":
        if bool(self.any_of) == (self.suspicion_above is not None):
            raise ValueError("set either any_of = [...] or suspicion_above = 0.9")
        allowed = VERDICTS[self.on]
        if self.then not in allowed:
            raise ValueError(
                f"then = {self.then!r} does not fit on = {self.on!r}; allowed: {', '.join(allowed)}"
            )
        return self


class DecisionsTable(_Strict):
    """`[decisions]`: who decides, and by which policy."""

    by: Literal["policy", "person"] = "person"
    rule: tuple[PolicyTable, ...] = ()


class RehearsalTable(_Strict):
    """`[rehearsal]`: the simulated workers."""

    seed: Annotated[int, Field(ge=0)] = 1
    replay: Annotated[str, Names.INPUT] | None = None
    rows_a_day: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    crowd: dict[str, Annotated[int, Field(ge=0, le=10_000)]] = {}
    people: dict[Words, dict[Words, Annotated[int, Field(ge=0, le=10_000)]]] = {}


class FieldTable(_Strict):
    """`[fields.<name>]`: what the page does not say about a field."""

    kind: FieldKind | None = None
    label: Words | None = None
    options: Annotated[tuple[Words, ...], Field(min_length=1)] | None = None
    minimum: float | None = None
    maximum: float | None = None
    step: Annotated[float, Field(gt=0)] | None = None
    required: bool | None = None
    scope: FieldScope | None = None
    marks: MarkKind | None = None
    canned: Words | None = None


class FieldsTable(_Strict):
    """A file of `fields`: what a page does not say about its fields."""

    file: Annotated[str, Names.DEFINITION] | None = None
    fields: dict[Words, FieldTable] = Field(default_factory=dict)


class CampaignTables(_Strict):
    """A whole campaign file."""

    # "" is replaced by the name of the file (`parse_text`), or what the task says.
    name: Name = ""
    description: Words = ""
    task: TaskName | None = None
    question: Words | None = None
    instructions: Annotated[tuple[Words, ...], BeforeValidator(as_list)] = ()
    options: tuple[Annotated[dict[Words, Words], BeforeValidator(as_option)], ...] = ()
    several: bool = False
    scale: Scale | None = None
    examples: Annotated[
        tuple[Annotated[dict[Words, Words], BeforeValidator(as_example)], ...], Field(max_length=10)
    ] = ()
    text: TextTable | None = None
    imported: ImportedTable | None = None
    hosts: Annotated[tuple[Host, ...], Field(max_length=20)] = ()
    fields: FieldsTable = FieldsTable()
    language: Language = "en"
    # Imported items are in the store; otherwise `parse_text` requires the table.
    items: Items = Field(default_factory=ItemsTable.model_construct)
    pictures: Annotated[str, Names.INPUT] | None = None
    grows: GrowsTable | None = None
    gold: GoldTable | None = None
    machine: MachineTable | None = None
    experiment: ExperimentTable | None = None
    answers: Answers = 5
    batches: Annotated[int, Field(ge=1, le=1000)] | None = None
    per_worker: Limit = None
    per_worker_in_batch: Limit = None
    reward: Annotated[Cents, AfterValidator(_at_least_a_cent)] | None = None
    hourly_wage: Cents | None = None
    minutes: Annotated[float, Field(gt=0, le=525_600)] | None = None
    budget: Budget = BudgetTable()
    currency: Currency = "USD"
    posting: PostingTable = PostingTable()
    requirements: RequirementsTable = RequirementsTable()
    prolific: ProlificTable | None = None
    markets: Markets | None = None
    cheapest_within_hours: Annotated[float, Field(gt=0, le=8760)] | None = None
    qualification: QualificationTestTable | None = None
    earned: Annotated[tuple[EarnedTable, ...], Field(max_length=5)] = ()
    heuristics: dict[str, dict[str, Annotated[object, Names.NOTHING]] | Literal[False]] = {}
    decisions: DecisionsTable = DecisionsTable()
    formats: Annotated[tuple[OutputFormat, ...], Field(min_length=1)] | None = None
    sink: Sinks = ()
    card: CardTable = CardTable()
    dataset: DatasetTable = DatasetTable()
    rehearsal: RehearsalTable = RehearsalTable()

    @model_validator(mode="before")
    @classmethod
    def _in_full(cls, document: object) -> object:
        return in_full(document) if isinstance(document, dict) else document

    @model_validator(mode="after")
    def _asks_one_thing(self) -> "CampaignTables":
        if self.imported is not None:
            return self._asked_elsewhere()
        if self.task is None:
            raise ValueError(
                f'set task = "{self.question}"; question is the text of a question'
                if is_page(self.question or "")
                else 'set task = "..." (`piecework init --tasks` lists them, and task = "hit.html" '
                "is your own page)"
            )
        has_page, is_generic = is_page(self.task), self.task in GENERIC
        if not has_page and (self.hosts or self.fields.fields):
            raise ValueError('hosts and fields go with a page, such as task = "hit.html"')
        if self.reward is None and (has_page or is_generic) and not self.hourly_wage:
            raise ValueError('nothing says what work pays; write hourly_wage = "12.00", or reward')
        if self.reward is None and has_page and self.minutes is None:
            raise ValueError(
                "a page does not say how long it takes; write minutes = 2, for a HIT, or reward"
            )
        if self.grows is not None and self.budget.total is None:
            raise ValueError(
                "items that grow have no expected cost; write "
                'budget = { total = "100.00", day = "10.00" }'
            )
        return self

    @model_validator(mode="after")
    def _shows_pictures_of_one_place(self) -> "CampaignTables":
        if self.pictures is not None and self.items.query is not None:
            raise ValueError("a query gives all items; leave out pictures")
        if self.pictures is not None and self.items.scenes is not None:
            raise ValueError("scenes draws the pictures; leave out pictures")
        return self

    @model_validator(mode="after")
    def _names_markets(self) -> "CampaignTables":
        if self.cheapest_within_hours is not None:
            if self.markets is None:
                raise ValueError(
                    'cheapest_within_hours chooses among markets; write markets = ["prolific", '
                    '"connect"]'
                )
            if max(self.markets.values()) - min(self.markets.values()) > 1:
                raise ValueError(
                    "cheapest_within_hours leaves no shares; write the markets as a list"
                )
        return self

    @model_validator(mode="after")
    def _earns_each_name_once(self) -> "CampaignTables":
        names = [table.name for table in self.earned]
        if len(set(names)) < len(names):
            raise ValueError("two files of earned have the same name")
        return self

    @model_validator(mode="after")
    def _deals_one_way(self) -> "CampaignTables":
        if self.grows is None:
            if self.rehearsal.rows_a_day is not None:
                raise ValueError("rehearsal.rows_a_day is for items that grow; add [grows]")
            if why := self.items.grows_only:
                raise ValueError(f"items: {why}")
            if not self.items.file and "://" in (self.pictures or ""):
                raise ValueError(
                    "pictures at an address are listed as they arrive; add [grows], or name them "
                    "in a file"
                )
            return self
        if "batches" in self.model_fields_set:
            raise ValueError("batches is for items that do not grow; set grows.batch")
        if self.items.scenes is not None and self.items.file is None:
            raise ValueError(
                "drawn pictures do not grow; name the scenes in a file, or leave out "
                "scenes or [grows]"
            )
        return self

    def _asked_elsewhere(self) -> "CampaignTables":
        elsewhere = {"items", "gold", "markets"} & self.model_fields_set
        if elsewhere:
            raise ValueError(
                "[imported] results were collected elsewhere: remove "
                f"{' and '.join(sorted(elsewhere, reverse=True))}"
            )
        if (self.task is None or self.task in GENERIC) == (not self.fields.fields):
            raise ValueError(
                'set either task = "..." (`piecework init --tasks` lists them) or [fields.NAME] in '
                "the file of columns, to say what was asked"
            )
        return self
