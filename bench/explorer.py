"""How fast the trial explorer is: in Chromium, from disk, on drawn trials.

    python bench/explorer.py [1000 10000 100000]

First paint counts from the opening of the file, to the list likewise. A change counts from the
click until the page is laid out and until the next frame has been painted, 30 of each; CPU is
what the page's main thread ran for one, which other work on the machine does not change. The
last line has the largest texts that a report may hold.
"""

from __future__ import annotations

import base64
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from browser import DESKTOP, chromium, opened
from trial_pages import made, page, shards

TIMES = 30
LIMIT = 100  # ms to a filter
SHARDS = 20_000_000  # characters of texts in a report
PAINTED = """
async ([kind, k]) => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const all = (selector) => [...document.querySelectorAll(`#trial-explorer ${selector}`)];
  await painted();
  const began = performance.now();
  if (kind === "filter") {
    const boxes = all(".filters input").filter((box) => box.checkVisibility());
    boxes[(7 * k) % boxes.length].click();
  } else if (kind === "search") {
    const [search] = all("input[type=search]");
    search.value = ["7", "71", "712", "adopted", "r_cpt>0.6", ""][k % 6];
    search.dispatchEvent(new Event("input"));
  } else if (kind === "sort") {
    const heads = all(".head button");
    heads[(5 * k) % heads.length].click();
  } else {
    const [title] = all(".trial h3");
    const was = title.textContent;
    all(".list")[0].dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
    while (title.textContent === was || title.textContent.startsWith("Reading")) await painted();
  }
  document.body.getBoundingClientRect();
  const laid = performance.now() - began;
  await painted();
  return [laid, performance.now() - began];
}
"""


def times(shown: Page, kind: str) -> str:
    """Median and worst until laid out, until painted, and the mean processor time."""
    session = shown.context.new_cdp_session(shown)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = busy(session)
    found = [shown.evaluate(PAINTED, [kind, k]) for k in range(TIMES)]
    spent = 1000 * (busy(session) - before) / TIMES
    laid, painted = ([statistics.median(x), max(x)] for x in zip(*found, strict=True))
    said = ", ".join(f"{middle:.0f} ({worst:.0f})" for middle, worst in (laid, painted))
    return f"{kind} {said}, CPU {spent:.0f}"


def busy(session: CDPSession) -> float:
    """Seconds that the page's main thread has run."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def measured(n: int, path: Path, kinds: Sequence[str]) -> str:
    """One line of what a page of n trials takes."""
    with chromium() as browser, opened(browser, DESKTOP) as shown:
        shown.goto(path.as_uri())
        shown.wait_for_selector(".rows .row")
        listed = shown.evaluate("performance.now()")
        entries: list[dict[str, Any]] = shown.evaluate(
            "performance.getEntriesByType('paint').map((each) => each.toJSON())"
        )
        paint = next(x["startTime"] for x in entries if x["name"] == "first-contentful-paint")
        changes = "; ".join(times(shown, kind) for kind in kinds)
    return (
        f"{n:,} trials, file {path.stat().st_size / 1e6:.1f} MB: first paint {paint:.0f} ms, "
        f"list at most {listed:.0f} ms; {changes}"
    )


def main() -> None:
    """Print a line for each number of trials."""
    print(f"ms, median (worst) of {TIMES}: until laid out, until painted, CPU a change")
    print(f"limit of a filter until painted: {LIMIT}; load {os.getloadavg()[0]:.1f}")
    numbers = [int(each) for each in sys.argv[1:]] or [1000, 10_000, 100_000]
    draws = random.Random(1)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "trials.html"
        for n in numbers:
            texts = n <= 10_000
            trials = made(n, kept="embedded" if texts else "none")
            index = sum(len(str(each)) for each in trials.index["columns"])
            page(path, trials, shards(trials) if texts else ())
            kinds = ("filter", "search", "sort", "next") if texts else ("filter", "search", "sort")
            print(f"index {index / 1e6:.2f} MB;", measured(n, path, kinds), flush=True)
        trials = made(numbers[-1])
        each = base64.b64encode(draws.randbytes(75_000)).decode()
        page(path, trials, [each] * (SHARDS // len(each)))
        print("largest:", measured(numbers[-1], path, ["filter"]))


if __name__ == "__main__":
    main()
