"""The doctor on the live screen: a page behind d, and a few words on the main screen."""

from __future__ import annotations

import threading

import pytest

from tests.desk import Desk, on_screen
from tests.scripted import examine_scripted
from tickmon.doctor.findings import Diagnosis, diagnosis
from tickmon.errors import TickmonError
from tickmon.tui.screens.doctor import Doctor, content


def page_of(at: Desk) -> str:
    return str(at.app.screen.query_one("#doctor-text").render())


@on_screen(examine=examine_scripted)
async def test_d_opens_the_findings_of_the_cpu_on_show(at: Desk) -> None:
    await at.press("d")
    await at.until(lambda: "hurts the measurement" in page_of(at))
    assert page_of(at).startswith("CPU 3: 1 thing hurts the measurement, 1 could be better, 1 unknown")
    assert "isolcpus=domain,managed_irq,3" in page_of(at)
    await at.press("q")
    assert at.app.screen is at.app.main


@on_screen(examine=examine_scripted)
async def test_page_scrolls(at: Desk) -> None:
    await at.press("d")
    await at.until(lambda: "hurts the measurement" in page_of(at))
    await at.press("end")
    scroll = at.app.screen.query_one("VerticalScroll")
    await at.until(lambda: scroll.scroll_y > 0)


@on_screen(size=(120, 40), examine=examine_scripted)
async def test_main_screen_says_how_much_there_is_to_mend(at: Desk) -> None:
    assert "doctor" not in at.part("message")
    await at.windows(2)
    await at.until(lambda: "doctor: 2 warnings · d" in at.part("message"))
    await at.press("left")
    # What was found on one CPU is not said of another.
    assert "doctor" not in at.part("message")


@on_screen(examine=lambda cpu: diagnosis(cpu, []))
async def test_nothing_to_mend_is_not_mentioned(at: Desk) -> None:
    await at.windows(2)
    await at.until(lambda: at.app.session.diagnosis is not None)
    at.app.draw()
    assert "doctor" not in at.part("message")


def refuse(cpu: int) -> Diagnosis:
    raise TickmonError(f"CPU {cpu} went offline while it was being examined")


@on_screen(examine=refuse)
async def test_cpu_that_cannot_be_examined_is_a_line_of_words(at: Desk) -> None:
    await at.press("d")
    await at.until(lambda: "CPU 3 went offline" in page_of(at))
    await at.windows(1)
    assert at.app.fault is None


@on_screen()
async def test_without_a_machine_there_is_nothing_to_examine(at: Desk) -> None:
    await at.press("d")
    assert not isinstance(at.app.screen, Doctor)
    assert "no machine" in at.notices


@pytest.mark.parametrize("key", ["escape", "q", "d"])
def test_screen_goes_on_while_the_doctor_looks(key: str) -> None:
    release = threading.Event()
    threads: list[threading.Thread] = []

    def examine(cpu: int) -> Diagnosis:
        threads.append(threading.current_thread())
        assert release.wait(20)
        return examine_scripted(cpu)

    @on_screen(examine=examine)
    async def goes_on(at: Desk) -> None:
        try:
            await at.press("d")
            await at.until(lambda: bool(threads))
            assert threads[0] is not threading.main_thread()
            assert "examining CPU 3" in page_of(at)
            await at.press(key)
            assert at.app.screen is at.app.main
        finally:
            release.set()

    goes_on()


def test_without_colours_no_style_has_one() -> None:
    coloured, plain = (content(examine_scripted(3), 76, colourless=how) for how in (False, True))
    assert coloured.plain == plain.plain
    assert not [span for span in plain.spans if "$" in str(span.style)]
