"""A private certificate authority for a few host names.

Name constraints limit its certificate to these hosts, so that a stolen key is useless
for others. It is never installed in a system's store: each program is pointed to it,
and deleting the folder removes it.
"""

import os
from datetime import datetime, timedelta
from ipaddress import ip_network
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from piecework.foundation.server.stand_in.relay import StandIn

AUTHORITY = "authority.pem"
AUTHORITY_KEY = "authority.key"
HOSTS_CERTIFICATE = "hosts.pem"

_AUTHORITY_LIFE = timedelta(days=3650)
_HOSTS_LIFE = timedelta(days=397)
"""The longest lifetime that some programs accept."""
_RENEW_BEFORE = timedelta(days=400)
_CLOCKS_DIFFER = timedelta(days=1)


def establish(
    folder: Path, hosts: tuple[str, ...], *, now: datetime, port: int = 0, proxy_port: int = 0
) -> StandIn:
    """Read or create the folder's authority, and issue a fresh certificate.

    Args:
        folder: keeps both; created for its owner only.
        hosts: the hosts that the server answers as.
        now: the real current time.
        port: the TLS listener's port; 0 takes a free one.
        proxy_port: the proxy's port; 0 takes a free one.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = _read(folder, hosts, now)
    key, authority = _new_authority(folder, hosts, now) if kept is None else kept
    own_key = ec.generate_private_key(ec.SECP256R1())
    certificate = _hosts_certificate(hosts, own_key, key, authority, now=now)
    _write(folder / HOSTS_CERTIFICATE, _key_pem(own_key) + _pem(certificate))
    return StandIn(
        hosts=hosts,
        authority=(folder / AUTHORITY).resolve(),
        certificate=folder / HOSTS_CERTIFICATE,
        port=port,
        proxy_port=proxy_port,
    )


_Authority = tuple[ec.EllipticCurvePrivateKey, x509.Certificate]


def _read(folder: Path, hosts: tuple[str, ...], now: datetime) -> _Authority | None:
    try:
        certificate = x509.load_pem_x509_certificate((folder / AUTHORITY).read_bytes())
        key = serialization.load_pem_private_key(
            (folder / AUTHORITY_KEY).read_bytes(), password=None
        )
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        return None
    if key.public_key() != certificate.public_key():
        return None
    if certificate.not_valid_after_utc - _RENEW_BEFORE < now:
        return None
    if _constraints(certificate) != _constraints_to(hosts):
        return None  # made for other hosts
    return key, certificate


def _constraints(certificate: x509.Certificate) -> x509.NameConstraints | None:
    try:
        return certificate.extensions.get_extension_for_class(x509.NameConstraints).value
    except x509.ExtensionNotFound:
        return None


def _constraints_to(hosts: tuple[str, ...]) -> x509.NameConstraints:
    return x509.NameConstraints(
        permitted_subtrees=[x509.DNSName(host) for host in hosts],
        # A permitted name includes all names below it, and does not limit addresses.
        excluded_subtrees=[
            *(x509.DNSName(f".{host}") for host in hosts),
            x509.IPAddress(ip_network("0.0.0.0/0")),
            x509.IPAddress(ip_network("::/0")),
        ],
    )


def _new_authority(folder: Path, hosts: tuple[str, ...], now: datetime) -> _Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("piecework stand-in for other hosts")
    certificate = (
        _builder(name, name, key.public_key(), key, now=now, life=_AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(_constraints_to(hosts), critical=True)
        .sign(key, hashes.SHA256())
    )
    _write(folder / AUTHORITY_KEY, _key_pem(key))
    _write(folder / AUTHORITY, _pem(certificate))
    return key, certificate


def _hosts_certificate(
    hosts: tuple[str, ...],
    own_key: ec.EllipticCurvePrivateKey,
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    *,
    now: datetime,
) -> x509.Certificate:
    return (
        _builder(
            _name(hosts[0]), authority.subject, own_key.public_key(), key, now=now, life=_HOSTS_LIFE
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), critical=False
        )
        .sign(key, hashes.SHA256())
    )


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    now: datetime,
    life: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS_DIFFER)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _write(path: Path, content: bytes) -> None:
    # Write atomically, and never readable by others, not even while writing.
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    number = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(content)
    fresh.replace(path)
