"""The report as a person opens it: in a browser, from disk, on a desk and on a phone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

import synthetic
from browser import DESKTOP, PHONE, opened, serious
from misled import judgements, report
from misled.estimates import entries
from misled.figures_effort import Exhibit, Side
from panel import bench, frame
from test_controlled import edit, rows, said

ALL = ("answer", "reasoning", "again_answer", "again_reasoning")
MOVED = {(True, "aaaa"): 20, (True, "rara"): 5, (False, "rara"): 12, (False, "rrrr"): 8}
NARROW = (320, 640)

# What a model, a file or a plan may say. Nothing of it may run, hide or push the page apart.
ACTS = (
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
    '"><svg onload="window.hit = 1"></style></title><base href="http://192.0.2.1/">'
    "<style>*{display:none}</style><meta http-equiv=refresh content='0;url=http://192.0.2.1/'>"
    "{{ 7 * 7 }}{% raw %}]]>--><iframe src=javascript:window.hit=1></iframe>"
)
HIDES = "\u202eright to left\u202c \u200bzero\u200d\ufeff \x00\x1b[31m\x7f \u2066isolate\u2069"
TALL = "Z" + "\u0334\u0353\u0300\u0301\u0302" * 200 + "algo"
WIDE = "W" * 300
HOSTILE = f"x/{ACTS}{HIDES}{TALL}{WIDE}"


def exhibits() -> tuple[Exhibit, ...]:
    """Two of figure 6, the second with a line of a megabyte."""
    reply = f"{ACTS}\n{HIDES}\n{TALL}\n{'M' * 10**6}\n\tindented\n"
    side = Side("Solved alone", reply, HOSTILE, 30, 4, 0.0123)
    plain = Side("With the tampered chain", "1 + 1 is 2.", "", 30, 0, 1.5)
    alone = Side("Solved alone", "One and one: 2.", "2", 30, 1, 1.5)
    return (
        Exhibit("figure6-plain", "acme/a, addition", "adopted", (alone, plain)),
        Exhibit("figure6-hostile", HOSTILE, HOSTILE, (side, plain)),
    )


def written(folder: Path, name: str, **fields: Any) -> Path:
    known: dict[str, Any] = {"plan_toml": 'study = "cpt"\n', "counts": {"requests": 1200}}
    return report.write(report.ReportInput(**(known | fields)), folder / name)


def of_models(folder: Path) -> Path:
    run = synthetic.Run(
        problems=12, degrees=(1, 2), targets=("acme/closed", "planted/credulous"),
        cannot_prefix=("acme/closed",), methods=("baseline", "contradiction", "prefix"),
    )  # fmt: skip
    found = tuple(entries(synthetic.rows(run)))
    return written(folder, "cpt", entries=found, exhibits=exhibits()[:1])


def of_judges(folder: Path) -> Path:
    lines = [*rows(), *bench(MOVED, ALL), *bench(MOVED, ALL, judge="a/k")]
    found = tuple(judgements.entries(frame(lines)))
    return written(folder, "judge", entries=found, plan_toml='study = "judge"\n')


def hostile_models(folder: Path) -> Path:
    run = synthetic.Run(
        problems=6, degrees=(1, 2), targets=(HOSTILE, "b/two"), source=HOSTILE, sets=(HOSTILE,)
    )
    return written(
        folder, "hostile-cpt", entries=tuple(entries(synthetic.rows(run))), title=HOSTILE,
        plan_toml=f"{HOSTILE}\n{'P' * 10**6}", facts={HOSTILE: HOSTILE}, stopped=HOSTILE,
        notes=(HOSTILE,), failures={HOSTILE: 2}, exhibits=exhibits(),
        example=((HOSTILE, HOSTILE),),
    )  # fmt: skip


def hostile_judges(folder: Path) -> Path:
    who = {"set": HOSTILE, "generator": HOSTILE}
    lines = [*bench(MOVED, ALL, judge=HOSTILE, **who), *bench(MOVED, ALL, judge="b", **who)]
    lines += [row for place in ("begin", "end") for row in edit(said(20), place=place, k=0, **who)]
    found = tuple(judgements.entries(frame(lines)))
    return written(folder, "hostile-judge", entries=found, plan_toml=HOSTILE)


STUDIES = {"cpt": of_models, "judge": of_judges}
HOSTILES = {"cpt": hostile_models, "judge": hostile_judges}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    plain = {name: make(folder) for name, make in STUDIES.items()}
    return plain | {f"hostile {name}": make(folder) for name, make in HOSTILES.items()}


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")


def fits(page: Page) -> None:
    """Nothing pushes the page beyond its window: wide things scroll by themselves."""
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_opens_without_a_complaint_of_browser_or_axe(
    browser: Browser,
    pages: dict[str, Path],
    study: str,
    size: tuple[int, int],
    scheme: Literal["light", "dark"],
) -> None:
    with opened(browser, size, scheme=scheme) as page:
        page.goto(pages[study].as_uri())
        if (scheme, size) == ("dark", PHONE):  # once, since it takes seconds
            unfold(page)
        assert page.get_by_role("heading", level=1).count() == 1
        fits(page)
        assert not serious(page)


@pytest.mark.parametrize("study", STUDIES)
def test_the_finding_its_interval_and_what_was_left_out_stand_on_the_first_screen(
    browser: Browser, pages: dict[str, Path], study: str
) -> None:
    for size in (DESKTOP, PHONE):
        with opened(browser, size) as page:
            page.goto(pages[study].as_uri())
            said = page.locator(".said")
            assert "[" in said.first.inner_text()
            box = said.last.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] < size[1]


@pytest.mark.parametrize("study", STUDIES)
def test_nothing_is_lost_on_a_narrow_window_or_at_twice_the_size(
    browser: Browser, pages: dict[str, Path], study: str
) -> None:
    """Zoomed to 200 %, 1280 pixels are 640; to 400 %, 320."""
    for size in (NARROW, (640, 450)):
        with opened(browser, size) as page:
            page.goto(pages[study].as_uri())
            unfold(page)
            fits(page)
            clipped = page.evaluate(
                """[...document.querySelectorAll('h1, h2, h3, p, li, dd, dt, summary, figcaption')]
                .filter(each => each.scrollWidth > each.clientWidth + 1
                    && getComputedStyle(each).overflowX !== 'visible' && !each.closest('.unseen'))
                .map(each => each.textContent)"""
            )
            assert clipped == []


@pytest.mark.parametrize("study", STUDIES)
def test_headings_come_in_order_and_every_part_is_reached_from_the_keyboard(
    browser: Browser, pages: dict[str, Path], study: str
) -> None:
    with opened(browser) as page:
        page.goto(pages[study].as_uri())
        levels = page.evaluate(
            "[...document.querySelectorAll('h1,h2,h3,h4')].map(each => +each.tagName[1])"
        )
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.url.endswith("#findings")
        fold = page.locator("summary").first
        fold.focus()
        page.keyboard.press("Enter")
        assert fold.evaluate("each => each.parentElement.open")
        unfold(page)
        unreached = page.evaluate(
            """[...document.querySelectorAll('body *')].filter(each =>
                ['auto', 'scroll'].includes(getComputedStyle(each).overflowX)
                && each.scrollWidth > each.clientWidth && each.tabIndex < 0
                && !each.querySelector('a')).map(each => each.className || each.tagName)"""
        )
        assert unreached == []


@pytest.mark.parametrize("study", STUDIES)
def test_every_figure_and_its_numbers_can_be_taken_away(
    browser: Browser, pages: dict[str, Path], study: str
) -> None:
    """The policy of the page lets a download of what it holds through."""
    with opened(browser) as page:
        page.goto(pages[study].as_uri())
        unfold(page)
        for figure in page.locator("figure:has(.plate)").all():
            image = figure.locator("img").get_attribute("src")
            assert figure.locator("a[download$='.svg']").get_attribute("href") == image
            assert figure.locator("a[download$='.csv']").count() == 1
            assert figure.locator("table").count() == 1
        starts = {".svg": "<?xml", ".csv": "set,"}
        for end, start in starts.items():
            link = page.locator(f"figure a[download$='{end}']").first
            with page.expect_download() as waiting:
                link.click()
            assert waiting.value.suggested_filename.endswith(end)
            assert Path(waiting.value.path()).read_text("utf-8").startswith(start)


def test_print_shows_all_figures_and_no_navigation(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, (688, 1000)) as page:  # A4 without its margins: Chromium shrinks more
        page.goto(pages["cpt"].as_uri())
        page.emulate_media(media="print")
        assert page.locator("nav").is_hidden()
        shown = [each.is_visible() for each in page.locator("figure img").all()]
        assert shown
        assert all(shown)
        fits(page)


@pytest.mark.parametrize("study", HOSTILES)
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_that_was_said_acts_hides_or_pushes_the_page_apart(
    browser: Browser, pages: dict[str, Path], study: str, size: tuple[int, int]
) -> None:
    """Console errors, dialogs and requests to the network fail in `opened`."""
    path = pages[f"hostile {study}"]
    with opened(browser, size, allow=lambda url: url.startswith(("data:", path.as_uri()))) as page:
        page.goto(path.as_uri())
        unfold(page)
        fits(page)
        assert page.evaluate("window.hit") is None
        assert (
            page.locator("script, iframe, base, [onload], [onerror], [http-equiv=refresh]").count()
            == 0
        )
        assert page.locator("style").count() == 1
        assert page.get_by_role("heading", level=1).is_visible()
        text = page.locator("body").inner_text()
        assert (
            "⟨U+202E⟩right to left⟨U+202C⟩ ⟨U+200B⟩zero⟨U+200D⟩⟨U+FEFF⟩ ⟨U+0000⟩⟨U+001B⟩[31m"
            in text
        )
        assert "<script>window.hit = 1</script>" in text
        assert "{{ 7 * 7 }}" in text
        assert not set("\u202e\u200b\u2066\ufeff\x00\x1b\x7f") & set(page.content())


def test_a_megabyte_in_one_line_stays_in_its_box(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, PHONE) as page:
        page.goto(pages["hostile cpt"].as_uri())
        unfold(page)
        box = page.locator("figure pre.reply").nth(4).bounding_box()
        assert box is not None
        assert box["height"] < PHONE[1] / 2
        assert "characters ...]" in page.locator("figure pre.reply").nth(4).inner_text()
