"""The stage that builds kernel modules before the image: compile, sign, package."""

from pathlib import Path

from images.modules.compile import compiled_modules
from images.modules.compression import compress, compression_of
from images.modules.errors import ModuleError
from images.modules.key import ModuleKey, certificate_pem, load_key
from images.modules.package import CERTIFICATE, module_folder, write_package
from images.modules.request import ModuleStage
from images.modules.signature import sign_module


def build_module_package(stage: ModuleStage, output: Path) -> Path:
    """Return a package of signed modules in the folder `output`: what `lock.modules.package` names.

    Equal locks give equal bytes. What was compiled before is not compiled again, also for another key. Raises
    ModuleError; a module that does not compile is told with the compiler's own line.
    """
    key = _locked_key(stage)
    compiled = compiled_modules(stage)
    suffix = compression_of((compiled / "config").read_text(encoding="utf-8"))
    folder = module_folder(stage.lock.kernel.abi)
    files = {
        f"{folder}/{path.name}{suffix}": compress(sign_module(path.read_bytes(), key), suffix)
        for path in sorted(compiled.glob("*.ko"))
    }
    files[CERTIFICATE] = certificate_pem(stage.signing.certificate).encode()
    return write_package(stage.lock, stage.modules, files, output)


def _locked_key(stage: ModuleStage) -> ModuleKey:
    key = load_key(stage.signing)
    locked = stage.lock.driver.certificate if stage.lock.driver else None
    if certificate_pem(stage.signing.certificate) != locked:
        text = f"{stage.signing.certificate}: is not the certificate of the lock of {stage.lock.image}"
        raise ModuleError(f"{text}; resolve the profile again, as the site's key has changed")
    return key
