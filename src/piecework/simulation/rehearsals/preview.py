"""A campaign's first HITs on a marketplace for one person to look at.

Store, marketplace and pictures are in a temporary folder, which is deleted at the end.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.clock import SystemClock
from piecework.domain.qualifications import QualificationTest
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.requirements import post_test
from piecework.engine.run_pass import post
from piecework.marketplace.http.server import Marketplace, serve
from piecework.simulation.crowd.people import first_hit_url
from piecework.simulation.rehearsals.campaign import draw_pictures, items_with_pictures
from piecework.simulation.rehearsals.marketplace import assumed_prices


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewAddresses:
    """The URLs of a preview.

    Attributes:
        hit: signs the person in and shows the first HIT.
        test: the qualification test, for the signed-in person; "" without one.
    """

    hit: str
    test: str


@contextmanager
def serve_preview(campaign: Campaign, *, port: int = 0) -> Iterator[PreviewAddresses]:
    """Serve a marketplace with the campaign's first batch and test; yield its URLs."""
    with tempfile.TemporaryDirectory(prefix="piecework-preview-") as folder:
        out = Path(folder)
        pictures = campaign.pictures_address
        if campaign.rehearsal.scenes:
            draw_pictures(out, campaign.rehearsal.seed, items_with_pictures(campaign))
            pictures = str(out / "pictures")
        # The person may work without the campaign's requirements, and look at its test
        # without having to pass it.
        open_to_all = replace(campaign, out=out, store_url="", requirements=(), qualification=None)
        clock = SystemClock()
        with (
            serve(
                Marketplace(
                    out / "marketplace.db",
                    rehearsal=True,
                    seed=1,
                    clock_runs=True,
                    prices=assumed_prices(campaign),
                    pictures=pictures,
                    port=port,
                    frames_port=port + 1 if port else 0,
                )
            ) as running,
            open_for_rehearsal(open_to_all, running.endpoint_url, clock) as run,
        ):
            post(run)
            yield PreviewAddresses(
                hit=first_hit_url(running.endpoint_url), test=_test_url(run, campaign.qualification)
            )


def _test_url(run: CampaignRun, test: QualificationTest | None) -> str:
    if test is None:
        return ""
    return f"{run.endpoint}/worker/qualifications/{post_test(run, test)}/test"
