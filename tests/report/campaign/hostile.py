"""The small campaign, with something nasty in every place that a stranger can fill."""

from dataclasses import replace
from typing import Any

import pandas as pd

from piecework.domain.edit import Edit
from piecework.report.facts import ReportFacts, SourceFile
from tests.report.campaign import by_hand

NASTY = (
    "<script>alert(1)</script>",
    "]]><svg onload=alert(1)>",
    '"><img src="//evil.example/x" onerror=alert(1)>',
    "</style></details></table>",
    "{{ 7 * 191 }}{% raw %}",
    "\u202egnp.exe\u202c right \u2066to left",
    "\x00\x1b[31m\ufffe",
    "x" * 10_000,
    "$\\frac{1}{2}$ and $ again $",
    "&lt;b&gt;&amp;",
)

HARMLESS = ("word", "another")


def campaign(texts: tuple[str, ...]) -> ReportFacts:
    """The campaign counted by hand with `texts` wherever text may come from outside."""
    facts = by_hand.small()
    answers, workers = facts.answers, facts.workers
    names = [f"{text} {place}" for place, text in enumerate(_cycle(texts, 4))]
    renamed = dict(zip(workers.index, names, strict=True))
    captions = _cycle(texts, len(answers))
    typed: dict[str, Any] = {
        "value.flaws": pd.Series([(caption,) for caption in captions], index=answers.index),
        "value.flaw_other": captions,
    }
    stranger = {"title": " ".join(texts), "picture": texts[0]}
    task = replace(facts.task, name=texts[0], optional_columns=("title", "picture"), title=texts[0])
    return replace(
        facts,
        campaign=texts[0],
        purpose=" ".join(texts),
        task=task,
        shown_items=tuple(replace(item, columns=stranger) for item in facts.shown_items),
        sources=(SourceFile(sha256=texts[1 % len(texts)], since=texts[0]),) * 2,
        changed=(*texts,),
        code_commit=texts[2 % len(texts)],
        answers=answers.assign(
            clean_text=captions,
            text=captions,
            worker=answers["worker"].map(renamed),
            url=captions,
            split=captions,
            rejected_because=captions,
            edits=pd.Series(map(_edits, captions), index=answers.index),
        ).assign(**typed),
        findings=_findings(facts.findings, texts, renamed),
        decisions=facts.decisions.assign(
            because=_cycle(texts, len(facts.decisions)),
            decided_by=_cycle(texts, len(facts.decisions)),
        ),
        workers=workers.assign(trait=_cycle(texts, 4)).rename(index=renamed),
        rules=dict.fromkeys(texts, 1),
    )


def _edits(text: str) -> tuple[Edit, ...]:
    return (Edit(start=0, end=1, before=text, after=text, rule=text, reason=text),)


def _findings(
    findings: pd.DataFrame, texts: tuple[str, ...], renamed: dict[str, str]
) -> pd.DataFrame:
    names = dict(zip(sorted(set(findings["heuristic"])), _cycle(texts, 4), strict=True))
    return findings.assign(
        heuristic=findings["heuristic"].map(names),
        evidence=_cycle(texts, len(findings)),
        subject_id=findings["subject_id"].map(lambda subject: renamed.get(subject, subject)),
    )


def _cycle(texts: tuple[str, ...], length: int) -> list[str]:
    return [texts[place % len(texts)] for place in range(length)]
