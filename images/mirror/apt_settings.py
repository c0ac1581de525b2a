"""How apt on this host reaches mirrors: its proxies and its passwords (apt.conf(5), apt_auth.conf(5))."""

import base64
import netrc
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from images.mirror.errors import MirrorError

_DIRECT = "DIRECT"
_OPTION = re.compile(r"acquire::(https?::proxy(?:::.+)?) (\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AptSettings:
    """`proxies` by option, such as `http::proxy::one.example.net`; `logins` by machine: a header for each."""

    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)
    logins: Mapping[str, str] = field(default_factory=dict, repr=False)

    def proxy(self, url: str) -> str | None:
        """Return the proxy for a URL; https uses that of http where it has none of its own."""
        parts = urlsplit(url)
        for scheme in (parts.scheme, "http"):
            for option in (f"{scheme}::proxy::{parts.hostname}", f"{scheme}::proxy"):
                if option in self.proxies:
                    return None if self.proxies[option] == _DIRECT else self.proxies[option]
        return None

    def authorization(self, url: str) -> str | None:
        """Return the header for a URL without a password of its own.

        Only https is trusted with a password, unless the machine says http itself.
        """
        parts = urlsplit(url)
        if "@" in parts.netloc:
            return None
        place = f"{parts.netloc}{parts.path}"
        for machine, header in self.logins.items():
            scheme, _, rest = machine.rpartition("://")
            host, slash, path = rest.partition("/")
            fits = host in (parts.netloc, parts.hostname) and place.startswith(f"{parts.netloc}{slash}{path}")
            if fits and (scheme or "https") == parts.scheme:
                return header
        return None


def read_apt_settings() -> AptSettings:
    """Ask apt-config; a host without it has no settings. Raises MirrorError for a file of passwords that is wrong."""
    found = _OPTION.findall(_apt_config("dump", "--format", "%f %v%n", "Acquire"))
    proxies = {name.lower(): value for name, value in found}
    return AptSettings(proxies, dict(_logins()))


def _logins() -> Iterator[tuple[str, str]]:
    said = _apt_config("shell", "FILE", "Dir::Etc::netrc/f", "PARTS", "Dir::Etc::netrcparts/d")
    paths = dict(word.partition("=")[::2] for word in shlex.split(said))
    parts = Path(paths["PARTS"]).glob("*.conf") if "PARTS" in paths else ()
    for path in (*([Path(paths["FILE"])] if "FILE" in paths else []), *sorted(parts)):
        try:
            hosts = netrc.netrc(path).hosts if path.is_file() else {}
        except OSError as error:
            raise MirrorError([f"{path}: {error.strerror}; its passwords are needed to reach mirrors"]) from error
        except netrc.NetrcParseError as error:
            text = f"{path}:{error.lineno}: is not as apt_auth.conf(5) says; correct it"
            raise MirrorError([text]) from None  # its words may be passwords
        for machine, (login, _, password) in hosts.items():
            yield machine, f"Basic {base64.b64encode(f'{login}:{password}'.encode()).decode()}"


def _apt_config(*words: str) -> str:
    try:
        done = subprocess.run(["apt-config", *words], capture_output=True, text=True, check=False, timeout=30)
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""
