"""Which CPUs there are, which of them this process may use, and what each of them is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tickmon.errors import TickmonError
from tickmon.machine.cmdline import boot_cpus, lenient_cpus, read_cmdline
from tickmon.machine.cpulist import cpu_list_text, read_cpu_list
from tickmon.machine.cpusets import accepted_cpus, isolated_by_cpusets
from tickmon.machine.files import read_text
from tickmon.machine.mounts import Mount, is_covered, read_mounts

_FOLDER = "sys/devices/system/cpu"
_NODES = "sys/devices/system/node"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpus:
    """The CPUs by the kernel's own numbers, which may have holes."""

    possible: frozenset[int]
    """All that could ever be there; the kernel's ``num_possible_cpus()`` of them."""
    online: frozenset[int]
    usable: frozenset[int]
    """Online and accepted by this process's cpuset: what ``--cpu`` may name."""
    allowed: frozenset[int]
    """The affinity mask that this process inherited; it limits only what is chosen by default."""
    isolated: frozenset[int]
    """Left alone by the scheduler's load balancer: ``isolcpus``, or a cpuset made them so."""
    nohz_full: frozenset[int]
    """The kernel may stop the tick there while one task runs."""
    siblings: Mapping[int, frozenset[int]]
    """The other threads of the same core, for the CPUs that have any."""
    nodes: Mapping[int, int] = field(default_factory=dict)
    """The memory node that each CPU belongs to; empty where the kernel does not say."""

    @property
    def quiet(self) -> frozenset[int]:
        """Set apart for somebody's work: no place for the threads of a screen."""
        return self.isolated | self.nohz_full

    def describe(self, cpu: int) -> str:
        """What ``cpu`` is: ``isolated · nohz_full · sibling of CPU 5``; empty for a common one."""
        words = ["isolated"] if cpu in self.isolated else []
        if cpu in self.nohz_full:
            words.append("nohz_full")
        if siblings := self.siblings.get(cpu):
            words.append(f"sibling of {cpus_text(siblings)}")
        return " · ".join(words)


def cpus_text(cpus: frozenset[int]) -> str:
    """``CPU 5`` or ``CPUs 5-7``."""
    return f"CPU{'s' if len(cpus) > 1 else ''} {cpu_list_text(cpus)}"


def read_cpus(root: Path = Path("/")) -> Cpus:
    """The CPUs as they are now. TickmonError when nothing tells which there are.

    To be read once, before any thread's affinity is changed: ``allowed`` is what was inherited.
    """
    mounts = read_mounts(root)
    accepted = accepted_cpus(root, mounts)
    inherited = _inherited(root)
    # Where that is not known these two files hold the kernel's own numbers.
    online = read_online(root, mounts) or accepted or inherited
    if not online:
        raise TickmonError(
            "cannot tell which CPUs there are: neither /sys/devices/system/cpu/online nor /proc/self/status "
            "can be read"
        )
    possible = read_cpu_list(root / _FOLDER / "possible") or online
    words = read_cmdline(root) or ()
    isolated = read_cpu_list(root / _FOLDER / "isolated")
    nohz_full = read_cpu_list(root / _FOLDER / "nohz_full")
    return Cpus(
        possible=possible,
        online=online,
        usable=(online & accepted if accepted else online) or online,
        allowed=inherited or online,
        isolated=(boot_cpus(words, "isolcpus") & possible if isolated is None else isolated)
        | isolated_by_cpusets(root, mounts),
        nohz_full=boot_cpus(words, "nohz_full") & possible if nohz_full is None else nohz_full,
        siblings=_siblings(root, online),
        nodes=_nodes(root),
    )


def read_online(root: Path, mounts: tuple[Mount, ...]) -> frozenset[int]:
    """The CPUs that are online; empty where there is no /sys, or one with a container's own numbers."""
    if is_covered(f"/{_FOLDER}/online", mounts):
        return frozenset()
    return read_cpu_list(root / _FOLDER / "online") or frozenset()


def _inherited(root: Path) -> frozenset[int]:
    for line in (read_text(root / "proc/self/status") or "").splitlines():
        if line.startswith("Cpus_allowed_list:"):
            return lenient_cpus(line.partition(":")[2])
    return frozenset()


def _siblings(root: Path, online: frozenset[int]) -> dict[int, frozenset[int]]:
    siblings = {}
    for cpu in online:
        # A CPU that went away since has no such file, and no sibling that matters.
        threads = read_cpu_list(root / _FOLDER / f"cpu{cpu}/topology/thread_siblings_list")
        if others := (threads or frozenset()) - {cpu}:
            siblings[cpu] = others
    return siblings


def _nodes(root: Path) -> dict[int, int]:
    nodes: dict[int, int] = {}
    for folder in sorted((root / _NODES).glob("node[0-9]*")):
        number = folder.name.removeprefix("node")
        if number.isdecimal():
            nodes |= dict.fromkeys(read_cpu_list(folder / "cpulist") or (), int(number))
    return nodes
