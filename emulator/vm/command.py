"""`firstlight-emulator vm`: a real virtual machine behind a BMC, for whoever wants to boot one."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from emulator.vm.plan import VmPlan
from emulator.vm.running import check_host, in_namespaces, running


def vm(
    directory: Annotated[Path, typer.Option(help="For its files: console, logs, the expected list.")],
    command: Annotated[list[str] | None, typer.Argument(help="Run this beside it, and end with it.")] = None,
    memory: Annotated[int, typer.Option(min=256, help="MiB")] = 1024,
    network: Annotated[str, typer.Option(help="The bridge's address with its prefix.")] = "10.77.0.1/24",
    bmc_port: Annotated[int, typer.Option(min=1, max=65535)] = 8443,
    secure_variables: Annotated[Path | None, typer.Option(help="OVMF variables with the owner's keys.")] = None,
    http_boot: Annotated[bool, typer.Option("--http-boot", help="UEFI HTTP boot instead of PXE.")] = False,  # noqa: FBT002  (a flag)
    tpm: Annotated[bool, typer.Option("--tpm", help="A TPM 2.0, by swtpm.")] = False,  # noqa: FBT002  (a flag)
    inside: Annotated[bool, typer.Option("--inside", hidden=True)] = False,  # noqa: FBT002  (a flag)
) -> None:
    """A virtual machine with UEFI firmware, its BMC by sushy-tools and libvirt, on a network that nobody else sees.

    Its power, boot order and Secure Boot are real. Without COMMAND it stays until Ctrl-C; `nsenter --target PID --net`
    with the PID in DIRECTORY/namespace.pid is the way into its network.
    """
    plan = VmPlan(
        directory=directory.resolve(),
        memory_mib=memory,
        network=network,
        bmc_port=bmc_port,
        http_boot=http_boot,
        secure_variables=secure_variables.resolve() if secure_variables else None,
        tpm=tpm,
    )
    if not inside:
        check_host(plan)
        plan.directory.mkdir(parents=True, exist_ok=True)
        raise typer.Exit(_outside(plan, command or []))
    with running(plan):
        typer.echo(f"emulator ready: {plan.name} https://{plan.address}:{plan.bmc_port}")
        if command:
            raise typer.Exit(subprocess.run(command, check=False).returncode)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


def _outside(plan: VmPlan, command: list[str]) -> int:
    """Run this very command again inside, and say which process leads there."""
    options = [
        *("--directory", str(plan.directory), "--memory", str(plan.memory_mib), "--network", plan.network),
        *("--bmc-port", str(plan.bmc_port)),
        *(("--secure-variables", str(plan.secure_variables)) if plan.secure_variables else ()),
        *(("--http-boot",) if plan.http_boot else ()),
        *(("--tpm",) if plan.tpm else ()),
    ]
    # unshare takes no notice of SIGTERM; killed, it takes everything inside with it.
    process = subprocess.Popen(in_namespaces(["vm", "--inside", *options, "--", *command]))
    try:
        (plan.directory / "namespace.pid").write_text(f"{_child_of(process)}\n")
        signal.signal(signal.SIGTERM, lambda *_: process.kill())
        return process.wait()
    except KeyboardInterrupt:
        return process.wait()
    finally:
        process.kill()


def _child_of(process: subprocess.Popen[bytes]) -> int:
    """The first process inside. Waits until it is there."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        pids = children.read_text().split()
        if pids:
            return int(pids[0])
        os.sched_yield()
    return process.pid
