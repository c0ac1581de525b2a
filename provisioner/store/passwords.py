"""Passwords for BMC accounts."""

import secrets
import string

from provisioner.models.secret import Secret

LENGTH = 20
"""What Dell's, Supermicro's and OpenBMC's password rules all still take; IPMI 2.0 keeps 20 bytes (22.30)."""

_CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
_ALPHABET = "".join(_CLASSES)


def generate_password() -> Secret:
    """20 letters and digits (119 bits), at least one of each class; no sign that a shell or a URL would mind."""
    while True:
        password = "".join(secrets.choice(_ALPHABET) for _ in range(LENGTH))
        if all(set(password) & set(one) for one in _CLASSES):
            return Secret(password)
