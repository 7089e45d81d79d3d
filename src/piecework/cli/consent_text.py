"""A text of consent: a file that somebody wrote, a paragraph between empty lines."""

from pathlib import Path

from piecework.config.utf8 import read_text
from piecework.domain.errors import ConfigError


def read_consent(file: Path) -> tuple[str, ...]:
    """The paragraphs of a file.

    Raises:
        ConfigError: it cannot be read, or says nothing.
    """
    text = read_text(file, name="text of --consent").replace("\r\n", "\n")
    paragraphs = tuple(filter(None, (part.strip() for part in text.split("\n\n"))))
    if not paragraphs:
        raise ConfigError([f"--consent: {file} says nothing"])
    return paragraphs
