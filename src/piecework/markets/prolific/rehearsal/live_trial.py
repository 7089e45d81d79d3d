"""One visit of a campaign at Prolific, done by a test participant.

A marketplace of its own gets the HITs of one visit. The bridge drafts their study, and
is not allowed to publish it. Prolific is asked to publish a test of the draft to test
participants. When one of them has finished, everything that a real visit needs has been
tried: the link, the pages, the code, and the answers. What was made is then removed.

The marketplace's file stays in the campaign's output folder until the end, so that the
next call continues a killed one.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from piecework.campaign.dealing import all_first_rounds
from piecework.campaign.questions import question
from piecework.domain.campaign import Campaign
from piecework.domain.clock import SystemClock
from piecework.domain.errors import ConfigError
from piecework.domain.hit import HitType, PlannedHit
from piecework.domain.ids import HitId
from piecework.foundation.client.checks import Check, passed
from piecework.foundation.client.errors import ApiError, Lost, Refused
from piecework.hit_templates.answers import read_answers
from piecework.marketplace.http.options import Marketplace
from piecework.marketplace.http.server import serve
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend, Rules
from piecework.markets.bridging.accounts import settle_bridge
from piecework.markets.prolific.bridge.bridge import Bridge
from piecework.markets.prolific.bridge.recruiting import Recruiting, agreed_terms
from piecework.markets.prolific.bridge.serving import Office, office, step
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.resources.submissions import Submission
from piecework.platforms.endpoint import Credentials
from piecework.platforms.mturk import MTurk

FOLDER = "prolific-try"
_ENDED = "ended"
_LOOK_SECONDS = 2.0
_FINISHED = ("AWAITING REVIEW", "APPROVED")
_RECRUITING = ("PUBLISHING", "ACTIVE", "PAUSED")
_LIFETIME_SECONDS = 24 * 3600
_VISIT_SECONDS = 180
_ONLY_A_TEST = "This was a test of the study. Please return it."
_EMAIL, _TEST_STUDY, _DRAFT = "try: email", "try: study", "try: draft"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a trial needs to know.

    Attributes:
        address: the API's address.
        token: the account's token.
        workspace_id: "" if the account has only one.
        site_url: the trial's site, as the participant's browser reaches it.
        frames_url: the same for its question pages.
        port: the port of the site.
        frames_port: the port of the question pages.
        email: an address for a new test participant; "" uses one that exists.
        patience_seconds: how long to wait for the visit.
    """

    address: str
    token: Token
    workspace_id: str
    site_url: str
    frames_url: str
    port: int
    frames_port: int
    email: str = ""
    patience_seconds: float = 1800.0


class Trial:
    """A trial of one campaign.

    Args:
        campaign: the campaign.
        wanted: the account, the addresses and the patience.
        say: shows a sentence to the person who waits.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        campaign: Campaign,
        wanted: Wanted,
        *,
        say: Callable[[str], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._campaign, self._wanted = campaign, wanted
        self._say, self._sleep = say, sleep
        self._folder = campaign.out / FOLDER
        self._hits = _one_visit(campaign)

    def checks(self) -> Iterator[Check]:
        """Carry the trial out; yield what each part of it showed.

        It ends at the first part that fails. The test study is stopped in any case.

        Raises:
            ApiError: the account cannot be used, so nothing was created.
        """
        wanted = self._wanted
        terms = agreed_terms(
            _never_live(wanted.workspace_id, hits=len(self._hits)),
            wanted.address,
            wanted.token,
            site_url=wanted.site_url,
        )
        with ExitStack() as stack:
            opened = stack.enter_context(office(wanted.address, wanted.token, terms))
            yield from self._with_account(opened, stack)

    def _with_account(self, opened: Office, stack: ExitStack) -> Iterator[Check]:
        wanted = self._wanted
        if (self._folder / _ENDED).exists():
            shutil.rmtree(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        database = self._folder / "marketplace.db"
        running = stack.enter_context(
            serve(
                Marketplace(
                    database,
                    site_url=wanted.site_url,
                    frames_url=wanted.frames_url,
                    port=wanted.port,
                    frames_port=wanted.frames_port,
                    pictures=self._campaign.pictures_address,
                    crowds=(opened.crowd,),
                    prices=opened.prices,
                )
            )
        )
        hit_ids = self._post(database, opened, running.endpoint_url)
        bridge = stack.enter_context(opened.bridge(database, Rules()))
        settle_bridge(step, bridge)
        drafted = _drafted(bridge)
        yield drafted
        if drafted.level == "fail":
            return
        study_id = ""
        try:
            created = self._create_test(bridge)
            yield created[0]
            study_id = created[1]
            if study_id:
                yield from self._follow(bridge, study_id, hit_ids, running.endpoint_url)
        finally:
            removed = _remove(bridge, study_id)
            if removed.level == "ok":
                (self._folder / _ENDED).touch()  # The next trial begins from the start.
        yield removed
        if removed.level == "ok":
            stack.close()
            shutil.rmtree(self._folder)

    def _post(self, database: Path, opened: Office, endpoint: str) -> list[HitId]:
        """Post the HITs of a visit; the same call after a kill posts nothing again."""
        campaign = self._campaign
        cost = sum(hit.reward_cents for hit in self._hits) * 2
        with (
            closing(Backend(database, Rules(prices=opened.prices))) as backend,
            backend.transaction() as transaction,
        ):
            key = accounts.give_key(transaction, campaign.name, deposit_cents=cost)
        credentials = Credentials(access_key=key.access_key, secret_key=key.secret)
        platform = MTurk.with_keys(endpoint, credentials)
        posting = campaign.posting
        kind = platform.hit_type(
            HitType(
                title=campaign.title,
                description=campaign.description,
                keywords=campaign.keywords,
                reward_cents=self._hits[0].reward_cents,
                assignment_duration_seconds=posting.assignment_duration_seconds,
                auto_approval_delay_seconds=_LIFETIME_SECONDS,
                # The tester need not be a person for whom the campaign asks.
                requirements=(),
                expected_seconds=campaign.rewards.expected_seconds,
            )
        )
        items = {item.item_id: item for item in campaign.items}
        return [
            platform.publish(
                kind,
                question(campaign, hit, items),
                max_assignments=1,
                lifetime_seconds=_LIFETIME_SECONDS,
                annotation=f"try {number}",
                token=f"try {number}",
            )
            for number, hit in enumerate(self._hits)
        ]

    def _create_test(self, bridge: Bridge) -> tuple[Check, str]:
        """Return how Prolific took the test study, and its id; "" if refused."""
        name = "test study"
        try:
            self._make_participant(bridge)
            known = _setting(bridge, _TEST_STUDY)
            if known:
                return passed(name, f"{known} was created by an earlier call"), known
            draft = _study(bridge)["study_id"]
            _keep(bridge, _DRAFT, draft)
            study_id = _found_test(bridge) or self._ask_for_test(bridge, draft)
        except ApiError as fault:
            return (
                Check(
                    name=name,
                    level="fail",
                    sentence=str(fault),
                    next_step="the workspace needs the feature (ask Prolific's "
                    "support) and a test participant (--email creates one)",
                ),
                "",
            )
        _keep(bridge, _TEST_STUDY, study_id)
        is_copy = study_id != draft
        return (
            passed(
                name,
                f"{study_id}, {'a copy of' if is_copy else 'which is'} the "
                "draft, is published to test participants",
            ),
            study_id,
        )

    def _ask_for_test(self, bridge: Bridge, draft: str) -> str:
        test = bridge.prolific.testing.create_study(draft)
        if test.study_url:
            self._say(f"sign in to Prolific as a test participant: {test.study_url}")
        return test.study_id

    def _make_participant(self, bridge: Bridge) -> None:
        """Create the test participant, once for an address."""
        email = self._wanted.email
        if not email or _setting(bridge, _EMAIL) == email:
            return
        # Before the call: a second call for the same address is always refused.
        _keep(bridge, _EMAIL, email)
        try:
            made = bridge.prolific.testing.create_participant(email)
        except Lost:
            raise
        except Refused as refusal:
            if "regist" not in refusal.detail.lower():
                _keep(bridge, _EMAIL, "")
                raise
            self._say(f"{email} is registered already; sign in with it")
            return
        self._say(
            f"the test participant {made.participant_id} exists for {email}: reset the "
            "password at Prolific, then sign in with it"
        )

    def _follow(
        self, bridge: Bridge, study_id: str, hit_ids: list[HitId], endpoint: str
    ) -> Iterator[Check]:
        _register(bridge, study_id)
        self._say(
            f"waiting for the visit, at most {self._wanted.patience_seconds / 60:.0f} "
            "minutes; Ctrl-C ends the trial and stops the test study"
        )
        submission = self._finished(bridge, study_id)
        yield _arrived(_visits(bridge))
        if submission is None:
            yield Check(
                name="submission",
                level="fail",
                sentence="no test participant finished the visit in time",
                next_step="run the same command again",
            )
            return
        yield _submitted(submission, _study(bridge)["code"])
        yield self._answers(endpoint, hit_ids, bridge)
        yield _cost(bridge, study_id)
        yield _given_back(bridge, submission)

    def _finished(self, bridge: Bridge, study_id: str) -> Submission | None:
        """Wait for a finished submission."""
        waited = 0.0
        while waited <= self._wanted.patience_seconds:
            for each in bridge.prolific.submissions.of_study(study_id):
                if each.status in _FINISHED:
                    return each
            self._sleep(_LOOK_SECONDS)
            waited += _LOOK_SECONDS
        return None

    def _answers(self, endpoint: str, hit_ids: list[HitId], bridge: Bridge) -> Check:
        """Read the answers as a pass does."""
        with bridge.backend.transaction() as transaction:
            key = accounts.give_key(transaction, self._campaign.name)
        credentials = Credentials(access_key=key.access_key, secret_key=key.secret)
        platform = MTurk.with_keys(endpoint, credentials)
        columns = {item.item_id: item.columns for item in self._campaign.items}
        answers = [
            answer
            for hit, hit_id in zip(self._hits, hit_ids, strict=True)
            for assignment in platform.assignments({hit_id: 1})[hit_id]
            for answer in read_answers(
                self._campaign.task,
                assignment.assignment_id,
                hit.item_ids,
                assignment.fields,
                columns=columns,
            )
        ]
        wanted = sum(len(hit.item_ids) for hit in self._hits)
        if len(answers) == wanted:
            return passed("answers", f"{wanted} of {wanted} arrived and can be read")
        return Check(
            name="answers",
            level="fail",
            sentence=f"{len(answers)} of {wanted} answers arrived",
            next_step="open the study as a test participant once more",
        )


def _one_visit(campaign: Campaign) -> list[PlannedHit]:
    """Return the HITs of one visit: as many as fill a few minutes."""
    rounds = all_first_rounds(campaign, on=SystemClock().now().date())
    hits = [hit for round_hits in rounds for hit in round_hits]
    if not hits:
        raise ConfigError([f"{campaign.path}: the campaign has no HIT yet that can be tried"])
    seconds = campaign.rewards.expected_seconds or _VISIT_SECONDS
    return hits[: max(1, _VISIT_SECONDS // seconds)]


def _never_live(workspace_id: str, *, hits: int) -> Recruiting:
    return Recruiting(
        workspace_id=workspace_id,
        project_id="",
        is_live=False,
        spend_at_most_cents=0,
        hits_per_visit=hits,
        hit_seconds=0,
        visits_per_participant=1,
        settle_seconds=0,
        screening_cents=0,
        screen_out_cents=0,
    )


def _study(bridge: Bridge) -> dict[str, str]:
    with bridge.backend.transaction() as transaction:
        row = transaction.first_row("SELECT * FROM studies ORDER BY id LIMIT 1")
    return {} if row is None else {**dict(row)}


def _drafted(bridge: Bridge) -> Check:
    study = _study(bridge)
    if study.get("study_id"):
        return passed("draft", f"Prolific accepts the study ({study['study_id']})")
    trouble = study.get("trouble") or "; ".join(bridge.faults) or "no study was drafted"
    return Check(
        name="draft", level="fail", sentence=trouble, next_step="piecework market prolific doctor"
    )


def _found_test(bridge: Bridge) -> str:
    """Return the test study of an earlier call with a lost reply; "" if none."""
    draft = _study(bridge)
    if not draft:
        return ""
    for each in bridge.prolific.studies.of_project(bridge.terms.project_id):
        is_same = each.internal_name == draft["internal_name"]
        if is_same and each.id != draft["study_id"] and each.status in _RECRUITING:
            return each.id
    return ""


def _register(bridge: Bridge, study_id: str) -> None:
    """Let the site admit participants who come by the test study."""
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET study_id = ?, stage = 'Published', status = 'ACTIVE'", study_id
        )


def _remove(bridge: Bridge, study_id: str) -> Check:
    """Stop the test study and delete the draft."""
    draft = _setting(bridge, _DRAFT) or str(_study(bridge).get("study_id") or "")
    try:
        study_id = study_id or _found_test(bridge)  # Its reply may have been lost.
        if study_id:
            there = bridge.prolific.studies.get(study_id)
            if there.status in _RECRUITING:
                bridge.prolific.studies.transition(study_id, "STOP")
        if draft and bridge.prolific.studies.get(draft).status == "UNPUBLISHED":
            bridge.prolific.studies.delete(draft)
    except ApiError as fault:
        return Check(
            name="removed",
            level="warn",
            sentence=str(fault),
            next_step="stop the test study and delete its draft at Prolific",
        )
    return passed("removed", "the draft is deleted, and the test study is stopped")


def _setting(bridge: Bridge, name: str) -> str:
    with bridge.backend.transaction() as transaction:
        row = transaction.first_row("SELECT value FROM settings WHERE key = ?", name)
    return "" if row is None else str(row["value"])


def _keep(bridge: Bridge, name: str, value: str) -> None:
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "INSERT INTO settings (key, value) VALUES (?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            name,
            value,
        )


def _visits(bridge: Bridge) -> list[str]:
    """Return the stage of each visit."""
    with bridge.backend.transaction() as transaction:
        return [str(row["stage"]) for row in transaction.all("SELECT * FROM visits")]


def _arrived(stages: list[str]) -> Check:
    """Say whether the visit came and was done."""
    if "Done" in stages:
        return passed("visit", "the link opened the site, and every HIT was answered")
    if stages:
        return Check(
            name="visit",
            level="fail",
            sentence=f"the visit ended as {', '.join(stages)}",
            next_step="do every HIT, and enter the code that the last page shows",
        )
    return Check(
        name="visit",
        level="fail",
        sentence="no test participant opened the site by the study's link",
        next_step="piecework market prolific doctor --public-url URL",
    )


def _submitted(submission: Submission, code: str) -> Check:
    """Say whether the study's code arrived."""
    if submission.code in (code, None):
        return passed("submission", f"{submission.status}, with the study's code")
    return Check(
        name="submission",
        level="warn",
        sentence=f"{submission.status}, with a code that is not the study's",
    )


def _cost(bridge: Bridge, study_id: str) -> Check:
    """Say what Prolific states as the cost."""
    stated = bridge.prolific.studies.cost(study_id).rewards
    if not stated.minor:
        return passed("cost", "Prolific has charged nothing")
    return Check(
        name="cost",
        level="warn",
        sentence=f"Prolific states a cost of {stated} for the test study",
        next_step="look at the study at Prolific before you approve anything",
    )


def _given_back(bridge: Bridge, submission: Submission) -> Check:
    """End the submission unpaid: Prolific approves undecided ones after 21 days."""
    name = "given back"
    if submission.status == "APPROVED":
        return Check(name=name, level="warn", sentence="Prolific approved it by itself")
    try:
        bridge.prolific.submissions.transition(submission.id, "RETURN")
    except ApiError:
        try:
            bridge.prolific.submissions.request_return(submission.id, [_ONLY_A_TEST])
        except ApiError as fault:
            return Check(
                name=name,
                level="warn",
                sentence=str(fault),
                next_step="return the submission at Prolific, as the test participant",
            )
        return Check(
            name=name,
            level="warn",
            sentence="the test participant was asked to return the submission",
            next_step="return it within 21 days; Prolific may pay it otherwise",
        )
    return passed(name, "the submission is returned, so it is never paid")
