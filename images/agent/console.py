"""Lines on stderr, which is the node's console. Credentials are blotted out, also when a server echoes them."""

import contextlib
import sys

from images.agent.secret import Secret


class Console:
    """Writes whole lines; safe to share between threads."""

    def __init__(self, *secrets: Secret) -> None:
        """Blot out these secrets; more may follow by `hide`."""
        self._secrets = list(secrets)

    def hide(self, secret: Secret) -> None:
        """Blot out one more secret from now on."""
        self._secrets.append(secret)

    def say(self, event: str, **fields: object) -> None:
        """Write one line: the event in past tense, then its fields."""
        line = " ".join(["firstlight-agent:", event, *(f"{key}={value}" for key, value in fields.items())])
        for secret in self._secrets:
            line = line.replace(secret.value, "***")
        # A console that went away must not end a burn-in.
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line.replace("\n", " ")[:2000] + "\n")
            sys.stderr.flush()
