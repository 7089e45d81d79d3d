"""What the report says about earned qualifications: every change, by pseudonym."""

from piecework.campaign.opened import OpenedCampaign
from piecework.engine.earn import records_of
from piecework.report.facts import Earned, EarnedChange


def earned_facts(opened: OpenedCampaign) -> tuple[Earned, ...]:
    """Return the qualifications that the campaign states, with all their changes."""
    facts = []
    for rule in opened.campaign.earned:
        with records_of(opened, rule) as records:
            facts.append(
                Earned(
                    name=rule.name,
                    agreement=rule.agreement,
                    over=rule.over,
                    revoke_below=rule.revoke_below,
                    forget_days=rule.forget_days,
                    holders=len(records.holdings(rule.name)),
                    changes=tuple(
                        EarnedChange(
                            worker=opened.pseudonym(change.worker_id),
                            is_grant=change.change == "grant",
                            at=change.decided_at,
                            by=change.decided_by,
                            items=change.share.items,
                            agreed=change.share.agreed,
                            first=change.share.first,
                            last=change.share.last,
                        )
                        for change in records.changes(rule.name)
                    ),
                )
            )
    return tuple(facts)
