"""Check that names say what they hold: values, functions, classes, modules and folders.

`python -m tools.names` prints a line for each name that would fit any other.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    "src/piecework",
    "config",
    "flows",
    "hit_templates",
    "postprocess",
    "qc",
    "packages",
    "tests",
    "tools",
)

_NAMELESS = {"found", "given", "one", "said", "told"}
"""What nothing must be called: each fits any value, so it says nothing."""

_SPEECH = {"said", "told"}
"""Words that no name holds: they say that something was spoken, not what it is."""


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of all that code binds: values, parameters, functions, classes."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.alias(asname=str(name))
                | ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield getattr(node, "lineno", 0), name


def is_nameless(name: str) -> bool:
    """Whether a name says nothing of what it holds; a test's name is a sentence."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    lower = [word.lower() for word in words]
    is_test = lower[:1] == ["test"]
    return "_".join(lower) in _NAMELESS or bool(_SPEECH & {*lower} and not is_test)


def other_runs(module: ast.Module) -> Iterator[int]:
    """Lines where `run` is bound, and not as a campaign run.

    A campaign run is annotated as `CampaignRun`, or a `with` opens it, or `self._run = run`
    copies it.
    """
    for node in ast.walk(module):
        for target in _targets(node):
            for line, name in bound_names(target):
                if name.strip("_") == "run":
                    yield line


def _targets(node: ast.AST) -> list[ast.AST]:
    """What a node binds that is not annotated as a campaign run, opened, or copied."""
    match node:
        case ast.arg(annotation=ast.expr() as stated) | ast.AnnAssign(annotation=stated) if (
            ast.unparse(stated).strip("'") == "CampaignRun"
        ):
            return []
        case ast.arg():
            return [node]
        case ast.Assign(value=value) if ast.unparse(value) != "run":
            return [*node.targets]
        case ast.AnnAssign() | ast.For() | ast.comprehension() | ast.NamedExpr():
            return [node.target]
    return []


def faults_of_names(path: Path) -> Iterator[str]:
    """Yield a line for each name in a file, and in its path, that says nothing."""
    module, where = ast.parse(path.read_bytes()), path.relative_to(ROOT)
    for line, name in sorted(bound_names(module)):
        if is_nameless(name):
            yield f"{where}:{line}: {name}: name what it holds"
    for part in (*where.parts[:-1], path.stem):
        if is_nameless(part.removeprefix("test_")):
            yield f"{where}: {part}: name what it holds"
    if "tests" not in where.parts:
        for line in other_runs(module):
            yield f"{where}:{line}: run: that is what a campaign at work is called"


def main() -> None:
    """Print all faults of the checkout's names, and exit with 1 if there are any."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    faults = [fault for path in paths for fault in faults_of_names(path)]
    for fault in faults:
        click.echo(fault)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
