"""UEFI secure boot and its databases of keys, over HTTPS."""

import warnings
from collections.abc import Iterator

import pytest
import sushy
import urllib3
from sushy.resources.system.constants import SecureBootResetKeysType

from emulator.testing import Bmc, EmulatedFleet
from emulator.tree.factory_keys import SIGNATURE_AUTHORITY
from tests.emulator.bmc_client import BmcClient, wait_for

DELL = "/redfish/v1/Systems/System.Embedded.1/SecureBoot"
SMC = "/redfish/v1/Systems/1/SecureBoot"
RESET = "Actions/SecureBoot.ResetKeys"


@pytest.fixture
def fleet() -> Iterator[EmulatedFleet]:
    """A Dell with factory keys, a Supermicro in setup mode."""
    with EmulatedFleet([Bmc("dell-xe9680"), Bmc()]) as running:
        yield running


def boot(fleet: EmulatedFleet, client: BmcClient) -> None:
    client.reset("On")
    wait_for(lambda: fleet.truth(client.bmc.name)["phase"] == "no-bootable-device")


def members(client: BmcClient, path: str) -> list[str]:
    return [member["@odata.id"] for member in client.get(path)["Members"]]


def test_secure_boot_is_enabled_with_the_next_boot(fleet: EmulatedFleet) -> None:
    """DSP0268, SecureBoot: SecureBootEnable is for the next boot, SecureBootCurrentBoot says what is now."""
    client = BmcClient(fleet.bmcs[0])
    assert client.send("PATCH", DELL, json={"SecureBootEnable": True}).status_code == 204
    document = client.get(DELL)
    assert (document["SecureBootEnable"], document["SecureBootCurrentBoot"]) == (True, "Disabled")
    boot(fleet, client)
    assert client.get(DELL)["SecureBootCurrentBoot"] == "Enabled"


@pytest.mark.parametrize(("body", "message"), [({"SecureBootEnable": "on"}, "TypeError"), ({}, "PropertyMissing")])
def test_enable_is_a_boolean(body: dict[str, object], message: str, fleet: EmulatedFleet) -> None:
    """DSP0268, SecureBoot."""
    answer = BmcClient(fleet.bmcs[0]).send("PATCH", DELL, json=body)
    assert (answer.status_code, message in answer.text) == (400, True)


def test_nothing_is_enforced_without_a_platform_key(fleet: EmulatedFleet) -> None:
    """UEFI 2.10, 32.3: without a PK the platform is in setup mode."""
    client = BmcClient(fleet.bmcs[1])
    assert client.get(SMC)["SecureBootMode"] == "SetupMode"
    client.send("PATCH", SMC, json={"SecureBootEnable": True})
    boot(fleet, client)
    assert client.get(SMC)["SecureBootCurrentBoot"] == "Disabled"
    reset = {"ResetKeysType": "ResetAllKeysToDefault"}
    assert client.send("POST", f"{SMC}/{RESET}", json=reset).status_code == 204
    assert client.get(SMC)["SecureBootMode"] == "UserMode"
    assert client.send("PATCH", SMC, json={"SecureBootEnable": True}).status_code == 204
    client.reset("ForceRestart")
    wait_for(lambda: client.get(SMC)["SecureBootCurrentBoot"] == "Enabled")


def test_databases_hold_certificates_and_signatures(fleet: EmulatedFleet) -> None:
    """DSP0268, SecureBootDatabase: PK, KEK, db, dbx and their defaults."""
    client = BmcClient(fleet.bmcs[0])
    names = {path.rpartition("/")[2] for path in members(client, f"{DELL}/SecureBootDatabases")}
    assert names == {"PK", "KEK", "db", "dbx", "PKDefault", "KEKDefault", "dbDefault", "dbxDefault"}
    certificate = client.get(members(client, f"{DELL}/SecureBootDatabases/PK/Certificates")[0])
    assert certificate["Subject"]["CommonName"] == "Emulated Platform Key"
    signature = client.get(members(client, f"{DELL}/SecureBootDatabases/dbx/Signatures")[0])
    assert (signature["SignatureType"], len(signature["SignatureString"])) == ("EFI_CERT_SHA256_GUID", 64)


def test_certificate_is_enrolled_kept_and_removed(fleet: EmulatedFleet) -> None:
    """DSP0268, Certificate: POST to the collection, DELETE of the member; a driver's key goes to db."""
    client = BmcClient(fleet.bmcs[0])
    path = f"{DELL}/SecureBootDatabases/db/Certificates"
    wrong = client.send("POST", path, json={"CertificateString": "none", "CertificateType": "PEM"})
    assert (wrong.status_code, "PropertyValueFormatError" in wrong.text) == (400, True)
    body = {"CertificateString": SIGNATURE_AUTHORITY, "CertificateType": "PEM"}
    answer = client.send("POST", path, json=body)
    assert (answer.status_code, answer.headers["Location"]) == (201, f"{path}/2")
    fleet.kill()
    fleet.start()
    client = BmcClient(fleet.bmcs[0])
    assert client.get(f"{path}/2")["CertificateString"] == SIGNATURE_AUTHORITY
    assert client.send("DELETE", f"{path}/1").status_code == 204
    assert members(client, path) == [f"{path}/2"]
    assert client.send("GET", f"{path}/1").status_code == 404
    assert client.send("POST", f"{DELL}/SecureBootDatabases/dbDefault/Certificates", json=body).status_code == 405


def test_signature_is_enrolled_and_a_database_is_reset_by_itself(fleet: EmulatedFleet) -> None:
    """DSP0268, SecureBootDatabase.ResetKeys."""
    client = BmcClient(fleet.bmcs[0])
    database = f"{DELL}/SecureBootDatabases/dbx"
    before = members(client, f"{database}/Signatures")
    body = {"SignatureString": "0" * 64, "SignatureType": "EFI_CERT_SHA256_GUID"}
    assert client.send("POST", f"{database}/Signatures", json=body).status_code == 201
    assert len(members(client, f"{database}/Signatures")) == len(before) + 1
    reset = f"{database}/Actions/SecureBootDatabase.ResetKeys"
    assert client.send("POST", reset, json={"ResetKeysType": "DeleteAllKeys"}).status_code == 204
    assert members(client, f"{database}/Signatures") == []
    assert client.send("POST", reset, json={"ResetKeysType": "ResetAllKeysToDefault"}).status_code == 204
    assert members(client, f"{database}/Signatures") == before
    assert client.send("POST", reset, json={"ResetKeysType": "DeletePK"}).status_code == 400
    assert client.get(DELL)["SecureBootMode"] == "UserMode"


def test_sushy_enables_secure_boot_and_resets_keys(fleet: EmulatedFleet) -> None:
    """OpenStack's client: set_enabled and reset_keys of the system and of a database."""
    bmc = fleet.bmcs[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
        basic = sushy.auth.BasicAuth(bmc.username, bmc.password)
        root = sushy.Sushy(f"{bmc.url}/redfish/v1/", verify=False, auth=basic)
        secure_boot = root.get_system_collection().get_members()[0].secure_boot
        secure_boot.set_enabled(True)
        secure_boot.refresh(force=True)
        assert secure_boot.enabled
        assert SecureBootResetKeysType.DELETE_PK in secure_boot.get_allowed_reset_keys_values()
        secure_boot.reset_keys(SecureBootResetKeysType.DELETE_PK)
        secure_boot.refresh(force=True)
        assert secure_boot.mode.value == "SetupMode"
        secure_boot.reset_keys(SecureBootResetKeysType.RESET_ALL_KEYS_TO_DEFAULT)
        secure_boot.set_enabled(False)
        secure_boot.refresh(force=True)
        assert (secure_boot.enabled, secure_boot.mode.value) == (False, "UserMode")
        assert len(secure_boot.databases.get_members()) == 8
