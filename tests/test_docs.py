"""The documentation says what the code does: its reference, its blocks, its links, its names."""

import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import msgspec
import pytest
from playwright.sync_api import Browser

from browser import DESKTOP, PHONE, opened
from misled import models
from misled.judge_plans import CONDITIONS, CRITERIA, SHOWN, VARIANTS, JudgeCell, JudgePlan
from misled.models import listing
from misled.perturbations import PERTURBATIONS, PLACES, SCOPES
from misled.plans import CONTRASTS, CONTROLS, Cell, Plan
from misled.problems import PROBLEM_SETS
from misled.prompts import CHANNELS, METHODS
from misled.records import OUTCOMES, Entry
from misled.row import Judged, Row
from misled.settings import ModelPlan, Prices, Settings
from misled.structures import STRUCTURES
from misled.wire import Capabilities

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
RECORDS = (Row, Judged, Entry, Settings, ModelPlan, Prices, Plan, Cell, JudgePlan, JudgeCell,
           Capabilities, models.Endpoint)  # fmt: skip
KINDS: dict[str, Any] = {
    "perturbation": PERTURBATIONS,
    "place": PLACES,
    "scope": SCOPES,
    "structure": STRUCTURES,
    "method": METHODS,
    "channel": CHANNELS,
    "control": CONTROLS,
    "contrast": CONTRASTS,
    "problem set": PROBLEM_SETS,
    "outcome": OUTCOMES,
    "condition": CONDITIONS,
    "shown": SHOWN,
    "variant": VARIANTS,
    "criterion": CRITERIA,
    "provider": [entry["provider"] for entry in listing()],
}


# --- pages against the code ------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "make" / "reference.py"))


@pytest.mark.parametrize("name", ["cli.md", "plans.md", "schema.md"])
def test_pages_of_reference_are_as_the_code_is(reference: dict[str, Any], name: str) -> None:
    made = reference["pages"]()[name]
    said = (DOCS / name).read_text("utf-8")
    assert made == said, f"docs/{name} is out of date: run python docs/make/reference.py"


@pytest.mark.parametrize("kind", RECORDS)
def test_what_a_record_describes_are_its_fields(kind: type[msgspec.Struct]) -> None:
    """A meaning whose field was renamed would be lost in silence."""
    _, _, listed = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")
    named = re.findall(r"^ {4}(\w+):", listed.split("\n\n")[0], re.MULTILINE)
    assert set(named) <= set(kind.__struct_fields__)
    assert len(named) == len(set(named))


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_that_a_user_can_give_is_in_the_pages(kind: str) -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES if page.name != "log.md")
    missing = [name for name in KINDS[kind] if not re.search(rf"\b{re.escape(name)}\b", text)]
    assert not missing


# --- blocks ----------------------------------------------------------------------------------


def test_blocks_print_what_the_pages_say() -> None:
    """In one process of their own, which imports once for all."""
    pages = [str(page) for page in (ROOT / "README.md", *PAGES)]
    script = [sys.executable, str(DOCS / "make" / "blocks.py"), *pages]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


# --- the site --------------------------------------------------------------------------------


class _Page(HTMLParser):
    """What a page names: the anchors that it has, what it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("img", "script", "link", "iframe", "source"):
            self.loads += [given[name] for name in ("src", "href") if name in given]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, _Page]:
    """The built site; a warning of the build fails every test of it."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = shutil.which("zensical", path=places)
    if command is None:
        pytest.skip("needs the extra docs: pip install '.[docs]'")
    root = tmp_path_factory.mktemp("site")
    for name in ("zensical.toml", "ARCHITECTURE.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, root)
    shutil.copytree(DOCS, root / "docs")
    build = [command, "build", "--strict"]
    done = subprocess.run(build, cwd=root, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    built = root / "build" / "site"
    found = {path: _Page(path.read_text("utf-8")) for path in built.glob("*.html")}
    del found[built / "404.html"]  # it names all by its place on a server
    assert len(found) == len(PAGES)
    return found


def test_no_link_of_the_site_is_dead(site: dict[Path, _Page]) -> None:
    for path, page in site.items():
        for link in [*page.links, *page.loads]:
            if urlsplit(link).scheme:
                continue
            name, anchor = urldefrag(link)
            target = path if not name else (path.parent / unquote(name)).resolve()
            assert target.exists(), f"{path.name}: {link}"
            if anchor and target in site:
                assert unquote(anchor) in site[target].anchors, f"{path.name}: {link}"


def test_the_site_loads_nothing_from_elsewhere(site: dict[Path, _Page]) -> None:
    for path, page in site.items():
        assert not [load for load in page.loads if urlsplit(load).netloc], path.name
    for path in next(iter(site)).parent.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", path.read_text("utf-8")), path.name


def test_the_site_works_from_disk_with_its_search(
    browser: Browser, site: dict[Path, _Page]
) -> None:
    """No request leaves the machine, nothing is wider than a phone, and a search finds."""
    with opened(browser, PHONE) as page:
        for path in sorted(site):
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path.name
    with opened(browser, DESKTOP) as page:
        page.goto(min(site).as_uri())
        page.keyboard.press("/")
        page.keyboard.type("net adoption")
        page.get_by_text("A.6 Scores").first.wait_for()
