"""What all tests share: patience (a slow machine is no fault), and one Chromium."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import HealthCheck, Phase, settings
from playwright.sync_api import Browser, expect, sync_playwright

from tests.postgres_server import installed_initdb, running_postgres
from tests.read_once import read_once
from tests.stores import url_of

read_once()
expect.set_options(timeout=15_000)
# Five seconds, httpx's default, are no promise of ours: a loaded machine takes longer.
DEFAULT_TIMEOUT_CONFIG.read = DEFAULT_TIMEOUT_CONFIG.connect = 60.0

# For `make test-full`: as many examples of each law as Hypothesis thinks right.
settings.register_profile(
    "thorough", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("patient", settings.get_profile("thorough"), max_examples=15)
# A landing must not depend on luck; new examples are looked for on people's machines.
settings.register_profile(
    "repeatable", settings.get_profile("patient"), derandomize=True
)
# For `make mutants`, to which any example that fails says enough.
settings.register_profile(
    "any_failure",
    settings.get_profile("repeatable"),
    phases=[Phase.explicit, Phase.generate],
)
# For `make quick`, which looks where something broke and not for what may break.
settings.register_profile("quick", settings.get_profile("patient"), max_examples=10)
settings.load_profile("repeatable" if os.environ.get("CI") else "patient")

SLOW = (
    "tests/analyses/test_ability.py",
    "tests/analyses/test_alpha.py",
    "tests/analyses/test_anova.py",
    "tests/analyses/test_bradley_terry.py",
    "tests/analyses/test_dawid_skene.py",
    "tests/analyses/test_kappa.py",
    "tests/analyses/test_majority.py",
    "tests/analyses/test_order.py",
    "tests/analyses/test_paired.py",
    "tests/analyses/test_published.py",
    "tests/analyses/test_ticks.py",
    "tests/backup/test_losses.py",
    "tests/backup/test_refusals.py",
    "tests/backup/test_restoring.py",
    "tests/backup/test_serving.py",
    "tests/bulk/test_campaigns_in_parts.py",
    "tests/bulk/test_partitions.py",
    "tests/campaign/test_caps.py",
    "tests/campaign/test_gold_items.py",
    "tests/campaign/test_own_page.py",
    "tests/campaign/test_own_task.py",
    "tests/campaign/test_prices.py",
    "tests/campaign/test_pricing.py",
    "tests/cli/test_connect_emulator.py",
    "tests/cli/test_consent_at_a_terminal.py",
    "tests/cli/test_describing.py",
    "tests/cli/test_errors.py",
    "tests/cli/test_init.py",
    "tests/cli/test_market_prices.py",
    "tests/cli/test_money.py",
    "tests/cli/test_page_sizes.py",
    "tests/cli/test_prefect_server.py",
    "tests/cli/test_prolific_emulator.py",
    "tests/cli/test_reach.py",
    "tests/cli/test_requesters.py",
    "tests/cli/test_serving.py",
    "tests/cli/test_settings.py",
    "tests/cli/test_shells.py",
    "tests/cli/test_store.py",
    "tests/clients",
    "tests/crash",
    "tests/end_to_end",
    "tests/engine/test_advancing.py",
    "tests/engine/test_as_needed.py",
    "tests/engine/test_changed_by_hand.py",
    "tests/engine/test_clock_set_back.py",
    "tests/engine/test_cost_of_a_pass.py",
    "tests/engine/test_damaged_store.py",
    "tests/engine/test_half_posted.py",
    "tests/engine/test_open_hits.py",
    "tests/engine/test_postgresql.py",
    "tests/engine/test_publishing.py",
    "tests/engine/test_qualification.py",
    "tests/engine/test_replacing.py",
    "tests/engine/test_settling.py",
    "tests/engine/test_several_markets.py",
    "tests/engine/test_small_crowd.py",
    "tests/engine/test_steps.py",
    "tests/engine/test_stop.py",
    "tests/engine/test_two_stores.py",
    "tests/engine/test_verify.py",
    "tests/engine/test_workers_by_hand.py",
    "tests/exchange",
    "tests/forecasting/test_forecasting.py",
    "tests/hit_templates/test_blank_page.py",
    "tests/hit_templates/test_starters.py",
    "tests/importing/test_analysing.py",
    "tests/importing/test_hidden_ids.py",
    "tests/importing/test_hostile.py",
    "tests/importing/test_imported_shared.py",
    "tests/importing/test_columns.py",
    "tests/importing/test_importing.py",
    "tests/importing/test_parquet_size.py",
    "tests/journeys",
    "tests/library/test_rehearsed.py",
    "tests/live",
    "tests/marketplace/test_admission.py",
    "tests/marketplace/test_answers.py",
    "tests/marketplace/test_assignments.py",
    "tests/marketplace/test_aws_proxy.py",
    "tests/marketplace/test_backlog.py",
    "tests/marketplace/test_child_process.py",
    "tests/marketplace/test_cost_by_size.py",
    "tests/marketplace/test_database_file.py",
    "tests/marketplace/test_durability.py",
    "tests/marketplace/test_fuzz.py",
    "tests/marketplace/test_hit_life.py",
    "tests/marketplace/test_hostile.py",
    "tests/marketplace/test_hosts.py",
    "tests/marketplace/test_idle_connections.py",
    "tests/marketplace/test_invitations.py",
    "tests/marketplace/test_kept_apart.py",
    "tests/marketplace/test_layouts.py",
    "tests/marketplace/test_locked_database.py",
    "tests/marketplace/test_life_laws.py",
    "tests/marketplace/test_money_laws.py",
    "tests/marketplace/test_notifications.py",
    "tests/marketplace/test_open_links.py",
    "tests/marketplace/test_paging.py",
    "tests/marketplace/test_prices.py",
    "tests/marketplace/test_qualification_tests.py",
    "tests/marketplace/test_qualifications.py",
    "tests/marketplace/test_rehearsal_control.py",
    "tests/marketplace/test_review_policies.py",
    "tests/marketplace/test_worker_pages.py",
    "tests/payments/test_captive_portal.py",
    "tests/payments/test_pay.py",
    "tests/payments/test_unreject.py",
    "tests/platforms/test_listing.py",
    "tests/platforms/test_outage.py",
    "tests/platforms/test_strangers.py",
    "tests/postprocess/datasets/test_csv_file.py",
    "tests/postprocess/datasets/test_files.py",
    "tests/postprocess/datasets/test_reading.py",
    "tests/postprocess/language/test_language.py",
    "tests/postprocess/rules/test_spelling.py",
    "tests/postprocess/test_apply.py",
    "tests/postprocess/test_participants.py",
    "tests/postprocess/test_spelling_shared.py",
    "tests/prolific/bridge",
    "tests/prolific/test_operations.py",
    "tests/prolific/test_outcomes.py",
    "tests/qc/test_joined.py",
    "tests/qc/test_laws.py",
    "tests/qc/test_pages.py",
    "tests/qc/test_real_data.py",
    "tests/qc/test_registry.py",
    "tests/qc/test_silence.py",
    "tests/qc/test_times.py",
    "tests/qc/test_truth.py",
    "tests/qc/test_two_phases.py",
    "tests/rehearsal/prolific",
    "tests/rehearsal/test_crowd.py",
    "tests/rehearsal/test_people.py",
    "tests/rehearsal/test_replay.py",
    "tests/rehearsal/test_scenes.py",
    "tests/rehearsing/test_between_passes.py",
    "tests/rehearsing/test_drawn_truth.py",
    "tests/rehearsing/test_rehearse.py",
    "tests/rehearsing/test_rehearse_prolific.py",
    "tests/report/campaign/test_conditions.py",
    "tests/report/campaign/test_hostile.py",
    "tests/report/campaign/test_items.py",
    "tests/report/campaign/test_judgement_sections.py",
    "tests/report/campaign/test_markdown.py",
    "tests/report/campaign/test_model.py",
    "tests/report/campaign/test_overview.py",
    "tests/report/campaign/test_page.py",
    "tests/report/campaign/test_plots_tell_the_truth.py",
    "tests/report/campaign/test_sections.py",
    "tests/report/corpus/metrics/test_metrics.py",
    "tests/report/corpus/test_page.py",
    "tests/report/corpus/test_shared.py",
    "tests/results/test_batch_results.py",
    "tests/results/test_market_facts.py",
    "tests/results/test_pictures.py",
    "tests/results/test_what_was_sent.py",
    "tests/review",
    "tests/review/test_people_decide.py",
    "tests/review/test_reviewing.py",
    "tests/simulation",
    "tests/store/test_copying.py",
    "tests/store/test_opening.py",
    "tests/store/test_postgresql.py",
    "tests/store/test_running_totals.py",
)
"""Where tests cost most, as measured: whole campaigns, other programs, processes that
are killed, laws over many examples. `make quick` leaves them out."""

ROOT = Path(__file__).resolve().parents[1]
_SLOW = tuple(str(ROOT / slow) for slow in SLOW)

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def installed_chromium() -> str | None:
    """Path of Debian's headless shell, else of its whole chromium, else None."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave unread what is left out as slow: a quarter of the files, the heaviest."""
    is_left_out = "not slow" in config.option.markexpr
    return True if is_left_out and _is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies where tests are slow, and begin with the longest tests."""
    for item in items:
        if _is_slow(item.path):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.get_closest_marker("early") is None)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking at a million collected objects again."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _is_slow(path: Path) -> bool:
    return str(path).startswith(_SLOW)


def in_full(*cases: object) -> list[ParameterSet]:
    """Cases of a parametrized test for `make test-full` alone.

    A case with several values is a tuple, as elsewhere.
    """
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.full
        )
        for case in cases
    ]


@pytest.fixture(scope="session", autouse=True)
def _trusts_nothing_yet(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The list of trusted campaigns is the tests' own, not that of who runs them."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium without a window, for all tests of a process.

    One and not one a file: two of Playwright's synchronous kind cannot live together.
    """
    chromium = installed_chromium()
    if chromium is None:
        pytest.skip("chromium is not installed (tests/need_chromium.sh installs it)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def store_url(request: pytest.FixtureRequest) -> str:
    """The URL for a kind of store (`tests.stores.KINDS`); "" for a file."""
    return url_of(request)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a database of PostgreSQL, for all tests of a process."""
    initdb = installed_initdb()
    if initdb is None:
        pytest.skip("PostgreSQL is not installed")
    with running_postgres(initdb) as url:
        yield url
