"""What is in the image, as CycloneDX 1.6: from the lock, without clock or random number. Pure."""

import json
import uuid
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from profiles.images.lock import Lock, LockedModules, LockedPackage

_NAMESPACE = uuid.UUID("6f0c3c36-5d2f-5e0b-9a57-1f6c2d9e7b41")


def sbom_json(lock: Lock) -> bytes:
    """Return the document; equal locks are equal bytes. Its serial number follows from the lock's digest."""
    at = datetime.fromtimestamp(lock.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    image = f"image:{lock.image}"
    components = [_component(lock, one) for one in lock.packages]
    components += [_built(lock, lock.modules)] if lock.modules else []
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, lock.digest)}",
        "version": 1,
        "metadata": {
            "timestamp": at,
            "component": {
                "type": "operating-system",
                "bom-ref": image,
                "name": lock.image,
                "version": lock.digest,
                "properties": _properties(lock),
            },
        },
        "components": components,
        "dependencies": [{"ref": image, "dependsOn": [one["bom-ref"] for one in components]}],
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _component(lock: Lock, package: LockedPackage) -> dict[str, Any]:
    distribution, suite = lock.profile["base"]["distribution"], lock.profile["base"]["suite"]
    version = quote(package.version, safe="")
    purl = f"pkg:deb/{distribution}/{quote(package.name, safe='')}@{version}?arch={package.arch}&distro={suite}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": package.name,
        "version": package.version,
        "purl": purl,
        "hashes": [{"alg": "SHA-256", "content": package.sha256}],
    }


def _built(lock: Lock, modules: LockedModules) -> dict[str, Any]:
    """What a stage made is in no mirror; it comes from its source."""
    source = _component(lock, modules.source)
    reference = f"built:{modules.package}@{modules.version}"
    named = {"type": "library", "bom-ref": reference, "name": modules.package, "version": modules.version}
    return {**named, "pedigree": {"ancestors": [source]}}


def _properties(lock: Lock) -> list[dict[str, str]]:
    said = {"arch": lock.arch, "kernel": lock.kernel.abi, "profile": lock.profile_digest}
    if lock.driver:
        said |= {"driver": lock.driver.version, **lock.driver.components}
    return [{"name": f"firstlight:{name}", "value": value} for name, value in sorted(said.items())]
