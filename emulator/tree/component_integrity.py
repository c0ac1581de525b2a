"""ComponentIntegrity and TrustedComponents: the roots of trust that the firmware inventory names."""

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, ROOT, Document, Entry, action, collection, resource
from emulator.tree.document import link as to
from emulator.tree.document import links as to_all

INTEGRITY = f"{ROOT}/ComponentIntegrity"
VERSION = "1.1.0"
CHAIN = "CertChain"


@dataclass(frozen=True, slots=True)
class RootOfTrust:
    """`path`: a chassis of its own, or a TrustedComponent of the chassis `box`; `slot`: the key of its firmware."""

    id: str
    path: str
    box: str
    slot: str

    @property
    def trusted(self) -> bool:
        """Whether it is shown as a TrustedComponent."""
        return "/TrustedComponents/" in self.path

    @property
    def certificate(self) -> str:
        """Where its certificate chain is."""
        return f"{self.path}/Certificates/{CHAIN}"


def roots_of_trust(persona: Persona) -> tuple[RootOfTrust, ...]:
    """All of them; none where the persona does not show them."""
    if not persona.services.component_integrity:
        return ()
    boxes = {part.id for part in persona.chassis}
    found = []
    for slot in persona.slots.values():
        if "rot" in slot.component and "rot" in slot.id.lower():
            identity = slot.id.replace("FW_", "")
            box = _box(persona, identity)
            path = f"{places.CHASSIS}/{identity}" if identity in boxes else f"{box}/TrustedComponents/{identity}"
            found.append(RootOfTrust(identity, path, box, slot.key))
    return tuple(found)


def certificates(persona: Persona) -> list[str]:
    """Where their certificates are."""
    return [root.certificate for root in roots_of_trust(persona)]


def build(persona: Persona) -> Iterator[Entry]:
    """The integrity of each root of trust, the component itself and its certificates."""
    roots = roots_of_trust(persona)
    if not persona.services.component_integrity:
        return
    members = [root.id for root in roots]
    yield collection(INTEGRITY, "ComponentIntegrityCollection", "Component Integrity Collection", members)
    for box, inside in _by_box(roots).items():
        path = f"{box}/TrustedComponents"
        yield collection(path, "TrustedComponentCollection", "Trusted Component Collection", inside)
    for root in roots:
        yield _integrity(persona, root)
        if root.trusted:
            yield _component(root)
        name = f"{root.id} Certificates"
        yield collection(f"{root.path}/Certificates", "CertificateCollection", name, [CHAIN])


def links(persona: Persona) -> Iterator[Entry]:
    """What chassis link to."""
    roots = roots_of_trust(persona)
    for box in _by_box(roots):
        yield box, {"TrustedComponents": to(f"{box}/TrustedComponents")}
    for root in roots:
        if not root.trusted:
            yield root.path, {"Certificates": to(f"{root.path}/Certificates")}


def _by_box(roots: tuple[RootOfTrust, ...]) -> dict[str, list[str]]:
    boxes: dict[str, list[str]] = {}
    for root in roots:
        if root.trusted:
            boxes.setdefault(root.box, []).append(root.id)
    return boxes


def _box(persona: Persona, identity: str) -> str:
    board = places.gpu_board(persona).id
    return f"{places.CHASSIS}/{board}" if identity.startswith("HGX_") else places.outer(persona)


def _integrity(persona: Persona, root: RootOfTrust) -> Entry:
    path = f"{INTEGRITY}/{root.id}"
    properties: Document = {
        "ComponentIntegrityType": "SPDM",
        "ComponentIntegrityTypeVersion": VERSION,
        "ComponentIntegrityEnabled": True,
        "TargetComponentURI": root.path,
        "Status": HEALTHY,
        "SPDM": {
            "Requester": to(places.gpu_manager(persona)),
            "IdentityAuthentication": {
                "ResponderAuthentication": {
                    "VerificationStatus": "Success",
                    "ComponentCertificate": to(root.certificate),
                }
            },
            "MeasurementSet": {"MeasurementSummaryType": "All", "MeasurementSpecification": "DMTF"},
        },
        "Links": {"ComponentsProtected": to_all(_protected(persona, root.id))},
        "Actions": action(path, "ComponentIntegrity.SPDMGetSignedMeasurements"),
    }
    kind = "ComponentIntegrity.v1_2_0.ComponentIntegrity"
    return resource(path, kind, f"SPDM Integrity for {root.id}", properties)


def _component(root: RootOfTrust) -> Entry:
    properties: Document = {
        "TrustedComponentType": "Discrete",
        "Manufacturer": "NVIDIA",
        "FirmwareVersion": "",
        "UUID": f"${{uuid:{root.id}}}",
        "SerialNumber": f"${{number:{root.id}}}",
        "Status": HEALTHY,
        "Certificates": to(f"{root.path}/Certificates"),
        "Links": {
            "ActiveSoftwareImage": to(f"{places.FIRMWARE_INVENTORY}/{root.slot}"),
            "ComponentIntegrity": to_all([f"{INTEGRITY}/{root.id}"]),
        },
    }
    return resource(root.path, "TrustedComponent.v1_0_0.TrustedComponent", root.id, properties)


def _protected(persona: Persona, identity: str) -> list[str]:
    """GPUs and CPUs by their number; the BMC."""
    number = identity.rpartition("_")[2]
    if "_GPU" in identity and persona.gpus.ids:
        index = int(number) - persona.gpus.first if number.isdigit() else 0
        gpus = places.gpus(persona)
        return [gpus[index]] if 0 <= index < len(gpus) else []
    if "_CPU" in identity and number.isdigit() and int(number) < len(persona.system.cpu_ids):
        return [f"{places.host(persona)}/Processors/{persona.system.cpu_ids[int(number)]}"]
    return [places.gpu_manager(persona)] if "_BMC" in identity else []
