"""How long a report takes to write and to open, and how large it is.

    python bench/report.py              # 160,000 verdicts, and the trials of plans/paper_a.toml
    python bench/report.py RUN...       # runs as they stand, with their trials to read

Without runs, rows are drawn as frames, without walking or grading, and mean nothing; there
are no trials to read in these reports. First paint is Chromium's, median of five, from disk,
on a desk (1280 x 900) and on a phone (390 x 844).
"""

from __future__ import annotations

import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from playwright.sync_api import sync_playwright

import judgements as judge_rows
import tables as cpt_rows
from misled import (
    directory,
    effort,
    estimates,
    figures,
    figures_effort,
    figures_judge,
    judgements,
    publishing,
    report,
    sheets,
    trials,
)
from misled.records import Entry
from misled.session import reopen

ROUNDS = 5
SIZES = {"desk": (1280, 900), "phone": (390, 844)}
PAINT = """() => {
    const found = performance.getEntriesByName('first-contentful-paint')
    return found.length ? found[0].startTime : 0
}"""


def verdicts() -> pl.DataFrame:
    """10 judges, 4 generators, 4 sets of 500 items, without and with the chain."""
    rows = judge_rows.rows(500)
    plain = pl.col("condition").is_in(["answer", "reasoning"])
    return rows.filter((pl.col("arm") == "generate") | ((pl.col("arm") == "judge") & plain))


def probes() -> pl.DataFrame:
    """As many trials as the published study A has: structures on additions without comment."""
    rows = cpt_rows.rows(100)
    intact = pl.col("structure").is_null() | (pl.col("structure") == "intact")
    edited = (pl.col("set") == "addition:15+13") & (pl.col("method") == "baseline")
    return rows.filter(intact | edited)


def drawn(entries: list[Entry], rows: pl.DataFrame, study: str) -> Iterator[tuple[str, Any]]:
    """Every figure by name, with what renders it."""
    if study == "judge":
        for each in figures_judge.drawings(entries):
            yield each.name, (each, figures_judge.render)
        return
    for each in figures.drawings(entries):
        yield each.name, (each, figures.render)
    for panels in figures_effort.drawings(entries, effort.strips(trials.prepare(rows))):
        yield panels.name, (panels, figures_effort.render)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Prints what the block took, and the most memory that the process has held."""
    began, spent = time.perf_counter(), time.process_time()
    yield
    took, cost = time.perf_counter() - began, time.process_time() - spent
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {what:<34}{took:7.1f} s ({cost:.1f} s of processors), at most {most:,.0f} MB")


def written(study: str, made: Callable[[], pl.DataFrame], folder: Path) -> Path:
    """The report of drawn rows, with the seconds of each stage."""
    rows = made()
    print(f"{study}: {rows.height:,} rows")
    with timed("estimates"):
        entries = (judgements if study == "judge" else estimates).entries(rows)
    with timed(f"{len(entries):,} entries as csv, md and tex"):
        estimates.write(entries, folder / "tables")
    images: dict[str, bytes] = {}
    with timed("figures as svg, png and pdf"):
        for name, (each, render) in drawn(entries, rows, study):
            images[name], *_ = render(each, *sheets.FORMATS)
    with timed(f"the page, with {len(images)} figures"):
        run = report.ReportInput(
            entries=tuple(entries), study=study, plan_toml=f'study = "{study}"', images=images
        )
        return report.write(run, folder)


def published(run: Path, folder: Path) -> Path:
    """The report of a run that stands, with its trials."""
    print(run)
    shutil.copy(run / "misled.db", folder / "misled.db")
    session = reopen(folder)
    with timed("grading what is kept"):
        found = directory.standing(session, folder)
    with timed(f"tables, figures, and {found.rows.height:,} rows in the page"):
        return publishing.publish(session, folder, found).report


def painted(path: Path) -> None:
    """Prints the size of a page, and when Chromium first shows something of it."""
    print(f"  {path.stat().st_size / 1e6:.1f} MB")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, (width, height) in SIZES.items():
            paints, loads = [], []
            for _ in range(ROUNDS):
                page = browser.new_page(viewport={"width": width, "height": height})
                began = time.perf_counter()
                page.goto(path.as_uri())
                loads.append(time.perf_counter() - began)
                while not page.evaluate(PAINT):  # the page's policy forbids to wait for a function
                    page.wait_for_timeout(10)
                paints.append(page.evaluate(PAINT))
                page.close()
            paint, load = statistics.median(paints), statistics.median(loads)
            print(f"  {name}: first paint {paint:.0f} ms, loaded {1000 * load:.0f} ms")
        browser.close()


def main(runs: list[str]) -> None:
    """Measure drawn rows, or these runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i, run in enumerate(runs):
            (folder / str(i)).mkdir()
            painted(published(Path(run), folder / str(i)))
        if not runs:
            painted(written("judge", verdicts, folder / "judge"))
            painted(written("cpt", probes, folder / "cpt"))


if __name__ == "__main__":
    main(sys.argv[1:])
