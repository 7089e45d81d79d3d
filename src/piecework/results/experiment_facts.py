"""What the report says about an experiment with the page: a row for each text."""

import numpy as np
import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.experiment import Arm
from piecework.qc.heuristics import not_typed
from piecework.qc.plain_text import word_counts
from piecework.report.facts import PageExperiment
from piecework.store import findings, hits


def experiment_facts(opened: OpenedCampaign) -> PageExperiment | None:
    """Return the texts by arm; `None` if no HIT has an arm.

    The arms are those that HITs were posted with, even if the campaign file states
    others by now.
    """
    arms = {str(hit): Arm.from_text(arm) for hit, arm in hits.arms(opened.store).items()}
    if not arms:
        return None
    table = opened.answers()
    own = table[table["hit_id"].isin(list(arms))]
    own = own[(own["text"].str.strip() != "") & ~own["is_canned"]]
    flagged = findings.flagged_by(opened.store, not_typed.NAME)
    of_text = [arms[hit] for hit in own["hit_id"].tolist()]
    seconds = own["shown_seconds"].to_numpy()
    texts = pd.DataFrame(
        {
            "hit": own["hit_id"].to_numpy(),
            "worker": own["worker_id"].map(opened.pseudonym).to_numpy(),
            "wording": [arm.wording for arm in of_text],
            "paste": [arm.paste for arm in of_text],
            "is_flagged": own.index.isin(list(flagged)),
            "words": word_counts(own["text"]),
            "seconds": np.where(seconds > 0, seconds, np.nan),
        }
    )
    stated = opened.campaign.experiment
    arms_there = sorted(set(arms.values()), key=Arm.as_text)
    wordings = [*(stated.wordings if stated else ()), *(a.wording for a in arms_there)]
    pastes = [*(stated.pastes if stated else ()), *(a.paste for a in arms_there)]
    return PageExperiment(
        wordings=tuple(dict.fromkeys(wordings)),
        pastes=tuple(dict.fromkeys(pastes)),
        texts=texts,
        records_typing=opened.campaign.posting.records_typing,
    )
