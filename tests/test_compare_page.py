"""The page of a comparison in a real browser, with names that mean harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser

import synthetic
from browser import DESKTOP, PHONE, opened, serious
from misled import versus, versus_page
from misled.comparing import Comparison
from twosides import compared, side

NASTY = '</title><script>document.title="run"</script><img src=x onerror="alert(1)">\u202e|`$x$'


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = synthetic.Run(methods=("baseline", "contradiction"), degrees=(1, 2), problems=20)
    one = synthetic.rows(replace(run, targets=(f"a/{NASTY}",)))
    two = synthetic.rows(replace(run, targets=(f"b/{NASTY}",), seed=1))
    found = compared(side(f"runs/{NASTY}", one), side("runs/b", two))
    made = Comparison(
        study="cpt",
        names=(f"runs/{NASTY}", "runs/b"),
        differing=(("prompt.solve", (f"{NASTY}\n" * 40, "{question}")),),
        notes=(f"Not paired, model: {NASTY}",),
        entries=tuple(versus.adjusted(found, versus.primary(found))),
    )
    return versus_page.write(made, tmp_path_factory.mktemp("page"), ())


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_page_opens_without_an_error_and_reads_well(
    browser: Browser, page: Path, size: tuple[int, int]
) -> None:
    with opened(browser, size) as shown:
        shown.goto(page.as_uri())
        for summary in shown.locator("summary").all():
            summary.click()
        assert shown.locator("dl.words dt").first.inner_text() == "R_CPT"
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert shown.locator("script").count() == 0
        assert shown.locator("img[src='x']").count() == 0
        assert shown.locator("#main ~ .wide tbody tr").count() > 0
        assert "⟨U+202E⟩" in shown.title()
        assert serious(shown) == []


def test_what_a_name_holds_is_text_in_every_file(page: Path) -> None:
    table = page.with_suffix(".md").read_text("utf-8")
    assert "\u202e" not in table
    assert "<script" not in table.replace("\\<script", "")
    tex = page.with_suffix(".tex").read_text("utf-8")
    assert "$x$" not in tex
    assert r"\$x\$" in tex
    assert {path.suffix for path in page.parent.iterdir()} == {".csv", ".html", ".md", ".tex"}
