"""The rules to try: a whole campaign file, its tables about judging, or suggested ones.

Only heuristics, decisions and aggregates count. What else a whole campaign file says
must be as in the campaign, because the answers were given under it.

Those that agree best with what is known are written to a file, to look at and compare: no
campaign uses them until a person copies them. If too little is known, it says so and writes
nothing.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piecework.campaign.assembling import with_rules_of
from piecework.campaign.deriving import complete_inputs
from piecework.campaign.opened import OpenedCampaign
from piecework.campaign.rehearsal_folders import INPUTS
from piecework.config.campaign_file import CampaignFile
from piecework.config.changed_keys import changed_keys
from piecework.config.schema import CampaignTables
from piecework.config.schema_faults import at, schema_faults
from piecework.config.shared_files import with_shared
from piecework.config.user_files import read_text, write_new
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.field import Aggregate, AggregateKind
from piecework.domain.inputs import Inputs
from piecework.domain.text import NOTHING, did_you_mean, plural, share, shell_word
from piecework.domain.toml_text import toml_document, toml_line
from piecework.domain.verdicts import PolicyRule
from piecework.engine.opening import open_to_look
from piecework.hit_templates.task_schema import faults_of_aggregates
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import TITLES, Settings
from piecework.qc.suggesting import FOLDS, OwnRules, Suggestion, Tally, suggest
from piecework.report.components import KeyFigure, Note, Section, number, table, text
from piecework.report.page import SectionsPage
from piecework.results.comparing.judging_again import Truth, truths_of

_LARGEST_BYTES = 10_000_000

JUDGED = ("heuristics", "decisions", "aggregates")
"""The tables that count."""

_FREE = frozenset({"name", "description", "card", "dataset"})
"""Keys of a campaign file that may differ, because no answer depends on them."""

_ASKED = ("task", "imported")
"""Keys that say what was asked; a whole campaign file has one of them."""


class _AggregateTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    field: str
    kind: AggregateKind
    column: str = ""


class _RulesTables(CampaignTables):
    """A campaign file with the table that its task states otherwise."""

    aggregates: Annotated[tuple[_AggregateTable, ...], Field(max_length=100)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedRules:
    """A campaign with other rules.

    Attributes:
        campaign: the campaign as the rules would have it.
        path: the file that states them.
        changed: the keys that differ from the campaign's own.
    """

    campaign: Campaign
    path: Path
    changed: tuple[str, ...]


def read_rules(path: Path, campaign: Campaign) -> TriedRules:
    """Read the rules to try on the answers of a campaign.

    Args:
        path: a whole campaign file, or `[heuristics]`, `[decisions]` and
            `[[aggregates]]` alone; a heuristic or key that it leaves out stays as it is.
        campaign: the campaign, as its file says now.

    Raises:
        ConfigError: the file cannot be read, is of another task, states what is not
            tried, or has errors; it has every fault.
    """
    text = read_text(path, name="file of rules", most=_LARGEST_BYTES, next_step=_what_it_holds())
    own_text = campaign.inputs.text
    own: dict[str, Any] = tomllib.loads(own_text)
    try:
        stated: dict[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault
    is_whole = not stated.keys().isdisjoint(_ASKED)
    differs = changed_keys(complete_inputs(campaign), Inputs(text=text))
    differing = {key.partition(".")[0] for key in differs}
    if "pictures" in differing:
        differing.add("items")  # which may name a folder of pictures
    same = {key for key in stated if key not in differing} if is_whole else set()
    if faults := list(_untried(path, text, stated, own, same)):
        raise ConfigError(faults, next_step=_what_it_holds())
    document = _merged(own, stated, is_whole=is_whole)
    folder = campaign.path.parent if campaign.number is None else campaign.out / INPUTS
    full, faults = with_shared(document, folder=folder, at=lambda *key: at(path, text, key))
    if faults:
        raise ConfigError(faults)
    try:
        tables = _RulesTables.model_validate(full)
    except ValidationError as fault:
        raise ConfigError(schema_faults(path, text, fault)) from fault
    file = CampaignFile(path=path, text=text, source_hash="", tables=tables)
    tried = with_rules_of(campaign, file)
    if tables.aggregates is not None:
        tried = replace(tried, task=replace(campaign.task, aggregates=_aggregates(file, campaign)))
    return TriedRules(campaign=tried, path=path, changed=tuple(_changed(own, document)))


def rules_as_toml(rules: Sequence[PolicyRule]) -> str:
    """Return rules as a file states them that replaces all rules of a campaign.

    >>> print(rules_as_toml([]), end="")
    [decisions]
    rule = []
    """
    return toml_document({"decisions": {"rule": [rule.as_table() for rule in rules]}})


def _what_it_holds() -> str:
    return (
        "the file may hold [heuristics], [decisions] with [[decisions.rule]], and "
        "[[aggregates]], or be a copy of the campaign file with these changed"
    )


def _untried(
    path: Path,
    text: str,
    stated: Mapping[str, Any],
    own: Mapping[str, Any],
    same: Collection[str],
) -> Iterator[str]:
    """Yield a sentence for each key that is not about judging, and not the same."""
    is_whole = not stated.keys().isdisjoint(_ASKED)
    for key, value in stated.items():
        if key in JUDGED or key in _FREE or key in same:
            continue
        where = at(path, text, (key,))
        if key not in CampaignTables.model_fields:
            yield f"{where}: no such table{did_you_mean(key, JUDGED) or '; it is not tried'}"
        elif key in _ASKED:
            was = f"is {_short(own[key])}" if key in own else "file names none"
            yield f"{where}: these rules are of another task: {_short(value)}; the campaign's {was}"
        elif not is_whole:
            yield f"{where}: is not about judging, so it cannot be tried on stored answers"
        else:
            yield f"{where}: differs from the campaign's, and the answers were given under that"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a part of a line


def _merged(own: Mapping[str, Any], stated: Mapping[str, Any], *, is_whole: bool) -> dict[str, Any]:
    """Return the campaign's document with the tables to try."""
    others = {key: value for key, value in own.items() if key not in JUDGED}
    if is_whole:
        return others | {key: stated[key] for key in JUDGED if key in stated}
    tables = {key: value for key, value in own.items() if key in JUDGED}
    tables |= {key: stated[key] for key in JUDGED if key in stated}
    for key in ("heuristics", "decisions"):
        before, now = own.get(key, {}), stated.get(key)
        if isinstance(before, dict) and isinstance(now, dict):
            tables[key] = {**before, **now}
    return others | tables


def _aggregates(file: CampaignFile, campaign: Campaign) -> tuple[Aggregate, ...]:
    tables = file.tables
    assert isinstance(tables, _RulesTables)  # noqa: S101 - as it was validated
    kinds: dict[str, object] = {field.name: field.kind for field in campaign.task.item_fields}
    listed = [table.model_dump() for table in tables.aggregates or ()]
    if faults := list(faults_of_aggregates({"aggregates": listed}, kinds)):
        known = ", ".join(kinds)
        raise ConfigError(
            [f"{file.path}: {fault}" for fault in faults],
            next_step=f"the fields of {campaign.task.name} are {known}",
        )
    return tuple(Aggregate(**table) for table in listed)


def _changed(own: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys that differ: a heuristic each, the rules, the decider, aggregates."""
    before, now = own.get("heuristics", {}), document.get("heuristics", {})
    for name in dict.fromkeys([*before, *now]):
        if before.get(name) != now.get(name):
            yield f"heuristics.{name}"
    then, new = own.get("decisions", {}), document.get("decisions", {})
    if then.get("rule", []) != new.get("rule", []):
        yield "decisions.rule"
    if then.get("by", "person") != new.get("by", "person"):
        yield "decisions.by"
    if "aggregates" in document:
        yield "aggregates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested:
    """Suggestions for a campaign's rules.

    Attributes:
        suggestions: for answers and workers, each with the source of what is known.
        toml: the file's text; "" if there is nothing better to suggest.
        page: the same for people.
    """

    suggestions: tuple[tuple[str, Suggestion], ...]
    toml: str
    page: SectionsPage

    def as_dict(self) -> dict[str, Any]:
        """Return everything as a JSON document has it."""
        return {
            "toml": self.toml,
            "suggestions": [
                {"source": source, **asdict(each)} for source, each in self.suggestions
            ],
        }


def suggest_rules(campaign: Campaign, into: Path, *, most_harmed: float) -> Suggested:
    """Suggest rules from what people decided, from gold, or from planted truth.

    Args:
        campaign: the campaign where its results are.
        into: the file to write; it must not exist.
        most_harmed: the share of good answers or workers that rules may harm.

    Raises:
        ConfigError: the file exists, or the campaign file has errors.
        StoreError: the campaign has no store, or the store is of another campaign.
    """
    if into.exists():
        raise ConfigError(
            [f"{into}: exists already"], next_step="name another file, or move this one away"
        )
    with open_to_look(campaign) as opened:
        suggestions = tuple(_suggestions(opened, most_harmed))
        toml = _toml(opened, campaign.path, into, suggestions, most_harmed)
        page = _page(opened, into if toml else None, suggestions, most_harmed)
    if toml:
        write_new(into, toml)
    return Suggested(suggestions=suggestions, toml=toml, page=page)


def _suggestions(opened: OpenedCampaign, most_harmed: float) -> Iterator[tuple[str, Suggestion]]:
    """Yield what is suggested by the first source that knows enough about each kind."""
    campaign, suggested = opened.campaign, list[Suggestion]()
    answers = opened.answers()
    rated = with_ratings(answers, campaign.task, campaign.items)
    truths = truths_of(opened, answers)
    for kind in ("answer", "worker"):
        tried: list[tuple[Truth, Suggestion]] = []
        for truth in truths:
            if truth.kind != kind:
                continue
            suggestion = suggest(
                rated,
                kind=truth.kind,
                is_bad=truth.is_bad,
                campaign=OwnRules(
                    rules=campaign.policy,
                    settings=campaign.heuristics,
                    stated=stated_settings(campaign),
                    seed=campaign.rehearsal.seed,
                    earlier=suggested,
                ),
                most_harmed=most_harmed,
            )
            tried.append((truth, suggestion))
            if not suggestion.too_few:
                break
        for truth, suggestion in tried[-1:]:
            suggested.append(suggestion)
            yield truth.source, suggestion


def stated_settings(campaign: Campaign) -> Settings:
    """Return the parameters that task and campaign file state.

    The campaign's own also have the texts of programs from the file that `[machine]` names.
    """
    tables = tomllib.loads(campaign.inputs.text).get("heuristics", {})
    return {**campaign.task.heuristics, **{name: own or {} for name, own in tables.items()}}


def _toml(
    opened: OpenedCampaign,
    path: Path,
    into: Path,
    suggestions: Sequence[tuple[str, Suggestion]],
    most_harmed: float,
) -> str:
    """Return the file, or "" if the campaign's own rules are as good."""
    policy = opened.campaign.policy
    stated = [each for _, each in suggestions if not each.too_few]
    kinds = {each.kind for each in stated}
    kept = {place for each in stated for place in each.kept}
    rules = [
        rule for place, rule in enumerate(policy) if rule.subject_kind not in kinds or place in kept
    ]
    rules += [rule for each in stated for rule in each.added]
    if tuple(rules) == policy:
        return ""
    settings = {name: values for each in stated for name, values in each.settings.items()}
    lines = [
        f"# Rules suggested for {opened.campaign.name}. Nothing uses them until you copy them.",
        "# What they would change:",
        f"#   piecework compare {shell_word(path.name)} --rules {shell_word(into.name)}",
        f"# At most {share(most_harmed, 1)} of what is good may be harmed.",
        *(f"# {line}" for source, each in suggestions for line in _lines(source, each)),
    ]
    for name, values in settings.items():
        lines += ["", f"[heuristics.{name}]"]
        lines += [toml_line(key, value) for key, value in values.items()]
    return "\n".join(lines) + f"\n\n{rules_as_toml(rules)}"


def _lines(source: str, each: Suggestion) -> Iterator[str]:
    if each.too_few or each.own is None or each.held_out is None:
        yield f"{each.kind}s, by {source}: {each.too_few}."
        return
    yield (
        f"{each.kind}s, by {source}: own rules catch {_caught(each.own)} and harm "
        f"{_harmed(each.own)};"
    )
    yield (
        f"  rules chosen like these, on other workers: {_caught(each.held_out)} and "
        f"{_harmed(each.held_out)}."
    )


def _caught(tally: Tally | None) -> str:
    if tally is None:
        return NOTHING
    return f"{tally.caught} of {tally.bad} bad ({share(tally.caught, tally.bad)})"


def _harmed(tally: Tally | None) -> str:
    if tally is None:
        return NOTHING
    return f"{tally.harmed} of {tally.good} good ({share(tally.harmed, tally.good)})"


def _page(
    opened: OpenedCampaign,
    into: Path | None,
    suggestions: Sequence[tuple[str, Suggestion]],
    most_harmed: float,
) -> SectionsPage:
    rules = [(each.kind, rule, each) for _, each in suggestions for rule in each.added]
    return SectionsPage(
        source=opened.campaign.name,
        kicker="Suggested rules",
        purpose="Rules that agree best with what is known. Nothing uses them by itself.",
        key_figures=(
            KeyFigure(
                label="New rules",
                value=str(len(rules)),
                beside=f"harming at most {share(most_harmed, 1)} of what is good",
            ),
        ),
        notes=tuple(Note("watch", sentence) for sentence in _notes(into, suggestions)),
        sections=(
            Section(
                key="agreement",
                title="How well they agree",
                tables=(
                    table(
                        "Bad work caught, and good work harmed",
                        [pair for pair in suggestions if not pair[1].too_few],
                        text("Known from", lambda pair: f"{pair[0]}: {pair[1].kind}s"),
                        number("Own: caught", lambda pair: _caught(pair[1].own)),
                        number("harmed", lambda pair: _harmed(pair[1].own)),
                        number("Suggested: caught", lambda pair: _caught(pair[1].held_out)),
                        number("harmed", lambda pair: _harmed(pair[1].held_out)),
                        note="The suggested rules are judged on workers whom they were not "
                        f"chosen from: {FOLDS} times on a fifth of the workers. All answers "
                        "are judged as one batch.",
                        empty="Too little is known.",
                        is_wide=True,
                    ),
                ),
            ),
            Section(
                key="rules",
                title="The new rules",
                tables=(
                    table(
                        "In the order of what they add",
                        rules,
                        text("Rule", lambda row: _in_words(row[1])),
                        text(
                            "Parameters",
                            lambda row: (
                                ", ".join(
                                    f"{name}.{key} = {value}"
                                    for name in row[1].any_of
                                    for key, value in row[2].settings.get(name, {}).items()
                                )
                                or "the campaign's"
                            ),
                        ),
                        empty="There is no rule to add, so no file is written.",
                    ),
                ),
            ),
        ),
    )


def _in_words(rule: PolicyRule) -> str:
    joined = " and ".join(TITLES.get(name, name) for name in rule.any_of)
    what = joined or f"joined suspicion from {rule.suspicion_above}"
    of_answers = f", on {share(rule.share, 1)} of the answers" if rule.share else ""
    return f"{rule.then} the {rule.subject_kind}: {what}{of_answers}"


def _notes(into: Path | None, suggestions: Sequence[tuple[str, Suggestion]]) -> Iterator[str]:
    for source, each in suggestions:
        if each.too_few:
            yield f"{source}: {each.too_few}."
        elif source == "people":
            yield (
                "People decide mostly about what is flagged, so bad work that no heuristic "
                "flags does not count here; random_sample draws some."
            )
    if not suggestions:
        yield (
            "too few decisions to say: no person has decided anything yet, no item has a known "
            "answer, and no worker was planted."
        )
    elif into is None and any(not each.too_few for _, each in suggestions):
        kinds = plural(len(suggestions), "kind of subject", "kinds of subjects")
        yield f"The campaign's own rules agree as well as any that were tried, for {kinds}."
