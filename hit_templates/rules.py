"""The kinds of rules for answers, as data and as pure functions.

A rule in `task.toml` names a kind, a field, parameters and the message that a worker
reads. `_rules.js` has the same kinds for the page; tests/browser checks that both give
the same verdicts.

Only `required`, `text_with_option` and `must_choose` can fail for an empty field. The
others always hold for it, so that a worker who wrote nothing reads one message, not
five. A kind with a parameter `column` compares the answer with that column of the item.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from piecework.domain.assignment import FieldValue
from piecework.domain.differences import size
from piecework.domain.task import FieldScope, Rule, Task
from piecework.hit_templates.edit_rules import changes_of, is_same, stays_within
from piecework.hit_templates.text_rules import Points, begins_with, is_one_sentence, plain, words

Values = Mapping[str, FieldValue]
Columns = Mapping[str, str]
Parameters = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKind:
    """One kind of rule.

    Attributes:
        parameters: the required parameters of such a rule, with their types.
        field_kinds: the kinds of fields that it can check.
        holds: whether the values satisfy a rule of this kind.
    """

    parameters: Mapping[str, type]
    field_kinds: tuple[str, ...]
    holds: Callable[[Values, Rule, Columns], bool]


def check(
    task: Task, values: Values, *, columns: Columns | None = None, scope: FieldScope = "item"
) -> tuple[Rule, ...]:
    """Return the rules of the task that these values break, in the task's order.

    Args:
        task: the task with the rules.
        values: the values of one item's fields, or of the HIT's.
        columns: the item's columns, for rules that compare with them.
        scope: the scope of these fields.
    """
    return tuple(
        rule
        for rule in _rules_of(task, scope)
        if not RULE_KINDS[rule.kind].holds(values, rule, columns or {})
    )


@lru_cache(maxsize=128)
def _rules_of(task: Task, scope: FieldScope) -> tuple[Rule, ...]:
    names = {field.name for field in task.fields if field.scope == scope}
    return tuple(rule for rule in task.rules if rule.field in names)


def parameter_faults(kind: str, parameters: Parameters) -> list[str]:
    """What is wrong with a rule's kind and parameters, one sentence each."""
    if kind not in RULE_KINDS:
        return [f"kind {kind!r} is not one of {', '.join(RULE_KINDS)}"]
    types = RULE_KINDS[kind].parameters
    return [
        *(f"kind {kind} needs the parameter {name}" for name in types if name not in parameters),
        *(f"kind {kind} has no parameter {name}" for name in parameters if name not in types),
        *(
            f"parameter {name} must be {_TYPE_NAMES[types[name]]}, not {value!r}"
            for name, value in parameters.items()
            if name in types and not _is_of_type(value, types[name])
        ),
    ]


_TYPE_NAMES = {int: "a whole number from 1", str: "a text", list: "a list of texts"}


def _is_of_type(value: object, expected: type) -> bool:
    if expected is int:
        return isinstance(value, int) and not isinstance(value, bool) and value > 0
    if expected is list:
        return isinstance(value, list | tuple) and all(
            isinstance(part, str) and part for part in value
        )
    return isinstance(value, str) and bool(value)


def _text(values: Values, name: str) -> str:
    value = values.get(name, "")
    if isinstance(value, float):
        return f"{value:g}"
    return plain(value if isinstance(value, str) else " ".join(value))


def chosen(values: Values, name: str) -> tuple[str, ...]:
    """Return the options chosen in a field; empty if the field is absent."""
    value = values.get(name, ())
    if isinstance(value, float):
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(value)


def _number(rule: Rule, name: str) -> int:
    return int(str(rule.parameters[name]))


@lru_cache(maxsize=256)
def _points(rule: Rule) -> Points:
    return Points(**{name: frozenset(_texts(rule, name)) for name in _POINTS})


@lru_cache(maxsize=256)
def _texts(rule: Rule, name: str) -> tuple[str, ...]:
    stated = rule.parameters[name]
    if not isinstance(stated, list | tuple):
        raise TypeError(f"rule {rule.name}: {name} is not a list")
    return tuple(map(str, stated))


def _required(values: Values, rule: Rule, _columns: Columns) -> bool:
    return _text(values, rule.field) != ""


def _min_words(values: Values, rule: Rule, _columns: Columns) -> bool:
    text = _text(values, rule.field)
    return text == "" or len(words(text)) >= _number(rule, "minimum")


def _max_length(values: Values, rule: Rule, _columns: Columns) -> bool:
    return len(_text(values, rule.field)) <= _number(rule, "maximum")


def _one_sentence(values: Values, rule: Rule, _columns: Columns) -> bool:
    return is_one_sentence(_text(values, rule.field), _points(rule))


def _banned_prefixes(values: Values, rule: Rule, _columns: Columns) -> bool:
    return not begins_with(_text(values, rule.field), _texts(rule, "prefixes"))


def _exclusive_option(values: Values, rule: Rule, _columns: Columns) -> bool:
    ticked = chosen(values, rule.field)
    return rule.parameters["option"] not in ticked or len(set(ticked)) == 1


def _text_with_option(values: Values, rule: Rule, columns: Columns) -> bool:
    ticked = chosen(values, str(rule.parameters["chosen_in"]))
    return rule.parameters["option"] not in ticked or _required(values, rule, columns)


def _most_chosen(values: Values, rule: Rule, _columns: Columns) -> bool:
    return len(set(chosen(values, rule.field))) <= _number(rule, "maximum")


def _must_choose(values: Values, rule: Rule, _columns: Columns) -> bool:
    return rule.parameters["option"] in chosen(values, rule.field)


def _edited_with_option(values: Values, rule: Rule, columns: Columns) -> bool:
    ticked = chosen(values, str(rule.parameters["chosen_in"]))
    text = _text(values, rule.field)
    if not ticked or text == "":
        return True
    before = columns.get(str(rule.parameters["column"]), "")
    return (rule.parameters["option"] in ticked) != is_same(before, text)


def _few_words_changed(values: Values, rule: Rule, columns: Columns) -> bool:
    text = _text(values, rule.field)
    before = columns.get(str(rule.parameters["column"]), "")
    most = _number(rule, "maximum")
    return text == "" or size(changes_of(before, text)) <= most


def _words_within(values: Values, rule: Rule, columns: Columns) -> bool:
    text = _text(values, rule.field)
    if text == "" or columns.get(str(rule.parameters["where"])) not in _texts(rule, "among"):
        return True
    before = columns.get(str(rule.parameters["column"]), "")
    return stays_within(changes_of(before, text), _texts(rule, "groups"))


_POINTS = ("abbreviations", "before_number", "after_number", "names")
_TEXT = ("text",)

RULE_KINDS: Mapping[str, RuleKind] = {
    "required": RuleKind(
        parameters={}, field_kinds=("text", "choice", "choices", "number"), holds=_required
    ),
    "min_words": RuleKind(parameters={"minimum": int}, field_kinds=_TEXT, holds=_min_words),
    "max_length": RuleKind(parameters={"maximum": int}, field_kinds=_TEXT, holds=_max_length),
    "one_sentence": RuleKind(
        parameters=dict.fromkeys(_POINTS, list), field_kinds=_TEXT, holds=_one_sentence
    ),
    "banned_prefixes": RuleKind(
        parameters={"prefixes": list}, field_kinds=_TEXT, holds=_banned_prefixes
    ),
    "exclusive_option": RuleKind(
        parameters={"option": str}, field_kinds=("choices",), holds=_exclusive_option
    ),
    "text_with_option": RuleKind(
        parameters={"chosen_in": str, "option": str}, field_kinds=_TEXT, holds=_text_with_option
    ),
    "most_chosen": RuleKind(
        parameters={"maximum": int}, field_kinds=("choices",), holds=_most_chosen
    ),
    "edited_with_option": RuleKind(
        parameters={"column": str, "chosen_in": str, "option": str},
        field_kinds=_TEXT,
        holds=_edited_with_option,
    ),
    "few_words_changed": RuleKind(
        parameters={"column": str, "maximum": int}, field_kinds=_TEXT, holds=_few_words_changed
    ),
    "words_within": RuleKind(
        parameters={"column": str, "where": str, "among": list, "groups": list},
        field_kinds=_TEXT,
        holds=_words_within,
    ),
    "must_choose": RuleKind(
        parameters={"option": str}, field_kinds=("choice", "choices"), holds=_must_choose
    ),
}
