"""Write the campaign file of imported results and its file of columns, for people to edit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from piecework.domain.imported import Reading
from piecework.domain.money import cents_to_wire
from piecework.domain.text import shell_word
from piecework.domain.toml_text import toml_document, toml_key, toml_line, toml_value
from piecework.domain.verdicts import PolicyRule
from piecework.hit_templates.tasks import load_task
from piecework.importing.parts import as_written
from piecework.importing.understanding import Understanding

_AT_MOST_A_LINE = 80


def imported_text(
    name: str, understood: Understanding, *, file_name: str, description: str = ""
) -> str:
    """Return the text of the campaign file without its policy, ending with a line break."""
    parts = (
        [
            *_head(name, understood, file_name, description),
            "",
            *_money(understood),
        ],
        _imported(understood, file_name),
    )
    return "\n".join("\n".join(part) + "\n" for part in map(list, parts))


def columns_text(understood: Understanding) -> str:
    """Return the text of the file of columns; "" if nothing has to be stated."""
    lines = [*_stated(understood.reading)]
    for name in understood.fields:
        lines += ["", *_field(understood, name)]
    lines += _canned_of_task(understood)
    head = "# The columns of files that another tool wrote (docs/reference/shared-files.md)."
    return "\n".join([head, *lines]) + "\n" if lines else ""


def columns_name(file_name: str) -> str:
    """Return the name of a campaign file's file of columns.

    >>> columns_name("stance.toml")
    'stance.columns.toml'
    """
    return f"{file_name.removesuffix('.toml')}.columns.toml"


def policy_text(policy: tuple[PolicyRule, ...]) -> str:
    """Return the tables with the policy, for the end of the file."""
    lines = [
        "",
        "# Heuristics flag answers and workers (docs/reference/heuristics.md). What",
        "# is not flagged is kept. For the rest, the rules propose a decision, and a",
        "# person decides. Decisions made elsewhere are never evidence.",
        "[decisions]",
        'by = "person"                    # "policy" follows the rules',
    ]
    if policy:
        rules = toml_document({"decisions": {"rule": [rule.as_table() for rule in policy]}})
        lines += ["", rules.rstrip("\n")]
    return "\n".join(lines) + "\n"


def _head(name: str, understood: Understanding, file_name: str, description: str) -> Iterator[str]:
    yield "# Results that another tool collected. Nothing is posted or paid from here."
    yield "# docs/how-to/importing.md explains each key. After changing fields, run:"
    yield f"#   piecework data import --as {shell_word(file_name)}      (rereads these files)"
    yield f"#   piecework data assess {shell_word(file_name)}      (heuristics, then the rules)"
    yield f"#   piecework export {shell_word(file_name)}      (the dataset and its report)"
    yield ""
    yield toml_line("name", name)
    if not description:
        yield "# Describe what was asked about what; report and dataset repeat it."
    yield toml_line("description", description or _elsewhere(understood))
    if understood.task_name:
        yield toml_line("task", understood.task_name)
    card = f"{file_name.removesuffix('.toml')}.card.toml"
    yield f"# {toml_line('card', card)}   # licence, contact and title of the dataset"


def _canned_of_task(understood: Understanding) -> Iterator[str]:
    """Suggest `canned` for the task's only text, in a table of its own."""
    if not understood.task_name:
        return
    task = load_task(understood.task_name)
    if [field.name for field in task.fields] == [task.main_text]:
        yield from _canned(
            understood,
            task.main_text,
            " in place of the task",
            (f"[fields.{toml_key(task.main_text)}]", toml_line("kind", "text")),
        )


def _elsewhere(understood: Understanding) -> str:
    """Describe files by the tools that wrote them."""
    tools = ", ".join(dict.fromkeys(file.format_name for file in understood.files))
    return f"Answers collected elsewhere: {tools}."


def _imported(understood: Understanding, file_name: str) -> Iterator[str]:
    yield "[imported]"
    if columns_text(understood):
        yield toml_line("columns", columns_name(file_name))


def _stated(reading: Reading) -> Iterator[str]:
    yield from _spelling(reading)
    if reading.numbers:
        yield "# Columns with these numbers are about one of several items in a row."
        yield toml_line("numbers", as_written(reading.numbers))
    if reading.item:
        yield "# The columns that identify an item: the same values are the same item."
        yield from _long("item", list(reading.item))
    if reading.item_id:
        yield toml_line("item_id", reading.item_id)
    for key in ("answers", "gold", "values"):
        cells: Mapping[str, str] = getattr(reading, key)
        if cells:
            yield toml_line(key, cells)
    for field, options in reading.votes.items():
        yield f"votes.{toml_line(field, options)}"
    yield from _columns(reading)


def _spelling(reading: Reading) -> Iterator[str]:
    """Yield how the files are written, as far as it is stated or was needed."""
    times = reading.times
    for key in ("header", "separator", "encoding"):
        if value := getattr(reading, key):
            yield toml_line(key, list(value) if key == "header" else value)
    if times.zone:
        yield toml_line("zone", times.zone)
    if times.zones:
        yield toml_line("zones", times.zones)
    if times.day_first is not None:
        yield toml_line("day_first", times.day_first)


def _columns(reading: Reading) -> Iterator[str]:
    columns = {name: value for name, value in asdict(reading.columns).items() if value}
    if columns:
        yield ""
        yield "[columns]"
    for name, value in columns.items():
        yield toml_line(name, list(value) if isinstance(value, tuple) else value)


def _field(understood: Understanding, name: str) -> Iterator[str]:
    table = understood.fields[name]
    yield f"[fields.{toml_key(name)}]"
    yield toml_line("kind", table.kind)
    if table.marks:
        yield toml_line("marks", table.marks)
    if table.options:
        yield from _long("options", list(table.options))
    for limit in ("minimum", "maximum", "step"):
        number = getattr(table, limit)
        if number is not None:
            yield toml_line(limit, int(number) if number == int(number) else number)
    if table.required:
        yield "required = true                  # leaving it out breaks a rule"
    if table.scope == "hit":
        yield 'scope = "hit"                    # answered once for all items in a row'
    of_items = {key: field for key, field in understood.fields.items() if not field.scope}
    if name == next(iter(of_items), "") and all(
        field.kind == "text" and not field.marks for field in of_items.values()
    ):
        yield from _canned(understood, name)


def _canned(
    understood: Understanding, name: str, where: str = "", before: Sequence[str] = ()
) -> Iterator[str]:
    """Suggest `canned` if a field's most frequent sentence may be the page's own."""
    survey = understood.surveys.get(understood.reading.answers.get(name, name))
    if survey and (text := survey.repeated_sentence()):
        times = survey.values[text]
        yield f"# Written {times:,} times; if the page offered it, write{where}:"
        yield from (f"# {line}" for line in (*before, toml_line("canned", text)))


def _money(understood: Understanding) -> Iterator[str]:
    cents = understood.reward_cents
    if not cents:
        yield "# The files do not contain the reward; this amount is not used."
    yield toml_line("reward", cents_to_wire(max(1, cents)))
    yield 'budget = "0.00"                  # nothing is paid from here'
    yield 'hourly_wage = "0.00"'


def _long(key: str, values: list[str]) -> Iterator[str]:
    line = toml_line(key, values)
    if len(line) <= _AT_MOST_A_LINE:
        yield line
        return
    yield f"{key} = ["
    for value in values:
        yield f"    {toml_value(value)},"
    yield "]"
