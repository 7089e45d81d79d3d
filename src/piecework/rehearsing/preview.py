"""A campaign's first HITs on a marketplace for one person, who looks at them.

Nothing is kept: store, marketplace and pictures live in a folder that goes away.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.clock import SystemClock
from piecework.domain.qualification import QualificationTest
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.passes import post
from piecework.engine.posting.qualification_test import post_test
from piecework.marketplace.http.server import serve
from piecework.rehearsal.crowd.preview_worker import first_hit_url
from piecework.rehearsing.campaign import draw_pictures, items_with_pictures
from piecework.rehearsing.marketplace import assumed_prices


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewAddresses:
    """Where a preview is looked at.

    Attributes:
        hit: signs the person in and shows the first HIT.
        test: the qualification test, for the person who is signed in; "" without one.
    """

    hit: str
    test: str


@contextmanager
def serve_preview(campaign: Campaign, *, port: int = 0) -> Iterator[PreviewAddresses]:
    """A marketplace with the campaign's first batch, and its test; where to look."""
    with tempfile.TemporaryDirectory(prefix="piecework-preview-") as folder:
        out = Path(folder)
        pictures = campaign.pictures
        if campaign.rehearsal.scenes:
            draw_pictures(out, campaign.rehearsal.seed, items_with_pictures(campaign))
            pictures = out / "pictures"
        # The person gets in, whatever the campaign asks of workers; its test too is
        # there to be looked at, and the HITs do not require it.
        open_to_all = replace(campaign, out=out, requirements=(), qualification=None)
        clock = SystemClock()
        with (
            serve(
                out / "marketplace.db",
                rehearsal=True,
                seed=1,
                clock_runs=True,
                prices=assumed_prices(campaign),
                pictures=pictures,
                port=port,
                frames_port=port + 1 if port else 0,
            ) as running,
            open_for_rehearsal(open_to_all, running.endpoint_url, clock) as run,
        ):
            post(run)
            yield PreviewAddresses(
                hit=first_hit_url(running.endpoint_url),
                test=_test_url(run, campaign.qualification),
            )


def _test_url(run: CampaignRun, test: QualificationTest | None) -> str:
    if test is None:
        return ""
    return f"{run.endpoint}/worker/qualifications/{post_test(run, test)}/test"
