"""Names of what holds a value say what it is; `tools.names` looks at all of them."""

import ast
import string

from tests.for_each import for_each
from tools.names import bound_names, is_nameless, other_runs

_BINDINGS = """
import re as a
def bind(b, /, c, *d, e: int = 0, **f):
    g = h, *i = [(lambda j: 0) for k in b]
    with c as l, d as (m, n):
        o: int = (p := 1)
    for q.r, s in ():
        s += 1
    try:
        ...
    except ValueError as t:
        ...
    match c:
        case [u, *v] | {"w": w, **x} | A(y) as z:
            ...
class Kind:
    async def wait():
        ...
"""


def test_the_rule_of_names_knows_every_way_to_bind_a_name() -> None:
    """All letters of the sample but `q`, which is only read, and three definitions."""
    bound = {name for _, name in bound_names(ast.parse(_BINDINGS))}
    assert bound == {*string.ascii_lowercase, "bind", "Kind", "wait"} - {"q"}


@for_each(
    ("name", "is_vague"),
    [
        *(("one", True), ("_Found", True), ("SAID", True), ("told_apart", True)),
        *(("_TIMES_SAID", True), ("AsTold", True), ("storyteller_tolds", False)),
        *(("one_edit_apart", False), ("given_up", False), ("test_it_is_said", False)),
    ],
)
def test_the_rule_of_names_knows_a_vague_name(name: str, *, is_vague: bool) -> None:
    """In any case and place; `one`, `found` and `given` may begin a name."""
    assert is_nameless(name) == is_vague


_RUNS = """
class A:
    run: CampaignRun
    _run: Run
    def b(self, run: "CampaignRun") -> None:
        self._run = run
        run = self.campaign
def c(run):
    with opened() as run, rehearsed() as (run, crowd):
        for run in runs:
            ...
"""


def test_the_rule_of_names_knows_a_campaign_run() -> None:
    """A line each: another annotation, another value, no annotation, a loop."""
    assert sorted(other_runs(ast.parse(_RUNS))) == [4, 7, 8, 10]
