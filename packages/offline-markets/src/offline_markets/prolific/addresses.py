"""Where a participant works: the study's own page, one of several, or Prolific's."""

from offline_markets.prolific.beyond import allocations, uploads
from offline_markets.prolific.beyond.task_builder import hosting
from offline_markets.prolific.call import Call
from offline_markets.prolific.study import Study
from offline_markets.prolific.submission import Submission


def work_address(call: Call, study: Study, submission: Submission) -> str:
    """Return the address of a submission's work, with its placeholders filled in."""
    if hosting.is_hosted(study):
        person = f"/emulator/participants/{submission.participant_id}"
        return f"{call.origin}{person}/submissions/{submission.submission_id}/tasks"
    if study.fields.get("access_details"):
        page = allocations.page_of(call.state, submission.submission_id)
        return _filled(page, submission)
    address = _filled(str(study.fields["external_study_url"]), submission)
    if study.fields.get("is_external_study_url_secure"):
        return uploads.signed(call.state, address, study, submission.submission_id)
    return address


def _filled(address: str, submission: Submission) -> str:
    for name, value in (
        ("PROLIFIC_PID", submission.participant_id),
        ("STUDY_ID", submission.study_id),
        ("SESSION_ID", submission.submission_id),
    ):
        address = address.replace("{{%" + name + "%}}", value)
    return address
