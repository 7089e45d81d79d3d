"""What answering as Amazon's hosts takes, and what a program must be told.

A program with a hard-coded endpoint asks for the host of the service that has closed.
Through the proxy it gets this marketplace instead, and can get nothing else.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

HOSTS = (
    "mturk-requester.us-east-1.amazonaws.com",
    "mturk-requester-sandbox.us-east-1.amazonaws.com",
)
"""Production and sandbox; here they are one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsProxy:
    """What a marketplace needs to answer as `HOSTS`.

    Attributes:
        authority: certificate of the private authority, for programs to trust.
        certificate: key and certificate of the hosts, in one PEM file.
        port: of the TLS listener, on loopback; 0 takes a free one.
        proxy_port: of the CONNECT proxy, on loopback; 0 takes a free one.
    """

    authority: Path
    certificate: Path
    port: int = 0
    proxy_port: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningAwsProxy:
    """An AWS proxy that answers.

    Attributes:
        authority: certificate of the private authority, for programs to trust.
        proxy_url: what programs take for their proxy.
        tls_port: where the proxy leads to.
    """

    authority: Path
    proxy_url: str
    tls_port: int

    def environment(self) -> dict[str, str]:
        """The variables that an unchanged program is to run with."""
        authority = str(self.authority)
        return {
            "HTTPS_PROXY": self.proxy_url,
            "https_proxy": self.proxy_url,
            # Plain HTTP has no business with these hosts; the proxy refuses it.
            "HTTP_PROXY": self.proxy_url,
            "http_proxy": self.proxy_url,
            "NO_PROXY": "localhost,127.0.0.1",
            "no_proxy": "localhost,127.0.0.1",
            "AWS_CA_BUNDLE": authority,
            "REQUESTS_CA_BUNDLE": authority,
            "CURL_CA_BUNDLE": authority,
            "SSL_CERT_FILE": authority,
            "NODE_EXTRA_CA_CERTS": authority,
            "NODE_USE_ENV_PROXY": "1",
        }

    def lines(self) -> list[str]:
        """The same for a shell."""
        return [
            f"export {name}={shlex.quote(value)}"
            for name, value in self.environment().items()
        ]
