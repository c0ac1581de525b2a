"""Which hardware class a server that was found belongs to. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from profiles.catalog import Catalog
from profiles.models import HardwareClass


@dataclass(frozen=True, slots=True)
class Found:
    """What the BMC reports. `gpu_models`: one entry per GPU, empty while the BMC shows none (host off)."""

    manufacturer: str
    model: str
    gpu_models: tuple[str, ...]
    arch: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """No class, or more than one. `reasons`: (class name, why not), by class name; never empty reasons."""

    found: Found
    reasons: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """Return one sentence for a person."""
        server = f"{self.found.manufacturer} {self.found.model}"
        if not self.reasons:
            return f"{server}: the catalog has no hardware classes"
        return f"{server} fits no single hardware class: " + "; ".join(f"{n}: {why}" for n, why in self.reasons)


def match(catalog: Catalog, found: Found) -> HardwareClass | Refusal:
    """Return the one class that fits.

    Fewer GPUs than the class has do not prevent a match: a broken GPU must not turn a known server into an unknown one.
    """
    reasons: dict[str, tuple[str, ...]] = {
        name: tuple(_differences(hardware, found)) for name, hardware in sorted(catalog.hardware_classes.items())
    }
    fitting = [name for name, why in reasons.items() if not why]
    if len(fitting) == 1:
        return catalog.hardware_classes[fitting[0]]
    if fitting:
        ambiguous = ", ".join(fitting)
        return Refusal(found, tuple((name, f"fits as well as others ({ambiguous})") for name in fitting))
    return Refusal(found, tuple((name, ", ".join(why)) for name, why in reasons.items()))


def _differences(hardware: HardwareClass, found: Found) -> Iterable[str]:
    wanted = hardware.match
    if not _fits(found.manufacturer, wanted.manufacturer):
        yield f'manufacturer "{found.manufacturer}" is not {" or ".join(wanted.manufacturer)}'
    if not _fits(found.model, wanted.model):
        yield f'model "{found.model}" is not {" or ".join(wanted.model)}'
    if found.arch != wanted.arch:
        yield f'arch "{found.arch}" is not {wanted.arch}'
    for gpu_model in sorted(set(found.gpu_models)):
        if not _fits(gpu_model, wanted.gpu_model):
            yield f'GPU "{gpu_model}" is not {" or ".join(wanted.gpu_model) or "there: it has none"}'
    if len(found.gpu_models) > hardware.gpu_count:
        yield f"{len(found.gpu_models)} GPUs are more than {hardware.gpu_count}"


def _fits(text: str, globs: Iterable[str]) -> bool:
    normal = " ".join(text.split()).casefold()
    return any(fnmatchcase(normal, " ".join(glob.split()).casefold()) for glob in globs)
