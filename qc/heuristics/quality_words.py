"""Text about quality, or blur, instead of content.

Idea: a worker who writes that the image is blurry describes the photograph and not what
it shows. VizWiz-Captions used this check.

Silent: if the list of words is empty.

Naive reading: the original searches for QUALITY and BLUR anywhere in the text. So "a
bag of Quality Street candies" and "a can of premium quality carrots" are flagged. Here
words are whole words (`blur*` matches any ending), names are removed first, and a grade
before "quality" ("premium quality carrots") belongs to the thing unless the word that
follows is the picture itself: "a high quality photo" is still flagged.

Edge cases: only the listed words are flagged: add "unclear" or "out of focus" in the
campaign file. In other tasks these words may be the answer ("the quality of the food"),
so only the gallery's caption tasks switch it on; any other task or campaign has to name
it. The paper (Gurari et al. 2020, appendix A.1): "workers who used words like quality,
blur and blurry (but not the canned text), and so were not focusing on content in the
image".
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Phrases
from piecework.qc.scores import Facts, Scope, quoted, scored, sentences

NAME = "quality_words"
TITLE = "Words about quality instead of content"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "row"
COLUMNS = ("text", "is_canned")
FACTS = Facts(is_on=False)

GRADES = ("best", "fine", "finest", "good", "great", "high", "higher", "highest")
MORE_GRADES = ("premium", "superior", "top")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """Which words to find, and where they mean something else.

    Attributes:
        words: whole words to find; a final `*` matches any ending (paper).
        names: names that contain such a word (ours).
        grades: words before "quality" that make it a property of the thing (ours).
        pictures: words after "quality" that make it about the photo again (ours).
    """

    words: Phrases = ("quality", "blur*")
    names: Phrases = ("quality street", "quality inn", "del monte quality")
    grades: Phrases = GRADES + MORE_GRADES
    pictures: Phrases = (
        "image",
        "images",
        "photo",
        "photograph",
        "photos",
        "pic",
        "picture",
        "pictures",
        "shot",
        "view",
    )


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
    texts = table["text"].tolist()
    pattern, harmless = _any_of(params.words), _harmless(params)
    flag = np.zeros(len(texts), dtype="bool")
    matches = np.empty(len(texts), dtype="object")
    is_judged = _may_match(texts, params.words) & ~table["is_canned"].to_numpy()
    for place in np.flatnonzero(is_judged).tolist():
        matches[place] = _matches(texts[place], pattern=pattern, harmless=harmless)
        flag[place] = bool(matches[place])

    def sentence(words: list[str], text: str) -> str:
        return f"mentions quality ({', '.join(words)}): {quoted(text)}"

    return scored(
        table.index,
        suspicion=np.where(flag, 0.6, 0.0),
        flag=flag,
        evidence=sentences(flag, sentence, matches, texts),
    )


def _matches(
    text: str, *, pattern: re.Pattern[str] | None, harmless: re.Pattern[str] | None
) -> list[str]:
    """The words found, each once, in the order of the text."""
    if pattern is None:
        return []
    remaining = harmless.sub(" ", text) if harmless is not None else text
    return list(dict.fromkeys(word.casefold() for word in pattern.findall(remaining)))


def _harmless(params: Params) -> re.Pattern[str] | None:
    patterns = [_words(name) for name in params.names]
    if params.grades:
        grades = "|".join(_words(grade) for grade in params.grades)
        pictures = "|".join(_words(word) for word in params.pictures)
        unless = rf"(?!(?:{pictures})\b)" if params.pictures else ""
        patterns.append(rf"(?:{grades})[\s-]+quality(?=\s+{unless}\w)")
    return _compile("|".join(patterns)) if patterns else None


def _any_of(words: Phrases) -> re.Pattern[str] | None:
    return _compile("|".join(_words(word) for word in words)) if words else None


def _may_match(texts: list[str], words: Phrases) -> npt.NDArray[np.bool_]:
    """Whether each text may have one of the words; matching all takes seconds."""
    stems = [phrase.split()[0].partition("*")[0].lower() for phrase in words]
    if not all(stem.isascii() for stem in stems):
        return np.ones(len(texts), dtype="bool")
    # Beyond ASCII, only the pattern can compare letters without case.
    is_ascii = np.fromiter(map(str.isascii, texts), "bool", len(texts))
    may_match, places = ~is_ascii, np.flatnonzero(is_ascii)
    alike = list(itertools.compress(texts, is_ascii))
    ends = np.cumsum(np.fromiter(map(len, alike), "int64", len(alike)) + 1)
    whole = "\n".join(alike).lower()
    for stem in stems if alike else ():
        starts = [match.start() for match in re.finditer(re.escape(stem), whole)]
        may_match[places[np.searchsorted(ends, starts, side="right")]] = True
    return may_match


def _words(phrase: str) -> str:
    """A phrase as a pattern: any space between its words, `*` matches any ending."""
    parts = [re.escape(part).replace(r"\*", r"\w*") for part in phrase.split()]
    return r"\s+".join(parts)


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)
