"""Test participants, and test studies for them, in workspaces that have the feature."""

from piecework.foundation.client.calls import Request, Value, checked_id, value_of
from piecework.foundation.client.transport import Transport


class TestParticipant(Value):
    """A participant of the researcher's own, who cannot cash out what they earn."""

    __test__ = False  # pytest collects classes with this name otherwise.

    participant_id: str


class TestStudy(Value):
    """A study published to test participants only.

    Attributes:
        study_id: its id; whether it is the draft's or a copy's is not documented.
        study_url: where a test participant opens it.
    """

    __test__ = False

    study_id: str
    study_url: str = ""


class Testing:
    """Operations on test participants and test studies."""

    __test__ = False

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def create_participant(self, email: str) -> TestParticipant:
        """Create a test participant for an address that Prolific does not know yet."""
        request = Request(method="POST", path="researchers/participants/", body={"email": email})
        return value_of(TestParticipant, self._call(request), request)

    def create_study(self, study_id: str) -> TestStudy:
        """Publish a draft to test participants only.

        Raises:
            Refused: the workspace lacks the feature, there is no test participant, or
                the study is no draft.
        """
        request = Request(method="POST", path=f"studies/{checked_id(study_id)}/test-study")
        return value_of(TestStudy, self._call(request), request)
