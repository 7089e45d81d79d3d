"""An answer that breaks a rule or the schema of its task.

Idea: the page refuses such answers, so one that arrives bypassed the page, or the page
and the code disagree.

Silent: if no answer of the table has a recorded problem.

Naive reading: such answers should be dropped when they are read. But a rule may turn
out to be wrong, so they are stored and flagged.

Edge cases: an answer that breaks several rules gets one flag. A rule that only asks for
confirmation (`questioned:<rule>`) is not a fault: the page let the answer pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from piecework.domain.late_modules import pd
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Phrases
from piecework.qc.scores import Facts, Scope, mapped, scored, sentences

NAME = "rule_violation"
TITLE = "Broken rule of the task"
VERSION = 2
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "row"
COLUMNS = ("problems",)
FACTS = Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What to ignore.

    Attributes:
        ignore: names of rules or schema faults that do not count (ours: none).
    """

    ignore: Phrases = ()


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
    ignored = set(params.ignore)

    def faults(problems: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            name for name in problems if name not in ignored and not name.startswith("questioned:")
        )

    broken = mapped(table["problems"], faults, "object")
    flag = broken.astype("bool")

    def sentence(names: tuple[str, ...]) -> str:
        rules = "a rule" if len(names) == 1 else "rules"
        return f"breaks {rules} of the task: {', '.join(names)}"

    return scored(
        table.index,
        suspicion=flag.astype("float64"),
        flag=flag,
        evidence=sentences(flag, sentence, broken),
    )
