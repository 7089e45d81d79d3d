"""Certificates of a test's own, to be shown by servers or to be refused."""

from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from piecework.foundation.server.server import Certificate


def self_signed(folder: Path, *, now: datetime) -> Certificate:
    """For 127.0.0.1, trusted by whoever is given its chain."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("127.0.0.1")
    certificate = (
        _builder(name, name, key.public_key(), now=now)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    return _written(folder, key, certificate)


def issued(
    folder: Path, host: str, *, authority: Path, authority_key: Path, now: datetime
) -> Certificate:
    """For any host or address, by whoever holds the key of an authority."""
    loaded = serialization.load_pem_private_key(authority_key.read_bytes(), None)
    assert isinstance(loaded, ec.EllipticCurvePrivateKey)
    issuer = x509.load_pem_x509_certificate(authority.read_bytes())
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        _builder(_name(host), issuer.subject, key.public_key(), now=now)
        .add_extension(x509.SubjectAlternativeName([_general_name(host)]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(loaded.public_key()), critical=False
        )
        .sign(loaded, hashes.SHA256())
    )
    return _written(folder, key, certificate)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _builder(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey, *, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _written(
    folder: Path, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate
) -> Certificate:
    folder.mkdir(exist_ok=True)
    chain, key_file = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return Certificate(chain=chain, key=key_file)
