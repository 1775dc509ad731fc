"""The man page and the completions: whatever the parser knows is in them, and the shells take them."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tickmon.commandline import parser

BUILD = Path(__file__).parent.parent / "csrc" / "build_manual.py"
NAMES = {"bash": "tickmon.bash", "zsh": "_tickmon", "fish": "tickmon.fish"}


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manual")
    subprocess.run([sys.executable, str(BUILD), str(folder)], check=True, timeout=60)
    return folder


def commands() -> dict[str, argparse.ArgumentParser]:
    (found,) = (a.choices for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return dict(found)


def options_of(command: argparse.ArgumentParser) -> Iterator[str]:
    for action in command._actions:
        yield from (name for name in action.option_strings if name.startswith("--"))


def test_man_page_has_every_command_with_every_option_and_its_examples(manual: Path) -> None:
    page = (manual / "tickmon.1").read_text().replace("\\-", "-")
    for name, command in commands().items():
        section = page.partition(f".SH COMMAND \\fI\\,'tickmon {name}'")[2].partition(".SH COMMAND")[0]
        for option in set(options_of(command)) - {"--help"}:
            assert f"\n\\fB{option}" in section, f"{name} {option}"
        more = page.partition(f".SH MORE ON 'TICKMON {name.upper()}'")[2].partition(".SH ")[0]
        for line in (command.epilog or "").splitlines():
            assert f"\n\\&{line}\n" in more


def test_man_page_is_taken_without_a_warning(manual: Path) -> None:
    if shutil.which("groff") is None:
        pytest.skip("there is no groff")
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", str(manual / "tickmon.1")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""


@pytest.mark.parametrize("shell", NAMES)
def test_completion_knows_every_option(manual: Path, shell: str) -> None:
    text = (manual / NAMES[shell]).read_text()
    for name, command in commands().items():
        assert name in text
        for option in options_of(command):
            assert (f"-l {option[2:]}" if shell == "fish" else option) in text, f"{name} {option}"


@pytest.mark.parametrize("shell", NAMES)
def test_completion_is_taken_by_its_shell(manual: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    subprocess.run([shell, "-n", str(manual / NAMES[shell])], check=True, timeout=60)


def completed(manual: Path, *words: str) -> set[str]:
    """What bash offers for the last of ``words``."""
    script = (
        '. "$1"; shift; COMP_WORDS=(tickmon "$@"); COMP_CWORD=$#; COMP_LINE="${COMP_WORDS[*]}"; '
        "COMP_POINT=${#COMP_LINE}; "
        'eval "$(complete -p tickmon | sed \'s/.*-F \\([^ ]*\\) .*/\\1/\')" tickmon "${!#}"; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script, "bash", str(manual / NAMES["bash"]), *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(done.stdout.split())


def test_bash_completes_commands_options_and_choices(manual: Path) -> None:
    assert completed(manual, "va") == {"validate"}
    assert completed(manual, "sample", "--dur") == {"--duration"}
    assert completed(manual, "sample", "--method", "l") == {"loop"}
