"""Check the language of docs, docstrings, comments, help and messages.

`python -m tools.plain_english [PATH ...]` prints a line for each phrase of the house
list below, and for what the chosen checks of proselint find. Code, links and inline
code are blanked out first, so that line and column stay those of the file.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from proselint import checks as proselint_checks
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, types
from proselint.registry.checks.engine import Fancy
from proselint.tools import LintFile

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("src/piecework", "flows", "hit_templates", "qc", "postprocess", "config")
APART = ("src", "docs", "README.md")
"""Of each distribution of its own."""

PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
CHECKS = {
    "house": True,
    "archaism": True,
    "industrial_language": True,
    "malapropisms": True,
    "mondegreens": True,
    "nonwords": True,
    "oxymorons": True,
}
"""Families of checks; the others of proselint are about typography and essays."""

HOUSE = {
    "anew": "again",
    "lest": "so that ... not",
    "of which": "a sentence with a verb",
    "of whom": "a sentence with a verb",
    "(?<!there.)(?:is|are|was|were) (?-i:none)": "does not exist, is not a ...",
    "that is no(?! longer)": "that is not a",
    "whoever": "the person who, anyone who",
    "whatsoever": "any",
    "thereof": "its, their",
    "therein": "in it",
    "wherein": "in which, where",
    "hitherto": "until now",
    "hereby": "with this",
    "needless": "unnecessary",
    "hangs? on": "depends on",
    "until said": "until changed",
    "what who": "payment to those who ..., a noun",
    "nobody (?:is|was|can|may|has)": "no worker is, piecework does not",
    "of its own accord": "automatically",
    "for its part": "nothing",
    "as well as ever": "still",
    "so many": "that many, the number of",
    "a go at": "an attempt at, a try of",
    "such an? one": "one",
    "comes? to lie": "is placed",
    "(?:he|him|his|himself|she|hers?|herself)": "they, them, their",
    "(the|an?|is|of|in|to|and|for|with|that) \\1": "the word once",
}
"""Phrases that read like a translation, with what to write instead."""

_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2", re.MULTILINE | re.DOTALL)
_NOT_PROSE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->|https?://\S+", re.DOTALL)
_WORD = "_"
"""Stands for inline code, so that no phrase is read across it."""
_SENTENCE = re.compile(r"[A-Za-z][^\s]*(?:\s+[^\s]+){3,}")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase to rewrite: `line` and `column` count from 1."""

    path: Path
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


def phrases(path: Path, text: str) -> list[Phrase]:
    """The phrases of a Markdown or Python file that have to be rewritten."""
    _register()
    prose = _python(text) if path.suffix == ".py" else _markdown(text)
    if not prose.strip():
        return []
    config = {"max_errors": 10_000, "checks": CHECKS}
    return [
        Phrase(path, *_place(prose, result.span[0] - 1), " ".join(result.message.split()))
        for result, _ in LintFile(str(path), prose).lint(config)
    ]


def _place(text: str, at: int) -> tuple[int, int]:
    before = text[: max(at, 0)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _register() -> None:
    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(proselint_checks.__register__)
        registry.register(
            Check(
                check_type=types.PreferredForms(
                    {pattern.replace(" ", r"\s+"): better for pattern, better in HOUSE.items()}
                ),
                engine=Fancy(),
                path="house.words",
                message="'{1}': write '{0}'.",
            )
        )


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _markdown(text: str) -> str:
    without_code = _FENCE.sub(lambda block: _blank(block[0]), text)
    return _NOT_PROSE.sub(lambda part: re.sub(r"[^\n]", _WORD, part[0]), without_code)


def _python(source: str) -> str:
    """The source with everything blank but comments, docstrings and sentences."""
    lines = source.splitlines(keepends=True)
    kept = [_blank(line) for line in lines]
    for (row, start), (end_row, end) in _spans(source):
        for number in range(row, end_row + 1):
            line = lines[number - 1]
            left = start if number == row else 0
            right = end if number == end_row else len(line.rstrip("\n"))
            kept[number - 1] = kept[number - 1][:left] + line[left:right] + kept[number - 1][right:]
    return re.sub(r'["#]|>>>.*', lambda part: _blank(part[0]), _markdown("".join(kept)))


def _spans(source: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    docstrings = {
        (node.value.lineno, node.value.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }
    fragments = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if not token.string.startswith(("# noqa", "# type:")):
                yield token.start, token.end
        elif token.type in fragments and (
            token.start in docstrings or _SENTENCE.search(token.string)
        ):
            yield token.start, token.end


def files(paths: list[str]) -> Iterator[Path]:
    """The named files and folders; without a name, all that people read."""
    folders = [Path(path) for path in paths] or [
        *(ROOT / name for name in (*PAGES, *ROOMS)),
        *(path for name in APART for path in sorted(ROOT.glob(f"packages/*/{name}"))),
        ROOT / "docs",
        ROOT / "tools",
    ]
    for folder in folders:
        if folder.is_file():
            yield folder
            continue
        for path in sorted(folder.rglob("*")):
            # The root rooms are links inside the package: read each file once.
            linked = any(parent.is_symlink() for parent in path.parents)
            if path.suffix in {".md", ".py"} and not linked:
                yield path


def main() -> None:
    """Print the phrases; exit with 1 if there are any."""
    own = Path(__file__).resolve()
    read = [path for path in files(sys.argv[1:]) if path.resolve() != own]
    seen = [phrase for path in read for phrase in phrases(path, path.read_text(encoding="utf-8"))]
    for phrase in seen:
        click.echo(phrase)
    sys.exit(1 if seen else 0)


if __name__ == "__main__":
    main()
