"""How random secrets are found again without being kept."""

import hashlib

from provisioner.models.secret import Secret


def sha256(secret: Secret) -> bytes:
    """32 bytes. No salt and no stretching: these secrets are 128 random bits or more, not words that people chose."""
    return hashlib.sha256(secret.reveal().encode()).digest()
