"""What other rules would have done, for the report: three sets of rules, a page for each.

No rules at all and rules under which every flag counts are the two ends; between them are
the campaign's own rules without the heuristic that set most answers aside. Each is a
file of rules and a page beside the report, as `piecework compare --rules` shows them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import Campaign
from piecework.domain.text import count
from piecework.domain.verdicts import RANDOM_SAMPLE, PolicyRule
from piecework.qc.registry import BY_NAME, TITLES
from piecework.report.model import ReportModel
from piecework.report.page import render_sections
from piecework.report.sections.other_sources import OtherRules, RulesOutcome
from piecework.results.comparing.comparison import RulesComparison, Side, compare_with_each
from piecework.results.comparing.page import comparison_page
from piecework.results.comparing.rules_file import TriedRules, rules_as_toml
from piecework.results.table import hidden_ids
from piecework.store.files import write_whole_text

FOLDER = "other-rules"

MOST_ANSWERS = 50_000
"""With more, judging everything again would delay the report (ours)."""

_NONE, _WITHOUT, _EVERY = "no-rules", "without-heuristic", "every-flag"
"""Names of the files, without their suffixes."""

_TRUTHS = ("planted workers: answers", "known answers: answers", "people: answers")
"""What is known about answers; the first that a campaign has is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Alternative:
    """Other rules: the name of their file without its suffix, and a name for people."""

    key: str
    name: str
    rules: tuple[PolicyRule, ...]


def write_other_rules(opened: OpenedCampaign, model: ReportModel) -> OtherRules | None:
    """Write a file and a page of each set of rules beside the report; return the figures.

    Args:
        opened: the campaign, whose store is only read.
        model: of its report.
    """
    campaign, folder = opened.campaign, opened.campaign.out / FOLDER
    for key in (_NONE, _WITHOUT, _EVERY):
        for suffix in ("toml", "html"):
            (folder / f"{key}.{suffix}").unlink(missing_ok=True)
    if len(model.came) > MOST_ANSWERS:
        return OtherRules(
            outcomes=(),
            sentence=f"With more than {count(MOST_ANSWERS)} answers, other rules are only tried "
            f"on request: `piecework compare {campaign.path.name} --rules FILE`.",
        )
    alternatives = [*_alternatives(campaign, model)]
    if not alternatives or model.came.empty:
        return None
    tried = []
    for each in alternatives:
        path = folder / f"{each.key}.toml"
        write_whole_text(path, f"# {each.name}, to compare.\n{rules_as_toml(each.rules)}")
        others = replace(campaign, policy=each.rules)
        tried.append(TriedRules(campaign=others, path=path, changed=("decisions.rule",)))
    compared = compare_with_each(opened, tried)
    ids = hidden_ids(opened)
    for each, comparison in zip(alternatives, compared, strict=True):
        page = render_sections(comparison_page(comparison))
        write_whole_text(folder / f"{each.key}.html", ids.everywhere(page))
    return _figures(alternatives, compared)


def _alternatives(campaign: Campaign, model: ReportModel) -> Iterator[_Alternative]:
    own = campaign.policy
    if own:
        yield _Alternative(key=_NONE, name="No rules", rules=())
    if acted := _acted_most(campaign, model):
        yield _Alternative(
            key=_WITHOUT,
            name=f"Without “{TITLES.get(acted, acted)}”",
            rules=tuple(_without(own, acted)),
        )
    # What has flagged nothing adds nothing, and would only cost time.
    names = sorted((BY_NAME.keys() & set(model.flags.columns)) - {RANDOM_SAMPLE})
    if not names:
        return
    every = PolicyRule(
        subject_kind="answer", any_of=tuple(names), then="drop", because="Set aside: {evidence}."
    )
    yield _Alternative(key=_EVERY, name="Every flag counts", rules=(*own, every))


def _acted_most(campaign: Campaign, model: ReportModel) -> str:
    """Return the heuristic of the rules that flags most of what is set aside; "" for none."""
    outcomes = model.outcomes
    out = outcomes.index[outcomes.isin(["dropped", "rejected"])]
    named = {name for rule in campaign.policy for name in rule.any_of}
    flags = model.flags.loc[out, sorted(named & set(model.flags.columns))].sum()
    return str(flags.idxmax()) if len(flags) and flags.max() else ""


def _without(rules: tuple[PolicyRule, ...], heuristic: str) -> Iterator[PolicyRule]:
    for rule in rules:
        left = tuple(name for name in rule.any_of if name != heuristic)
        # A rule that needs more heuristics than are left can no longer apply.
        if left == rule.any_of or len(set(left)) >= rule.at_least:
            yield replace(rule, any_of=left)


def _figures(alternatives: list[_Alternative], compared: list[RulesComparison]) -> OtherRules:
    first = compared[0]
    return OtherRules(
        outcomes=(
            _outcome("The campaign's own", "", first.before, first, labels=0),
            *(
                _outcome(
                    each.name,
                    f"{FOLDER}/{each.key}.html",
                    comparison.after,
                    comparison,
                    labels=len(comparison.labels),
                )
                for each, comparison in zip(alternatives, compared, strict=True)
            ),
        ),
        has_labels=bool(first.n_labels),
        truth=next((truth for truth in _TRUTHS if truth in first.before.agreements), ""),
        sentence="The stored answers were judged again, batch by batch, by the campaign's rules "
        "as its file says now and by others. What people decided since does not count. "
        f"Rules of your own: `piecework compare {first.campaign.path.name} --rules FILE`.",
    )


def _outcome(
    name: str, page: str, side: Side, compared: RulesComparison, *, labels: int
) -> RulesOutcome:
    known = next((side.agreements[truth] for truth in _TRUTHS if truth in side.agreements), None)
    campaign = compared.campaign
    return RulesOutcome(
        name=name,
        page=page,
        kept=side.verdicts["keep"],
        dropped=side.verdicts["drop"],
        absent=side.verdicts["absent"],
        excluded=side.excluded,
        rejected=side.rejected,
        paid=campaign.rewards.shown(side.paid_cents) if campaign.imported is None else "",
        labels=labels,
        bad_out=f"{count(known.caught)} of {count(known.bad)}" if known else "",
        good_out=f"{count(known.harmed)} of {count(known.good)}" if known else "",
    )
