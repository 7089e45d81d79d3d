"""Settings that are allowed but probably not meant: wages, caps, crowds, policies.

A campaign with warnings may begin; forbidden settings are errors, reported elsewhere.
"""

from collections.abc import Iterator
from pathlib import Path

from piecework.campaign.dealing import deal
from piecework.campaign.out_of_reach import rules_out_of_reach
from piecework.campaign.own_page_warnings import own_page_warnings
from piecework.campaign.pricing import Price, expected_out_of_reach
from piecework.domain.campaign import Campaign
from piecework.domain.counts import plural
from piecework.domain.hit import PROLIFIC
from piecework.qc.heuristics import gold_failed
from piecework.qc.registry import params_of

_HOUR = 3600
_ONE_IN_TWO = 0.5
"""Expected number of missing answers from which a warning is given."""


def campaign_warnings(campaign: Campaign, price: Price) -> list[str]:
    """Return each warning as a sentence with the key that it is about.

    Args:
        campaign: as it was read.
        price: what it costs.
    """
    return [
        *_about_title(campaign),
        *own_page_warnings(campaign),
        *_about_pay(campaign),
        *_about_time(campaign),
        *_about_crowd(campaign),
        *_about_most(campaign),
        *_about_limit(campaign),
        *_about_markets(campaign),
        *_about_policy(campaign),
        *_about_gold(campaign),
        *rules_out_of_reach(campaign),
        *_about_cap(campaign, price),
    ]


def own_seconds(campaign: Campaign) -> float:
    """Return the seconds for a HIT at the task's own pace, as in rehearsals."""
    return campaign.task.seconds_of_hit(campaign.posting.items_per_hit)


def _about_title(campaign: Campaign) -> Iterator[str]:
    own = campaign.task.own
    is_page = campaign.task.html_page is not None
    if is_page and own is not None and campaign.title == Path(own.path).stem:
        yield (
            f"posting.title is not stated and the page has no <title>: workers see "
            f"{campaign.title!r}, the name of the file, as the title of the HIT"
        )


def _about_pay(campaign: Campaign) -> Iterator[str]:
    rewards = campaign.rewards
    floor = rewards.wage_floor_cents_per_hour
    if not floor:
        yield ("rewards.wage_floor_per_hour is 0: no bonuses will be paid to slow workers")
        return
    if rewards.expected_seconds is not None:
        return  # the price includes the bonus that reaches the floor
    seconds = own_seconds(campaign)
    hourly = int(rewards.reward_cents * _HOUR / seconds)
    pace = (
        f"at the task's own pace ({campaign.task.seconds_to_begin:g} s to "
        f"begin, {campaign.task.seconds_per_item:g} s per item, "
        f"{seconds / 60:.1f} minutes per HIT) the reward pays {rewards.shown(hourly)} "
        f"an hour; the floor is {rewards.shown(floor)}"
    )
    if hourly < floor:
        yield f"{pace}: raise rewards.reward, or expect to pay bonuses up to the floor"
    yield (
        "bonuses are not priced: state rewards.expected_minutes "
        f"({seconds / 60:.1f} by the task's own pace), better from a pilot"
    )


def _about_time(campaign: Campaign) -> Iterator[str]:
    seconds, allowed = own_seconds(campaign), campaign.posting
    if seconds > allowed.assignment_duration_seconds:
        minutes = allowed.assignment_duration_seconds / 60
        yield (
            f"posting.assignment_minutes is {minutes:g}, but a HIT takes "
            f"{seconds / 60:.1f} at the task's own pace: about half of the workers "
            "will run out of time"
        )
    expected = campaign.rewards.expected_seconds
    if expected is not None and expected * 2 < seconds:
        yield (
            f"rewards.expected_minutes is {expected / 60:g}, but the task's own pace "
            f"gives {seconds / 60:.1f}: bonuses may cost more than the estimate"
        )


def _about_crowd(campaign: Campaign) -> Iterator[str]:
    crowd, wanted = campaign.crowd_size, campaign.posting.assignments
    lost = expected_out_of_reach(campaign)
    if crowd is not None and lost >= _ONE_IN_TWO:
        loss = f"{float(campaign.rewards.expected_loss):.0%} of answers lost"
        yield (
            f"requirements.workers: {crowd} workers cannot give {wanted} answers each "
            f"with {loss}; about {lost:.0f} will stay missing"
        )


def _about_limit(campaign: Campaign) -> Iterator[str]:
    """Say if the limit leaves answers that no worker can give."""
    crowd, posting = campaign.crowd_size, campaign.posting
    if crowd is None:
        return
    if campaign.growth is None:
        batch = max((len(items) for items in deal(campaign)), default=0)
        kinds = [
            ("", campaign.most_per_worker, len(campaign.items), "the campaign needs"),
            ("_per_batch", campaign.most_in_batch, batch, "the largest batch needs"),
        ]
    else:
        batch = campaign.growth.batch_size
        kinds = [("_per_batch", campaign.most_in_batch, batch, "a full batch needs")]
    for key, most, items, needs in kinds:
        hits = -(-items // posting.items_per_hit) * posting.assignments
        if most is not None and crowd * most < hits:
            workers, each = plural(crowd, "worker"), plural(most, "HIT")
            yield (
                f"requirements.max_hits_per_worker{key}: {workers} with at most {each} "
                f"each do {crowd * most}, but {needs} {hits}"
            )


def _about_markets(campaign: Campaign) -> Iterator[str]:
    crowds = campaign.crowds
    if crowds is None:
        return
    filters = [
        requirement
        for requirement in campaign.requirements
        if requirement.qualification_type_id.startswith(PROLIFIC)
    ]
    if (filters or campaign.recruiting) and "prolific" not in crowds.markets:
        yield (
            "requirements.prolific has no effect: [crowds] names only "
            f"{' and '.join(crowds.markets)}"
        )
    is_whole = campaign.posting.batches == 1 and campaign.growth is None
    if len(crowds.cheapest) > 1 and is_whole:
        yield (
            "crowds.cheapest: with posting.batches = 1 the cheapest market gets every "
            "HIT before its pace is known; only replacements may go to others"
        )


def _about_most(campaign: Campaign) -> Iterator[str]:
    posting, crowd = campaign.posting, campaign.crowd_size
    if crowd is not None and posting.assignments <= crowd < posting.most:
        yield (
            f"requirements.workers: {crowd} workers cannot give {posting.most} answers "
            "each, which posting.assignments asks for unsure items"
        )


def _about_policy(campaign: Campaign) -> Iterator[str]:
    if any(rule.then in {"drop", "reject"} for rule in campaign.policy):
        return
    if campaign.decided_by == "policy":
        yield (
            "decisions: no [[decisions.rule]] drops or rejects answers, so every "
            "answer becomes part of the dataset"
        )
    else:
        yield (
            "decisions: no [[decisions.rule]] proposes to drop answers: a person "
            "decides about everything that heuristics flag, and a rehearsal keeps it"
        )


def _about_gold(campaign: Campaign) -> Iterator[str]:
    """Warn if pay depends on so few known answers that one slip or error decides."""
    least = params_of(gold_failed, campaign.heuristics, seed=0).min_items
    usual = gold_failed.Params().min_items
    rejects = any(
        rule.then == "reject" and rule.at_least == 1 and gold_failed.NAME in rule.any_of
        for rule in campaign.policy
    )
    if rejects and least < usual:
        yield (
            f"heuristics.gold_failed.min_items is {least}, and a rule rejects by it: "
            f"with fewer than {usual} known answers, one slip or one wrong known "
            "answer may cost a worker their pay"
        )


def _about_cap(campaign: Campaign, price: Price) -> Iterator[str]:
    lacking = price.expected - price.cap
    if lacking > 0:
        shown = campaign.rewards.shown(lacking)
        yield (f"rewards.budget is {shown} below the expected cost: some answers will stay missing")
    elif price.expected_at_most > price.cap:
        shown = campaign.rewards.shown(price.expected_at_most - price.cap)
        yield (
            f"rewards.budget is {shown} below the cost of {campaign.posting.most} "
            "answers per item: some labels may stay unsure"
        )
