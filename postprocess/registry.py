"""The cleaning rules, in the order they follow one another; this is the whole list."""

from piecework.postprocess.rules import real_words, spelling, whitespace
from piecework.postprocess.text import Rule

RULES: tuple[Rule, ...] = (whitespace, spelling, real_words)
