"""Why a sign-in failed: a sentence for the page, and a word for logs."""


class SignInRefused(Exception):  # noqa: N818 - a refusal, not an error
    """A sign-in that did not succeed; the message is one sentence for the page.

    It repeats no code, token or text of a stranger.

    Attributes:
        kind: a word for logs.
        status: the HTTP status of the reply.
    """

    def __init__(self, sentence: str, *, kind: str, status: int = 403) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.status = status


class ProviderUnusable(SignInRefused):
    """The provider does not answer, or not as OpenID Connect prescribes."""

    def __init__(self, sentence: str, *, kind: str) -> None:
        super().__init__(sentence, kind=kind, status=502)


class WrongProvider(ProviderUnusable):
    """The provider answers, but the settings do not fit it; a restart is needed."""
