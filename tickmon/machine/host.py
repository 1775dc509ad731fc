"""What kind of machine this is: for the head of every reading."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.cpuinfo import CpuInfo
from tickmon.machine.files import read_word
from tickmon.text import harmless

_PRODUCTS = {
    "kvm": "KVM",
    "qemu": "QEMU",
    "vmware": "VMware",
    "virtualbox": "VirtualBox",
    "innotek": "VirtualBox",
    "microsoft corporation virtual machine": "Hyper-V",
    "xen": "Xen",
    "amazon ec2": "Amazon EC2",
    "google compute engine": "Google Compute Engine",
    "openstack": "OpenStack",
    "parallels": "Parallels",
    "bhyve": "bhyve",
    "apple virtualization": "Apple Virtualization",
}
"""How firmware names a virtual machine, in small letters: maker and product of DMI, or a device tree."""
_CLOCKS = {"kvm-clock": "KVM", "hyperv_clocksource_tsc_page": "Hyper-V", "xen": "Xen"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The machine and what it runs in."""

    name: str | None
    kernel: str | None
    """Its release."""
    cpu_model: str | None
    virtualization: str | None
    """Hypervisor and container, as far as they show; None when none does."""
    guest: bool
    """A hypervisor runs this kernel."""


def read_host(info: CpuInfo, root: Path = Path("/")) -> Host:
    """Everything that text from kernel and firmware tells; what it says is shown, never obeyed."""
    hypervisor = _hypervisor(info, root)
    kinds = [kind for kind in (hypervisor, _container(root)) if kind]
    return Host(
        name=_shown(root / "proc/sys/kernel/hostname"),
        kernel=_shown(root / "proc/sys/kernel/osrelease"),
        cpu_model=info.model,
        virtualization=", ".join(kinds) or None,
        guest=hypervisor is not None,
    )


def _hypervisor(info: CpuInfo, root: Path) -> str | None:
    """Which hypervisor runs this kernel, if one does.

    On x86 the processor itself tells guests so. Firmware alone proves nothing there: a rented machine
    without a hypervisor carries the same names.
    """
    kind = _shown(root / "sys/hypervisor/type")
    if kind:
        return "Xen" if kind == "xen" else kind
    if info.flags and "hypervisor" not in info.flags:
        return None
    folder = root / "sys/class/dmi/id"
    words = [_shown(folder / name) for name in ("sys_vendor", "product_name")]
    words.append(_shown(root / "sys/firmware/devicetree/base/hypervisor/compatible"))
    firmware = " ".join(word for word in words if word).lower()
    named = next((name for mark, name in _PRODUCTS.items() if mark in firmware), None)
    clocks = read_word(root / "sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    clock = next((name for mark, name in _CLOCKS.items() if mark in clocks.split()), None)
    return named or clock or ("hypervisor" if "hypervisor" in info.flags else None)


def _container(root: Path) -> str | None:
    kind = _shown(root / "run/systemd/container")
    if kind:
        return f"{kind} container"
    for mark, name in ((".dockerenv", "docker"), ("run/.containerenv", "podman")):
        if (root / mark).exists():
            return f"{name} container"
    return None


def _shown(path: Path) -> str | None:
    word = read_word(path)
    return harmless(word) if word else None
