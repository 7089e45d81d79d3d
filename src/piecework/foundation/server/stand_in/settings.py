"""Settings for answering as the hosts of a service, and for programs that connect.

A program with a hard-coded endpoint connects to the host of the service. Through the
proxy it reaches this server instead, and no other host.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """The settings of a server that answers as other hosts.

    Attributes:
        hosts: the names of these hosts.
        authority: certificate of the private authority, for programs to trust.
        certificate: key and certificate of the hosts, in one PEM file.
        port: the TLS listener's port, on loopback; 0 takes a free one.
        proxy_port: of the CONNECT proxy, on loopback; 0 takes a free one.
    """

    hosts: tuple[str, ...]
    authority: Path
    certificate: Path
    port: int = 0
    proxy_port: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningStandIn:
    """A running proxy.

    Attributes:
        authority: certificate of the private authority, for programs to trust.
        proxy_url: the proxy URL for programs.
        tls_port: the port to which the proxy connects.
    """

    authority: Path
    proxy_url: str
    tls_port: int

    def environment(self) -> dict[str, str]:
        """The environment variables for an unchanged program."""
        authority = str(self.authority)
        return {
            "HTTPS_PROXY": self.proxy_url,
            "https_proxy": self.proxy_url,
            # These hosts do not speak plain HTTP; the proxy refuses it.
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
        return [f"export {name}={shlex.quote(value)}" for name, value in self.environment().items()]
