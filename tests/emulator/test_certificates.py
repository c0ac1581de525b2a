"""CertificateService, and the roots of trust with their signed measurements."""

import datetime as dt
import socket
import ssl
from pathlib import Path

import pytest
import redfish
import redfish_utilities
import sushy
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from emulator.testing import RunningBmc
from tests.emulator.bmc_client import BmcClient
from tests.emulator.one_bmc import OneBmc

HTTPS = "/redfish/v1/Managers/1/NetworkProtocol/HTTPS/Certificates"
ACTIONS = "/redfish/v1/CertificateService/Actions/CertificateService"
INTEGRITY = "/redfish/v1/ComponentIntegrity"
ROOT = "HGX_ERoT_GPU_SXM_1"


class Authority:
    """A certificate authority of a site."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Site CA")])

    def sign(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> str:
        """A certificate as PEM."""
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now)
            .not_valid_after(now + dt.timedelta(days=1))
            .sign(self._key, hashes.SHA256())
            .public_bytes(serialization.Encoding.PEM)
            .decode()
        )


def served(bmc: RunningBmc) -> x509.Certificate:
    """The certificate that the next handshake shows."""
    context = ssl._create_unverified_context()
    with socket.create_connection((bmc.address, bmc.port)) as plain, context.wrap_socket(plain) as secured:
        return x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"")


def request_certificate(client: BmcClient, **wanted: str) -> x509.CertificateSigningRequest:
    body = {"CommonName": "bmc.example.com", "CertificateCollection": {"@odata.id": HTTPS}, "Country": "DE", **wanted}
    answer = client.send("POST", f"{ACTIONS}.GenerateCSR", json=body)
    assert answer.status_code == 200, answer.text
    return x509.load_pem_x509_csr(answer.json()["CSRString"].encode())


def replacement(certificate: str) -> dict[str, object]:
    return {
        "CertificateUri": {"@odata.id": f"{HTTPS}/1"},
        "CertificateString": certificate,
        "CertificateType": "PEM",
    }


def test_shown_certificate_is_the_served_one(client: BmcClient) -> None:
    """DSP0268, Certificate: the strings are those of the certificate."""
    (member,) = client.get(HTTPS)["Members"]
    shown = client.get(member["@odata.id"])
    certificate = served(client.bmc)
    assert x509.load_pem_x509_certificate(shown["CertificateString"].encode()) == certificate
    assert shown["Fingerprint"].replace(":", "").lower() == certificate.fingerprint(hashes.SHA256()).hex()
    assert shown["Subject"]["CommonName"] == client.bmc.name
    assert "PRIVATE" not in str(shown)
    locations = client.get("/redfish/v1/CertificateService/CertificateLocations")["Links"]["Certificates"]
    assert member in locations


@pytest.mark.parametrize("algorithm", ["TPM_ALG_ECDH", "TPM_ALG_RSA"])
def test_certificate_of_the_site_is_served_after_it_replaced_the_old_one(
    one: OneBmc, client: BmcClient, algorithm: str
) -> None:
    """DSP0268, GenerateCSR and ReplaceCertificate; what was put in stays after a restart."""
    csr = request_certificate(client, KeyPairAlgorithm=algorithm)
    certificate = Authority().sign(csr.subject, csr.public_key())  # type: ignore[arg-type]  # any key can be signed
    answer = client.send("POST", f"{ACTIONS}.ReplaceCertificate", json=replacement(certificate))
    assert answer.status_code == 204, answer.text
    assert served(client.bmc) == x509.load_pem_x509_certificate(certificate.encode())
    assert client.get(f"{HTTPS}/1")["Issuer"] == {"CommonName": "Site CA"}
    one.fleet.stop()
    one.fleet.start()
    assert served(client.bmc).subject == csr.subject


def test_certificate_that_does_not_fit_is_refused(client: BmcClient) -> None:
    """A web server with a key that is not its certificate's would never come up again."""
    before = served(client.bmc)
    other = ec.generate_private_key(ec.SECP256R1())
    foreign = Authority().sign(request_certificate(client).subject, other.public_key())
    for bad in ("nonsense", foreign, before.public_bytes(serialization.Encoding.PEM).decode()[:200]):
        answer = client.send("POST", f"{ACTIONS}.ReplaceCertificate", json=replacement(bad))
        assert answer.status_code == 400, bad
        assert answer.json()["error"]["code"].endswith("ActionParameterValueError")
    assert served(client.bmc) == before
    wrong_place = {**replacement(foreign), "CertificateUri": {"@odata.id": "/redfish/v1/none"}}
    assert client.send("POST", f"{ACTIONS}.ReplaceCertificate", json=wrong_place).status_code == 400


def test_certificate_may_bring_its_key(client: BmcClient) -> None:
    """DSP0268, ReplaceCertificate: CertificateString may hold the private key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "brought")])
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pem = private.decode() + Authority().sign(name, key.public_key())
    assert client.send("POST", f"{ACTIONS}.ReplaceCertificate", json=replacement(pem)).status_code == 204
    assert served(client.bmc).subject == name


def test_request_with_wrong_values_is_refused(client: BmcClient) -> None:
    """DSP0268, GenerateCSR: required and allowable parameters."""
    collection = {"@odata.id": HTTPS}
    for body in (
        {"CommonName": "x"},
        {"CertificateCollection": collection},
        {"CommonName": "x", "CertificateCollection": {"@odata.id": "/redfish/v1"}},
        {"CommonName": "x", "CertificateCollection": collection, "KeyPairAlgorithm": "ROT13"},
        {"CommonName": "x", "CertificateCollection": collection, "Country": "Germany"},
        {"CommonName": 1, "CertificateCollection": collection},
    ):
        assert client.send("POST", f"{ACTIONS}.GenerateCSR", json=body).status_code == 400, body


def test_sushy_replaces_a_certificate(client: BmcClient) -> None:
    """openstack/sushy, resources/certificateservice: sends CertificateUri as text."""
    bmc = client.bmc
    root = sushy.Sushy(f"{bmc.url}/redfish/v1", bmc.username, bmc.password, verify=False)
    service = root.get_certificate_service()
    path = next(one.path for one in service.certificate_locations.get_members() if one.path.startswith(HTTPS))
    csr = request_certificate(client)
    certificate = Authority().sign(csr.subject, csr.public_key())  # type: ignore[arg-type]  # any key can be signed
    service.replace_certificate(path, certificate, "PEM")
    assert served(bmc).subject == csr.subject


def test_redfish_utilities_list_request_and_install(client: BmcClient, tmp_path: Path) -> None:
    """DMTF/Redfish-Tacklebox, rf_certificates."""
    bmc = client.bmc
    context = redfish.redfish_client(bmc.url, bmc.username, bmc.password)
    context.login(auth="basic")
    listed = redfish_utilities.get_all_certificates(context)
    assert f"{HTTPS}/1" in {one["URI"] for one in listed}
    assert len({one["Fingerprint"] for one in listed}) == len(listed)
    _, parameters = redfish_utilities.get_generate_csr_info(context)
    assert {one["Name"] for one in parameters if one["Required"]} >= {"CommonName", "CertificateCollection"}
    answer = redfish_utilities.generate_csr(context, HTTPS, common_name="x", organization="Org")
    csr = x509.load_pem_x509_csr(answer.dict["CSRString"].encode())
    file = tmp_path / "certificate.pem"
    file.write_text(Authority().sign(csr.subject, csr.public_key()))  # type: ignore[arg-type]  # any key can be signed
    redfish_utilities.install_certificate(context, f"{HTTPS}/1", str(file))
    assert served(bmc).subject == csr.subject


def measurements(client: BmcClient) -> list[bytes]:
    """What DMTF's tool reads and verifies."""
    bmc = client.bmc
    context = redfish.redfish_client(bmc.url, bmc.username, bmc.password)
    context.login(auth="basic")
    response, action = redfish_utilities.get_signed_measurements(context, ROOT, nonce="5a" * 32)
    parsed = redfish_utilities.parse_signed_measurements(response, action)
    redfish_utilities.verify_signed_measurements(context, parsed)
    assert parsed["RequestNonce"].hex() == "5a" * 32
    return [one["Measurement"] for one in parsed["Measurements"]]


def test_measurements_are_signed_and_change_with_the_firmware(one: OneBmc, client: BmcClient) -> None:
    """DSP0274; DMTF/Redfish-Tacklebox, rf_component_integrity, checks nonce, chain and signature."""
    before = measurements(client)
    assert before == measurements(client)
    inventory = "/redfish/v1/UpdateService/FirmwareInventory/HGX_FW_ERoT_GPU_SXM_1"
    running = client.get(inventory)["Version"]
    component = client.get(client.get(f"{INTEGRITY}/{ROOT}")["TargetComponentURI"])
    assert component["FirmwareVersion"] == running
    assert len(before) == 2
    assert one.truth()["firmware"]["HGX_FW_ERoT_GPU_SXM_1"]["active"] == running


def test_every_root_of_trust_has_a_certificate_of_its_own(client: BmcClient) -> None:
    """OCP UBB baseline: CertificateString, CertificateType and CertificateUsageTypes."""
    strings = set()
    for member in client.get(INTEGRITY)["Members"]:
        integrity = client.get(member["@odata.id"])
        link = integrity["SPDM"]["IdentityAuthentication"]["ResponderAuthentication"]["ComponentCertificate"]
        certificate = client.get(link["@odata.id"])
        assert certificate["CertificateUsageTypes"] == ["Device"]
        assert certificate == client.get(link["@odata.id"])
        strings.add(certificate["CertificateString"])
    assert len(strings) == len(client.get(INTEGRITY)["Members"]) > 10


_BAD: list[dict[str, object]] = [
    {"Nonce": "00"},
    {"Nonce": 1},
    {"SlotId": 7},
    {"MeasurementIndices": [99]},
    {"Other": 1},
]


@pytest.mark.parametrize("body", _BAD)
def test_bad_request_for_measurements_is_refused(client: BmcClient, body: dict[str, object]) -> None:
    """DSP0268, SPDMGetSignedMeasurements: 64 hexadecimal digits, slots and indices that there are."""
    action = f"{INTEGRITY}/{ROOT}/Actions/ComponentIntegrity.SPDMGetSignedMeasurements"
    assert client.send("POST", action, json=body).status_code == 400
