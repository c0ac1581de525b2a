"""Which lock a build uses: that of the image before, as long as nothing that it was resolved from has changed. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from profiles.images.debian import DebianImage
from profiles.images.egress import egress_ruleset
from profiles.images.lock import (
    SCHEMA,
    Lock,
    LockedDriver,
    LockedKernel,
    LockedModules,
    LockedPackage,
    profile_content,
    profile_digest,
)

_RESOLVED_FROM = ("arch", "target", "base", "gpu", "packages", "waive")
_OF_KERNEL = ("package", "version")


def parse_lock(content: bytes) -> Lock | None:
    """Return the lock that `canonical_json` wrote; None for that of another release of ours."""
    try:
        document = json.loads(content)
        if document.pop("schema") != SCHEMA:
            return None
        driver = document["driver"]
        rebuilt: dict[str, Any] = {
            "kernel": LockedKernel(**document["kernel"]),
            "driver": LockedDriver(**driver) if driver else None,
            "packages": _packages(document["packages"]),
            "modules": _modules(document["modules"]),
        }
        if "keys" in document:
            rebuilt["keys"] = tuple(document["keys"])
        lock = Lock(**{**document, **rebuilt})
    except (ValueError, TypeError, KeyError):
        return None
    return lock if lock.canonical_json() == content else None


def _packages(documents: list[dict[str, Any]]) -> tuple[LockedPackage, ...]:
    return tuple(LockedPackage(**one) for one in documents)


def _modules(document: dict[str, Any] | None) -> LockedModules | None:
    if document is None:
        return None
    parts = {"source": LockedPackage(**document["source"]), "tree": _packages(document["tree"])}
    return LockedModules(**{**document, **parts})


def kept_lock(before: Lock, image: DebianImage, certificates: Mapping[str, str]) -> Lock | None:
    """Return the lock with the same packages for what the profile says now; None when packages have to be chosen.

    `certificates`: of the site's signing keys (PEM), by name; another one under the same name is another lock.
    """
    now = profile_content(image)
    then = before.profile
    if any(now.get(field) != then.get(field) for field in _RESOLVED_FROM):
        return None
    if any(now["kernel"][field] != then["kernel"].get(field) for field in _OF_KERNEL):
        return None
    sign_key = image.gpu.driver.sign_key if image.gpu else None
    if before.driver and before.driver.certificate != certificates.get(sign_key or ""):
        return None
    egress = hashlib.sha256(egress_ruleset(image).encode()).hexdigest()
    return replace(before, image=image.name, profile=now, profile_digest=profile_digest(image), egress_sha256=egress)
