"""Find out what files contain before anything is written, for the table shown.

The files are read twice: once for the names and values of their columns, once for the
resulting items. Memory grows with columns and items, not with rows.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from piecework.config.schema import FieldTable
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.task import Task
from piecework.domain.text import did_you_mean
from piecework.domain.toml_text import toml_key
from piecework.hit_templates.own_html.control_kinds import is_reserved
from piecework.hit_templates.tasks import load_task, task_names
from piecework.importing.parts import ITEM_ID, SeenNames, item_of, split
from piecework.importing.readers.recognise import Source
from piecework.importing.readers.rows import ImportedRow, NotSent, Unreadable
from piecework.importing.survey import MOST_CHOSEN, ColumnSurvey
from piecework.postprocess.hidden_ids import HiddenIds

_MOST_NAMED = 20
_ID_WORDS = ("id", "key", "uuid", "name", "filename", "url")
_MOST_CANDIDATES = 8
_MOST_SHOWN = 4
_ANY_KEY = b"only whether an id is there"
_KINDS: Mapping[str | None, str] = {
    "text": "text",
    "choice": "one option each",
    "choices": "any number of options",
}


@dataclass(slots=True)
class FileSummary:
    """The content of one file.

    Attributes:
        unreadable: rows that are set aside.
        first_faults: the first of them.
        not_sent: assignments that were never submitted, by reason.
        outcomes: decisions made elsewhere, in the tool's words, by assignment.
    """

    path: Path
    format_name: str
    assignments: int = 0
    unreadable: int = 0
    first_faults: list[Unreadable] = field(default_factory=list)
    not_sent: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    workers: set[str] = field(default_factory=set)
    unnamed: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    rewards: Counter[int] = field(default_factory=Counter)

    def see(self, row: ImportedRow) -> None:
        """Count an assignment."""
        self.assignments += 1
        self.outcomes[row.outcome] += 1
        if row.worker_id:
            self.workers.add(row.worker_id)
        else:
            self.unnamed += 1
        if row.reward_cents is not None:
            self.rewards[row.reward_cents] += 1
        if row.submitted_at is not None:
            self.first_at = min(self.first_at or row.submitted_at, row.submitted_at)
            self.last_at = max(self.last_at or row.submitted_at, row.submitted_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """The content of files and how they will be read.

    Attributes:
        reading: the future content of `[imported]`.
        task_name: a fitting task of the gallery, else "".
        fields: the fields by the files' names; empty with a task.
        surveys: a survey of each answer, by name.
        items: the number of different items.
        answers: the number of answers about items in all files.
        guesses: what was guessed, each with the line that states otherwise.
    """

    files: tuple[FileSummary, ...]
    reading: Reading
    task_name: str
    fields: Mapping[str, FieldTable]
    surveys: Mapping[str, ColumnSurvey]
    items: int
    answers: int
    guesses: tuple[tuple[str, str], ...] = ()

    @property
    def reward_cents(self) -> int:
        """The most frequent reward; 0 if no file contains any."""
        rewards: Counter[int] = Counter()
        for file in self.files:
            rewards += file.rewards
        return rewards.most_common(1)[0][0] if rewards else 0


def understand(
    sources: Sequence[Source],
    reading: Reading,
    *,
    task: Task | None = None,
    labels: Collection[str] = (),
) -> Understanding:
    """Read all rows of all files.

    Args:
        sources: the files.
        reading: what is already known about the columns.
        task: the task, if known.
        labels: answers that are no texts: numbers on a scale, or else choices.

    Raises:
        ConfigError: a file cannot be read, or contains no answers.
    """
    names = SeenNames()
    files = _look_at_all(sources, names)
    guesses = [guess for source in sources for guess in source.guesses()]
    if reading.numbers is None:
        guesses += names.guesses()
    stated_item = reading.item
    reading = _completed(reading, sources, names)
    items = _Items(reading, names.answers(reading.numbers or ()), labels)
    for source in sources:
        for row in source.rows():
            if isinstance(row, ImportedRow):
                items.see(row)
    items.check_fields(task)
    is_stated = task or reading.answers or reading.fields
    fitting = "" if is_stated else _fitting_task(items)
    known = task or (load_task(fitting) if fitting else None)
    item_id = reading.item_id or items.id_column()
    if reading.item != stated_item:
        guesses.append(_item_guess(reading.item, item_id))
    fields = {} if known else items.fields()
    if not known:
        guesses += items.guesses(fields)
    return Understanding(
        files=tuple(files),
        reading=replace(reading, item_id=item_id),
        task_name=task.name if task else fitting,
        fields=fields,
        surveys=items.answers,
        items=len(items.ids),
        answers=items.parts,
        guesses=tuple(dict.fromkeys(guesses)),
    )


def _completed(reading: Reading, sources: Sequence[Source], names: SeenNames) -> Reading:
    """Add to what is stated about columns what the files show."""
    numbers = names.numbers() if reading.numbers is None else reading.numbers
    gold = reading.gold or _gold(sources)
    columns = _item_columns(names, numbers)
    return replace(
        reading,
        numbers=numbers,
        item=reading.item or tuple(name for name in columns if name not in gold.values()),
        times=replace(reading.times, day_first=_day_first(sources, reading)),
        gold=gold,
    )


def _day_first(sources: Sequence[Source], reading: Reading) -> bool | None:
    """Return the order of days and months, if files show it or it is stated."""
    shown = (source.head.reading.times.day_first for source in sources if source.head.times.unclear)
    stated = reading.times.day_first
    return next(shown, None) if stated is None else stated


def _gold(sources: Sequence[Source]) -> dict[str, str]:
    return {field: column for source in sources for field, column in source.gold.items()}


def _item_guess(item: Sequence[str], item_id: str) -> tuple[str, str]:
    columns = ", ".join(item[:_MOST_SHOWN]) + ", ..." * (len(item) > _MOST_SHOWN)
    named = f"; {item_id} names it" if item_id else ""
    return (f"rows with the same {columns} are about the same item{named}", f'item = ["{item[0]}"]')


def _look_at_all(sources: Sequence[Source], names: SeenNames) -> list[FileSummary]:
    files = [_look(source, names) for source in sources]
    if not sum(file.assignments for file in files):
        raise ConfigError([f"{file.path}: contains no answers{_why_none(file)}" for file in files])
    return files


def _look(source: Source, names: SeenNames) -> FileSummary:
    summary = FileSummary(path=source.path, format_name=source.format_name)
    for row in source.rows():
        if isinstance(row, Unreadable):
            summary.unreadable += 1
            if len(summary.first_faults) < _MOST_NAMED:
                summary.first_faults.append(row)
        elif isinstance(row, NotSent):
            summary.not_sent[row.why] += 1
        else:
            summary.see(row)
            names.see(row, source.path)
    return summary


class _Items:
    """The items and answers that result from a reading of the columns."""

    def __init__(self, reading: Reading, names: Collection[str], labels: Collection[str]) -> None:
        self._reading, self._names = reading, names
        self.ids: set[bytes] = set()
        self.columns: set[str] = set()
        self.answers: dict[str, ColumnSurvey] = {}
        self._chosen = {*labels, *_stated_choices(reading)}
        self._workers_in: dict[str, set[str] | None] = {}
        self._workers: set[str] = set()
        self.once: dict[str, None] = {}
        self.parts = self.rows = 0
        self._owners: dict[str, dict[str, bytes]] = {name: {} for name in _candidates(reading.item)}

    def see(self, row: ImportedRow) -> None:
        parts, once = split(row, self._reading, self._names)
        self._workers.add(row.worker_id)
        for part in parts:
            item = item_of(part, row, self._reading)
            key = item[ITEM_ID].encode(errors="replace")
            self.ids.add(key)
            self.columns |= item.keys()
            self.parts += 1
            for name, cell in part.sent.items():
                answer = self._reading.values.get(cell.strip(), cell)
                self._survey(name).see(answer)
                self._see_ids(name, cell, row.worker_id)
            for name in [*self._owners]:
                value = part.shown.get(name, "").strip()
                if not value or self._owners[name].setdefault(value, key) != key:
                    del self._owners[name]
        self.rows += 1
        for name, cell in once.items():
            self.once[name] = None
            self._survey(name).see(cell)
            self._see_ids(name, cell, row.worker_id)

    def _survey(self, name: str) -> ColumnSurvey:
        if name not in self.answers:
            self.answers[name] = ColumnSurvey(is_chosen=name in self._chosen)
        return self.answers[name]

    def _see_ids(self, name: str, cell: str, worker_id: str) -> None:
        """Note whether each filled cell holds the id of its row's worker."""
        if not cell.strip():
            return
        workers = self._workers_in.setdefault(name, set())
        if workers is None:
            return
        if not worker_id or worker_id.casefold() not in cell.casefold():
            self._workers_in[name] = None
        elif len(workers) < len("ab"):
            workers.add(worker_id)

    def id_column(self) -> str:
        """Return a column with a different value for each item; or ""."""
        return next(iter(self._owners), "")

    def fields(self) -> dict[str, FieldTable]:
        """Return the fields, as far as the answers show them."""
        ids = HiddenIds(self._workers, _ANY_KEY)
        renamed = {sent: name for name, sent in self._reading.answers.items()}
        return {
            field: self._field(field, name, ids)
            for name in self.answers
            if (not self._reading.answers or name in renamed) and not is_reserved(name)
            if not self._is_empty_button(name)
            for field in [renamed.get(name, name)]
        }

    def _is_empty_button(self, name: str) -> bool:
        """Return whether it is a button of a form that some rows do not have."""
        base = name.rpartition(".")[0]
        return base in self.answers and not self.answers[name].filled

    def guesses(self, fields: Mapping[str, FieldTable]) -> Iterator[tuple[str, str]]:
        """Yield what was guessed about the kinds of fields."""
        sent = {name: self._reading.answers.get(name, name) for name in fields}
        for name, table in fields.items():
            if {"kind", "marks"} & self._reading.fields.get(name, {}).keys():
                continue
            key = f"fields.{toml_key(name)}.kind"
            if table.marks:
                yield f"{name} holds {table.marks}", f'{key} = "text"'
            elif table.kind == "number":
                scale = f"from {table.minimum:g} to {table.maximum:g}"
                yield f"{name} holds numbers {scale}", f'{key} = "choice"'
            elif self.answers[sent[name]].looks_like_numbers:
                yield f"{name} holds codes, not numbers", f'{key} = "number"'
            else:
                other = "choice" if table.kind == "text" else "text"
                yield f"{name} holds {_KINDS[table.kind]}", f'{key} = "{other}"'

    def _field(self, field: str, name: str, ids: HiddenIds) -> FieldTable:
        """Return the field for answers of this name: as specified, else a guess."""
        stated = FieldTable.model_validate(self._reading.fields.get(field, {}))
        # Ids are no options: the campaign file and the dataset would list them.
        are_ids = len(self._workers_in.get(name) or ()) > 1
        kind = stated.kind or ("text" if are_ids or stated.marks else None)
        guess = self.answers[name].guess(self._asked(name), kind)
        options = map(str, guess.options or ())
        if not stated.kind and any(ids.everywhere(each) != each for each in options):
            guess = self.answers[name].guess(self._asked(name), "text")
        once = {"scope": "hit"} if name in self.once else {}
        return guess.model_copy(update={**once, **stated.model_dump(exclude_unset=True)})

    def check_fields(self, task: Task | None) -> None:
        """Refuse specified fields, and labels, that do not fit the answers.

        Raises:
            ConfigError: a task already defines the fields, an answer does not exist, a
                number field has other values, or a choice too many; the message lists all
                faults.
        """
        if task is not None and not self._reading.fields:
            return
        if task is not None:
            raise ConfigError(
                [(f"fields: the task {task.name!r} already defines the fields; leave them out")]
            )
        answers = {
            name: self.answers[sent]
            for name, sent in (
                self._reading.answers or {name: name for name in self.answers}
            ).items()
            if sent in self.answers
        }
        faults = [*self._faults_of_choices()]
        for name, stated in self._reading.fields.items():
            if name not in answers:
                listed = f"the answers are {', '.join(answers)}"
                meant = did_you_mean(name, answers, then=listed)
                faults.append(f"fields.{name}: there is no such answer{meant}")
            elif stated.get("kind") == "number" and not answers[name].is_number:
                faults.append(
                    f"fields.{name}: kind is number, but some answers are not "
                    f"numbers, such as {answers[name].first_word()!r}; allowed are "
                    "choice, choices and text"
                )
        if faults:
            raise ConfigError(faults)

    def _faults_of_choices(self) -> Iterator[str]:
        """Yield choices with more options than anybody chooses from, or with none."""
        stated = _stated_choices(self._reading)
        for name in sorted(self._chosen & self.answers.keys()):
            answer = self.answers[name]
            if answer.parts.is_cut and (name in stated or not answer.is_scale):
                yield (
                    f"the answers {name!r} have more than {MOST_CHOSEN:,} different values, so "
                    "they are texts and no choice"
                )
            if name in stated and not answer.filled:
                yield f"the answers {name!r} are empty in every row, so they are no choice"

    def _asked(self, name: str) -> int:
        return self.rows if name in self.once else self.parts


def _stated_choices(reading: Reading) -> set[str]:
    """Return the answers, by the files' names, that are stated to be choices."""
    return {
        reading.answers.get(name, name)
        for name, stated in reading.fields.items()
        if stated.get("kind") in {"choice", "choices"} and "options" not in stated
    }


def _item_columns(names: SeenNames, numbers: tuple[str, ...]) -> tuple[str, ...]:
    columns = names.columns(numbers)
    return (ITEM_ID, *columns) if names.is_wired else columns


def _candidates(item: tuple[str, ...]) -> list[str]:
    """Return columns that may identify items by their names, the likeliest first."""
    ranked = [
        (rank, name)
        for name in item
        for rank, word in enumerate(_ID_WORDS)
        if name.lower() == word
        or name.lower().endswith(("_" + word, " " + word))
        or name.endswith(word.capitalize())
    ]
    return [name for _, name in sorted(ranked, key=lambda pair: pair[0])][:_MOST_CANDIDATES]


def _fitting_task(items: _Items) -> str:
    """Return a task of the gallery with exactly these fields and items; or ""."""
    for name in task_names():
        task = load_task(name)
        asked = {field.name for field in task.item_fields}
        needed = {field.name for field in task.item_fields if not field.optional}
        if (
            needed <= items.answers.keys()
            and items.answers.keys() <= asked | {field.name for field in task.hit_fields}
            and (set(task.columns[1:]) - {"url"}) <= items.columns
        ):
            return name
    return ""


def _why_none(file: FileSummary) -> str:
    if not file.first_faults:
        return ""
    first = file.first_faults[0]
    column = f", column {first.column}" if first.column else ""
    return f" that can be read; line {first.line}{column}: {first.fault}"
