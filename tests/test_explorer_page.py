"""The trial explorer as a person uses it: in Chromium, from disk, on drawn trials."""

from __future__ import annotations

import base64
import gzip
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import trial_pages
from browser import DESKTOP, PHONE, opened, serious
from misled.sheets import visible
from trial_pages import Trials, dossier, identity, made

ALL = made(700)
FORBIDDEN: tuple[str, ...] = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write")
FORBIDDEN += ("eval(", "Function(")
FORBIDDEN += ("import(", "setTimeout('", 'setTimeout("', "</script", "<!--", "srcdoc", "DOMParser")
# Texts that want to be more than text.
HOSTILE = {
    "script": "<script>window.ran = 1; alert(1)</script><img src=x onerror='window.ran = 1'>",
    "markup": "</pre></div></section></main><h1>All is well</h1><style>*{display:none}</style>",
    "address": "javascript:window.ran=1 <a href='javascript:window.ran=1'>a</a> data:text/html,x",
    "bidirectional": "safe \u202e\u2066 reversed \u2069\u202c end \u200f\u061c",
    "zero width": "no\u200bthing\u2060 \ufeffto\u00ad see\u180e \U000e0041\U000e0042",
    "controls": "\x00\x01\x08\x0b\x0c\r\x1b[31m\x7f\x85\u2028\u2029 end",
    "surrogates": "\ud800 alone, \udfff alone, \U0001f600 together",
    "zalgo": "Z" + "\u0334\u0353\u0300\u0301\u0302" * 400 + "algo",
    "long": "W" * 30_000,
    "wide": "\u2588" * 3_000 + " \ufdfd" * 200,
    "template": "${window.ran=1} {{ 7*7 }} {% raw %} &lt;b&gt; &amp;#0;",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page of 700 trials."""
    path = tmp_path_factory.mktemp("explorer") / "trials.html"
    return trial_pages.page(path, ALL).as_uri()


def ready(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator(".found")).to_contain_text(" of ")


def found(page: Page) -> int:
    text = page.locator(".found").inner_text()
    return int(text.split(" of ", 1)[0].replace(",", ""))


def tick(page: Page, facet: str, option: str) -> None:
    box = page.locator("fieldset", has=page.locator("legend", has_text=facet))
    box.get_by_label(re.compile(rf"^{re.escape(option)}\s*[\d,]+$")).click()


def column(name: str) -> list[Any]:
    """What stands in a column of the index, a value a trial."""
    raw = next(c for c in ALL.index["columns"] if c["name"] == name)
    if raw["kind"] == "number":
        return list(np.frombuffer(gzip.decompress(base64.b64decode(raw["data"])), "<f4"))
    codes = np.frombuffer(gzip.decompress(base64.b64decode(raw["codes"])), "<u2")
    return [raw["values"][code] for code in codes]


def test_filters_leave_the_trials_that_fit_and_count_what_each_option_would_leave(
    browser: Browser, place: str
) -> None:
    chosen: dict[str, set[Any]] = {
        "target": {"planted/model-1", "planted/model-3"},
        "D_T": {2},
        "outcome": {"adopted"},
    }
    names = {"target": "target", "D_T": "d_t", "outcome": "outcome", "flags": "flags"}
    values = {facet: column(name) for facet, name in names.items()}
    with opened(browser) as page:
        ready(page, place)
        for facet, options in chosen.items():
            for option in options:
                tick(page, facet, str(option))
        fit = [{f: values[f][i] in own for f, own in chosen.items()} for i in range(700)]
        assert found(page) == sum(all(each.values()) for each in fit) > 0
        for facet in names:
            others = [all(v for f, v in each.items() if f != facet) for each in fit]
            left = [v for v, other in zip(values[facet], others, strict=True) if other]
            if facet == "flags":
                left = [part for v in left for part in (v or "none").split(", ")]
            wanted = Counter(map(str, left))
            box = page.locator("fieldset", has=page.locator("legend", has_text=facet))
            lines = box.locator("label").all_inner_texts()
            shown = dict(line.replace("\n", " ").rsplit(" ", 1) for line in lines)
            assert {k.strip(): int(v) for k, v in shown.items() if v != "0"} == wanted
        chips = page.locator(".chips button")
        expect(chips).to_have_count(5)  # four, and one that clears
        chips.last.click()
        assert found(page) == 700


def test_search_finds_words_in_any_column_and_compares_numbers(
    browser: Browser, place: str
) -> None:
    r, outcomes, golds = column("r_cpt"), column("outcome"), column("gold")
    with opened(browser) as page:
        ready(page, place)
        search = page.get_by_role("searchbox", name="Search")
        search.fill("Adopted")
        assert found(page) == outcomes.count("adopted")
        search.fill(golds[40][2:13])
        assert found(page) == sum(golds[40][2:13] in each for each in golds) > 0
        search.fill("adopted r_cpt>0.5")
        wanted = [x > 0.5 and o == "adopted" for x, o in zip(r, outcomes, strict=True)]
        assert found(page) == sum(wanted)
        search.fill("no such thing")
        assert found(page) == 0
        assert page.locator(".rows .row").count() == 0


def test_a_search_takes_columns_by_any_name_and_says_how_it_was_read(
    browser: Browser, place: str
) -> None:
    r, tokens, outcomes = column("r_cpt"), column("completion_tokens"), column("outcome")
    d_t, golds, problems = column("d_t"), column("gold"), column("problem")
    text = trial_pages.QUESTION.format(3)
    queries: dict[str, tuple[str, Callable[[int], bool]]] = {
        "R_CPT>=0.5": ("r cpt >= 0.5", lambda i: r[i] >= 0.5),
        "r cpt <= 0.5": ("r cpt <= 0.5", lambda i: r[i] <= 0.5),
        "Completion Tokens > 1,000": ("completion tokens > 1,000", lambda i: tokens[i] > 1000),
        f"completion tokens={tokens[5]:.0f}": ("tokens =", lambda i: tokens[i] == tokens[5]),
        "d_t>4 outcome = ADOPTED": ("D_T > 4; outcome = ADOPTED", lambda i: d_t[i] > 4
                                    and outcomes[i] == "adopted"),
        f"GOLD={golds[7]}": (f"gold = {golds[7]}", lambda i: golds[i] == golds[7]),
        "problem addition-3": ("problem = addition-3", lambda i: problems[i] == "addition-3"),
        "problem=addition-3 adopted": ("in outcome", lambda i: problems[i] == "addition-3"
                                       and outcomes[i] == "adopted"),
        text[8:40]: ("in question", lambda i: problems[i] == "addition-3"),
        f'"{text[8:40].upper()}" adopted': ("in question", lambda i: problems[i] == "addition-3"
                                            and outcomes[i] == "adopted"),
        f"#trial={identity(9)}": ("the trial", lambda i: i == 9),
    }  # fmt: skip
    with opened(browser) as page:
        ready(page, place)
        for query, (said, fits) in queries.items():
            page.get_by_role("searchbox").fill(query)
            expect(page.locator(".told")).to_contain_text(said)
            assert found(page) == sum(map(fits, range(700))) > 0, query


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("xyzzy", "\u201cxyzzy\u201d nowhere"),
        ("method=prefiks", "method can be: baseline, uncertainty, contradiction, prefix."),
        ("r_cpt > x", "r cpt is a number"),
        ("outcome =", "outcome can be: adopted"),
        ("such = 5", "\u201csuch\u201d nowhere"),
        ('= "', "\u201c=\u201d nowhere"),
    ],
)
def test_a_search_that_finds_nothing_says_why_and_what_to_write(
    browser: Browser, place: str, query: str, said: str
) -> None:
    with opened(browser) as page:
        ready(page, place)
        page.get_by_role("searchbox").fill(query)
        told = page.locator(".told")
        expect(told).to_contain_text(said)
        expect(told).to_contain_text("outcome=adopted")
        expect(told).to_contain_text("Columns: ")
        assert found(page) == 0
        assert not serious(page)


def test_a_search_says_what_the_filters_leave_out_of_it(browser: Browser, place: str) -> None:
    with opened(browser) as page:
        ready(page, f"{place}#outcome=adopted&q=recovered")
        n = column("outcome").count("recovered")
        expect(page.locator(".told")).to_contain_text(f"Outside the filters: {n} more rows")
        page.get_by_role("button", name="Clear the filters").click()
        assert found(page) == n


def test_a_page_opens_on_what_its_run_is_about_and_shows_all_on_request(
    browser: Browser, tmp_path: Path
) -> None:
    few = made(60, opened={"arm": "tampered", "nothing": "x"})
    address = trial_pages.page(tmp_path / "opened.html", few).as_uri()
    arms = next(c for c in few.index["columns"] if c["name"] == "arm")
    codes = np.frombuffer(gzip.decompress(base64.b64decode(arms["codes"])), "<u2")
    n = int((codes == arms["values"].index("tampered")).sum())
    with opened(browser) as page:
        ready(page, address)
        assert found(page) == n
        page.get_by_role("button", name="Remove arm: tampered").click()
        assert found(page) == 60
        page.wait_for_url("**#q=")
        page.reload()
        expect(page.locator(".found")).to_contain_text("60 of 60")
        page.go_back()
        expect(page.locator(".found")).to_contain_text(f"{n} of 60")
        page.goto(f"{address}#trial={identity(5)}")
        page.reload()
        expect(page.locator(".found")).to_contain_text("60 of 60")


def test_rows_are_counted_beside_the_requests_that_they_share(browser: Browser, place: str) -> None:
    with opened(browser) as page:
        ready(page, place)
        expect(page.locator(".found")).to_have_text("700 of 700 rows, with 349 of 349 requests")
        note = page.locator(".explorer > .note").first
        expect(note).to_contain_text("stands in several rows. In 2 rows nothing was asked.")
        tick(page, "outcome", "adopted")
        places = [i for i, outcome in enumerate(column("outcome")) if outcome == "adopted"]
        own = len({i // 2 for i in places} - {0})
        expect(page.locator(".found")).to_have_text(
            f"{len(places)} of 700 rows, with {own} of 349 requests"
        )


def test_the_list_leads_with_what_tells_trials_apart(browser: Browser, place: str) -> None:
    with opened(browser) as page:
        ready(page, f"{place}#d_t=3")
        names = page.get_by_role("columnheader").all_inner_texts()
        assert names[:6] == ["outcome", "method", "question", "gold", "value", "target"]


def test_a_column_sorts_up_down_and_not_with_nothing_last(browser: Browser, place: str) -> None:
    with opened(browser) as page:
        ready(page, place)
        head = page.get_by_role("columnheader").get_by_role("button", name="r cpt")

        def cells() -> list[str]:
            names = page.get_by_role("columnheader").all_inner_texts()
            at = next(i for i, name in enumerate(names) if name.startswith("r cpt"))
            rows = page.locator(".rows .row").all()[:9]
            return [row.locator("[role=gridcell]").nth(at).inner_text() for row in rows]

        before = cells()
        head.click()
        up = [float(x) for x in cells()]
        assert up == sorted(up)
        assert up[0] < 0.05
        head.click()
        down = [float(x) for x in cells()]
        assert down == sorted(down, reverse=True)
        assert down[0] > 0.95
        assert page.get_by_role("columnheader", name="r cpt").get_attribute("aria-sort") == (
            "descending"
        )
        assert page.evaluate("document.activeElement.textContent").startswith("r cpt")
        page.locator(".list").press("End")
        expect(page.locator(".rows .row").last.locator(".amount").first).to_have_text("–")
        page.keyboard.press("Escape")
        head.click()
        page.locator(".list").evaluate("each => each.scrollTop = 0")
        expect(page.locator(".rows .row").first).to_have_attribute("aria-rowindex", "2")
        assert cells() == before


def test_trials_are_read_one_after_the_other_with_the_keyboard_alone(
    browser: Browser, place: str
) -> None:
    with opened(browser) as page:
        ready(page, place)
        title = page.locator(".trial h3")
        where = page.locator(".trial .tools .note").first
        page.locator(".list").focus()
        page.keyboard.press("ArrowDown")
        expect(where).to_have_text("1 of 700")
        for key, at in [("j", 2), ("j", 3), ("k", 2), ("ArrowDown", 3), ("End", 700), ("j", 700)]:
            page.keyboard.press(key)
            expect(where).to_have_text(f"{at} of 700")
            expect(title).to_contain_text(f"D_T {(at - 1) % 6 + 1}")
            marked = page.locator(".list").get_attribute("aria-activedescendant")
            row = page.locator(f"#{marked}")
            assert row.get_attribute("aria-rowindex") == str(at + 1)
            assert row.get_attribute("aria-selected") == "true"
        assert page.locator(".rows .row").count() < 80  # only what is in sight
        page.keyboard.press("/")
        page.keyboard.type("jk")  # typed, not followed
        expect(where).to_have_text("not among those found")
        expect(page.get_by_role("searchbox")).to_have_value("jk")
        page.get_by_role("searchbox").fill("")
        page.keyboard.press("Escape")
        expect(page.locator(".trial")).to_be_hidden()
        expect(page.locator(".list")).to_be_focused()


def test_the_next_trial_is_read_from_where_the_last_one_was(browser: Browser, place: str) -> None:
    part = "document.querySelector(\"[data-title='The chain as sent']\")"
    pane = "document.querySelector('.trial')"
    with opened(browser) as page:
        ready(page, f"{place}#trial={identity(3)}")
        expect(page.locator(".trial .digits")).to_be_visible()
        page.evaluate(f"{pane}.scrollTop = {part}.offsetTop + 7")
        page.keyboard.press("j")
        expect(page.locator(".trial .tools .note").first).to_have_text("5 of 700")
        assert page.evaluate(f"{pane}.scrollTop - {part}.offsetTop") == 7
        page.evaluate(f"{pane}.scrollTop = 1e6")
        page.keyboard.press("k")
        expect(page.locator(".trial .tools .note").first).to_have_text("4 of 700")
        left = page.evaluate(f"{pane}.scrollHeight - {pane}.scrollTop - {pane}.clientHeight")
        assert left < 2


def test_a_link_opens_one_trial_and_back_leads_to_the_list_as_it_was(
    browser: Browser, place: str
) -> None:
    with opened(browser) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        ready(page, place)
        tick(page, "outcome", "partial")
        page.wait_for_url("**#outcome=partial")
        n = found(page)
        page.locator(".rows .row").nth(2).click()
        page.wait_for_url("**#trial=*&outcome=partial")
        name = page.locator(".trial h3").inner_text()
        page.keyboard.press("j")
        expect(page.locator(".trial h3")).not_to_have_text(name)
        page.keyboard.press("k")
        expect(page.locator(".trial h3")).to_have_text(name)
        page.wait_for_timeout(250)
        page.reload()
        expect(page.locator(".trial h3")).to_have_text(name)
        assert found(page) == n
        page.go_back()
        expect(page.locator(".trial")).to_be_hidden()
        assert found(page) == n
        page.go_back()
        expect(page.locator(".found")).to_contain_text("700 of 700 rows")
        page.go_forward()
        page.go_forward()
        expect(page.locator(".trial h3")).to_have_text(name)
        page.get_by_role("button", name="in the same file or view").click()
        link = page.evaluate("navigator.clipboard.readText()")
        assert link == f"#trial={re.findall('[0-9a-f]{16}', page.url)[0]}"
        expect(page.locator(".tools [role=status]")).to_have_text(f"copied {link}")
        page.get_by_role("button", name="Back to the list").click()
        expect(page.locator(".trial")).to_be_hidden()
        page.get_by_role("button", name="Remove outcome: partial").click()
        assert found(page) == 700
        ready(page, f"{place}#trial=0123456789abcdef")
        page.reload()
        expect(page.locator(".trial")).to_contain_text("holds no trial of this name")


def test_an_address_of_another_page_or_of_nonsense_is_survived(
    browser: Browser, place: str
) -> None:
    with opened(browser) as page:
        ready(page, f"{place}#findings")
        odd = ("#trial=<b>", "#outcome=never&nothing=1&sort=no", "#sort=__proto__")
        for end in (*odd, "#%E0%A4%A==&q=%", "#tables"):
            page.evaluate("end => { location.hash = end }", end)
            page.wait_for_url("**#*")
            assert found(page) in (0, 700)
        expect(page.get_by_role("searchbox")).to_have_value("%")  # as it was before #tables


def test_the_chain_shows_roles_and_changed_digits_with_what_stood_there(
    browser: Browser, place: str
) -> None:
    with opened(browser) as page:
        ready(page, f"{place}#trial={identity(1)}")
        chain = page.locator("[data-title='The chain as sent']")
        roles = chain.locator(".step .role").all_inner_texts()
        assert roles == ["other", "calculation", "reflection", "verification", "conclusion"]
        was = [t for _, style, *rest in dossier(1)["sections"][2]["pieces"] for t in rest]
        above = chain.locator("rt").all_inner_texts()
        assert [re.sub(r"\(tampered, was|\)|\s", "", text) for text in above] == was
        assert was
        styles = chain.locator(".wording").evaluate_all(
            "all => all.map(e => getComputedStyle(e).borderLeftStyle + e.clientLeft)"
        )
        assert len(set(styles)) == 5  # never by colour alone
        assert page.locator(".legend").inner_text().startswith("7 changed")


def test_digits_are_aligned_by_place_and_say_what_the_answer_did(
    browser: Browser, tmp_path: Path
) -> None:
    def texts(i: int) -> dict[str, Any]:
        rows = [["1", "1", "1", "same"], ["2", "7", "7", "adopted"], ["3", "8", "3", "kept"]]
        rows += [[".", ".", ".", "same"], ["4", "9", "1", "wrong"]]
        whole: dict[str, Any] = {"gold": "123.4", "tampered": "178.9", "value": "173.1"}
        shown = [whole | {"rows": rows}, {"gold": "5", "tampered": None, "value": None}][i]
        return {"id": identity(i), "title": "t", "sections": [{"title": "Digits", "digits": shown}]}

    address = trial_pages.page(tmp_path / "digits.html", Trials(made(2).index, texts)).as_uri()
    with opened(browser) as page:
        ready(page, f"{address}#trial={identity(0)}")
        table = page.locator(".digits tr")
        expect(table).to_have_count(4)
        lines = [line.locator("td").all_inner_texts() for line in table.all()]
        assert ["".join(line) for line in lines[:3]] == ["123.4", "178.9", "173.1"]
        assert [text.strip()[:1] for text in lines[3]] == ["a", "▲", "✓", "a", "×"]
        assert page.locator(".digits mark.adopted").all_inner_texts() == ["7"]
        expect(page.locator(".trial")).to_contain_text("repeated by the answer: 1 place;")
        ready(page, f"{address}#trial={identity(1)}")
        page.reload()
        expect(page.locator(".digits tr")).to_have_count(2)
        expect(page.locator(".digits")).to_contain_text("–")


def test_two_verdicts_stand_side_by_side_and_lead_to_each_other(
    browser: Browser, tmp_path: Path
) -> None:
    def texts(i: int) -> dict[str, Any]:
        said = [{"title": "Reply", "pieces": [["incorrect", "value"]]}]
        sides = [
            {"title": name, "id": identity(at), "facts": [["verdict", "reject"]], "sections": said}
            for at, name in enumerate(["without the chain", "with the chain"])
        ]
        return {"id": identity(i), "title": f"trial {i}", "sides": sides}

    address = trial_pages.page(tmp_path / "sides.html", Trials(made(2).index, texts)).as_uri()
    with opened(browser) as page:
        ready(page, f"{address}#trial={identity(0)}")
        first, second = (page.locator(".side").nth(i).bounding_box() for i in (0, 1))
        assert first
        assert second
        assert first["y"] == second["y"]
        assert first["x"] + first["width"] <= second["x"]
        page.get_by_role("link", name="with the chain", exact=True).click()
        expect(page.locator(".trial h3")).to_have_text("trial 1")
        page.wait_for_url(f"**#trial={identity(1)}*")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page in which every text is hostile, in list, filters, facts, titles and sections."""
    everything = list(HOSTILE.values())
    n = len(everything)
    codes = trial_pages.packed(np.arange(n, dtype="<u2"))
    columns = [
        {"name": "said <b>", "label": everything[i], "kind": kind, "values": everything}
        | {"codes": codes}
        for i, kind in enumerate(("facet", "text"))
    ]

    def texts(i: int) -> dict[str, Any]:
        text = everything[i]
        pieces = [[text, "calculation"], ["7", "calculation tampered", text], [text, "value"]]
        return {
            "id": identity(i),
            "title": text,
            "why": text,
            "facts": [[text, text]],
            "sections": [
                {"title": text, "note": text, "pieces": pieces},
                {"title": "Messages", "messages": [{"role": text, "pieces": [[text, text]]}]},
                {"title": "Digits", "digits": {"gold": text, "tampered": text, "value": text}},
            ],
            "sides": [{"title": text, "id": text, "facts": [[text, text]], "sections": []}],
            "beside": [{"title": text, "id": text, "note": text}],
        }

    path = tmp_path_factory.mktemp("hostile") / "trials.html"
    return trial_pages.page(path, Trials(made(n, columns=columns).index, texts)).as_uri()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_hostile_texts_are_only_text_and_stay_in_their_place(
    browser: Browser, hostile: str, size: tuple[int, int]
) -> None:
    with opened(browser, size) as page:
        ready(page, hostile)
        assert _overflow(page) <= 0
        for i, text in enumerate(HOSTILE.values()):
            page.evaluate(f"location.hash = '#trial={identity(i)}'")
            box = page.locator(".trial .passage").nth(1)
            expect(page.locator(".trial .body > .note").last).to_contain_text(identity(i))
            assert box.text_content() == visible(text)[:200_000] or len(text) > 9000
            assert _overflow(page) <= 0
            assert page.locator(".trial").evaluate("e => e.scrollWidth - e.clientWidth") <= 0
        page.evaluate("location.hash = '#q='")
        for text in HOSTILE.values():
            page.get_by_role("searchbox").fill(text)
            assert _overflow(page) <= 0
        page.evaluate(f"location.hash = '#trial={identity(0)}'")
        expect(page.locator(".trial .side")).to_be_visible()
        assert page.evaluate("window.ran") is None
        assert page.locator("h1").count() == 1
        assert page.locator(".explorer :is(script, img, style, iframe)").count() == 0
        links = page.locator(".trial a").evaluate_all("all => all.map(a => a.protocol)")
        assert set(links) == {"file:"}


def _overflow(page: Page) -> int:
    found = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert isinstance(found, int)
    return found


def test_what_is_invisible_is_written_out_as_in_every_table(browser: Browser, place: str) -> None:
    ranges = [(0, 0x10000), (0xE0000, 0xE0200), (0x1F600, 0x1F610), (0x110BD, 0x110BE)]
    with opened(browser) as page:
        ready(page, place)
        shown = page.evaluate(
            "ranges => ranges.flatMap(([a, b]) => Array.from({ length: b - a }, (_, i) => "
            "trial.visible(String.fromCodePoint(a + i)).length > 2 ? '1' : '0')).join('')",
            ranges,
        )
    signs = [chr(code) for a, b in ranges for code in range(a, b)]
    wanted = ["1" if visible(sign) != sign else "0" for sign in signs]
    pairs = zip(signs, wanted, shown, strict=True)
    # A browser may know letters that are younger than Python's tables.
    assert not [s for s, one, other in pairs if one != other and unicodedata.category(s) != "Cn"]


def test_a_text_of_five_million_characters_opens_at_once_and_shows_more_on_request(
    browser: Browser, tmp_path: Path
) -> None:
    def texts(i: int) -> dict[str, Any]:
        text = "a \u0000 long, long reply \U0001f600 " * 200_000
        part = {"title": "Reply", "pieces": [[text, "calculation"]]}
        return {"id": identity(i), "title": "long", "sections": [part]}

    address = trial_pages.page(tmp_path / "long.html", Trials(made(1).index, texts)).as_uri()
    with opened(browser) as page:
        began = time.perf_counter()
        ready(page, f"{address}#trial={identity(0)}")
        more = page.get_by_role("button", name="Show more")
        expect(more).to_contain_text("characters left")
        first = len(page.locator(".passage").text_content() or "")
        more.click()
        assert len(page.locator(".passage").text_content() or "") > 1.5 * first
        assert time.perf_counter() - began < 5  # tenths of a second on a quiet machine
        assert page.locator(".trial *").count() < 20_000


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_list_and_in_an_opened_trial(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    address = trial_pages.page(tmp_path / "few.html", made(40)).as_uri()
    with opened(browser, size, scheme=scheme) as page:
        ready(page, f"{address}#outcome=adopted&outcome=partial&outcome=recovered")
        assert not serious(page)
        page.locator(".rows .row").first.click()
        expect(page.locator(".trial .digits")).to_be_visible()
        assert not serious(page)


def test_on_a_phone_a_trial_covers_the_list_and_leads_back(browser: Browser, place: str) -> None:
    with opened(browser, PHONE) as page:
        ready(page, place)
        page.get_by_role("button", name="Filters").click()
        tick(page, "outcome", "adopted")
        page.get_by_role("button", name="Filters").click()
        page.locator(".rows .row").nth(1).click()
        box = page.locator(".trial").bounding_box()
        assert box
        assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, *PHONE)
        expect(page.locator(".trial h3")).to_be_focused()
        assert page.locator(".list").evaluate("each => each.inert")
        page.get_by_role("button", name="Next trial").click()
        page.get_by_role("button", name="Back to the list").click()
        expect(page.locator(".trial")).to_be_hidden()
        assert not page.locator(".list").evaluate("each => each.inert")
        page.locator(".rows .row").nth(1).click()
        page.wait_for_url("**#trial=*")
        page.go_back()
        expect(page.locator(".trial")).to_be_hidden()
        assert found(page) == column("outcome").count("adopted")


def test_cards_of_a_phone_name_what_they_say_and_show_it_whole(
    browser: Browser, place: str
) -> None:
    with opened(browser, PHONE) as page:
        ready(page, f"{place}#d_t=3&sort=-gold")
        cards = page.locator(".rows .row").all()[:4]
        for card in cards:
            cells = card.locator("[role=gridcell]").all()
            assert len(cells) == 7
            names = [cell.get_attribute("data-label") for cell in cells]
            assert names == ["outcome", "method", "question", "gold", "value", "target", "set"]
            box = card.bounding_box()
            assert box
            for cell in cells:
                own = cell.bounding_box()
                assert own
                assert own["y"] + own["height"] <= box["y"] + box["height"]
        page.get_by_role("button", name="Filters").click()
        panel = page.locator(".filters")
        assert panel.evaluate("e => e.scrollWidth - e.clientWidth") <= 0


def test_print_shows_the_opened_trial_only(browser: Browser, place: str) -> None:
    with opened(browser) as page:
        ready(page, place)
        page.emulate_media(media="print")
        expect(page.locator(".explorer")).to_be_hidden()
        page.emulate_media(media="screen")
        page.locator(".rows .row").first.click()
        expect(page.locator(".trial .digits")).to_be_visible()
        page.emulate_media(media="print")
        for gone in ("h1", "h2", ".list", ".filters", ".bar", ".tools"):
            expect(page.locator(gone).first).to_be_hidden()
        expect(page.locator(".trial h3")).to_be_visible()
        assert page.locator(".trial").evaluate("e => getComputedStyle(e).overflow") == "visible"


def _spoilt(trials: Trials, change: Callable[[dict[str, Any]], None]) -> Trials:
    index = trials.index | {"columns": [dict(c) for c in trials.index["columns"]]}
    change(index)
    return Trials(index, trials.texts)


def test_where_texts_are_missing_the_index_is_shown_with_the_reason(
    browser: Browser, tmp_path: Path
) -> None:
    none = trial_pages.page(tmp_path / "none.html", made(3, kept="none"))
    wrong = trial_pages.page(
        tmp_path / "wrong.html", Trials(made(3).index, lambda i: dossier(i + 1))
    )
    lost = trial_pages.page(tmp_path / "lost.html", made(3), blocks=())
    for path, why in [(none, "misled view DIR"), (wrong, "of another trial"), (lost, "be read")]:
        with opened(browser) as page:
            ready(page, f"{path.as_uri()}#trial={identity(1)}")
            expect(page.locator(".trial .why")).to_contain_text(why)
            page.get_by_text("more facts").click()
            expect(page.locator(".trial dl").first).to_contain_text("target")


def test_an_index_that_is_not_whole_is_said_to_be_unreadable(
    browser: Browser, tmp_path: Path
) -> None:
    def shorter(index: dict[str, Any]) -> None:
        index["columns"][0]["codes"] = trial_pages.packed(np.zeros(3, "<u2"))

    def beyond(index: dict[str, Any]) -> None:
        index["columns"][0]["codes"] = trial_pages.packed(np.full(5, 99, "<u2"))

    def broken(index: dict[str, Any]) -> None:
        index["ids"] = "AAAA"

    def fewer(index: dict[str, Any]) -> None:
        index["requests"] = trial_pages.packed(np.zeros(3, "<u4"))

    for change in (shorter, beyond, broken, fewer):
        path = trial_pages.page(tmp_path / "spoilt.html", _spoilt(made(5), change))
        with opened(browser) as page:
            page.goto(path.as_uri())
            expect(page.locator(".found")).to_contain_text("The trials cannot be shown: ")


def test_without_unpacking_or_without_script_the_section_says_what_it_needs(
    browser: Browser, place: str
) -> None:
    with opened(browser, script="delete window.DecompressionStream") as page:
        page.goto(place)
        expect(page.locator(".found")).to_contain_text("too old to unpack")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(place)
    expect(page.locator(".explorer")).to_contain_text("needs JavaScript")
    context.close()


def test_a_run_without_trials_is_a_page_without_rows(browser: Browser, tmp_path: Path) -> None:
    with opened(browser) as page:
        ready(page, trial_pages.page(tmp_path / "empty.html", made(0)).as_uri())
        assert page.locator(".found").inner_text() == "0 of 0 rows, with 0 of 0 requests"


def test_the_scripts_write_no_markup_and_are_short() -> None:
    for path in trial_pages.SCRIPTS:
        text = path.read_text(encoding="utf-8")
        assert not [word for word in FORBIDDEN if word in text], path
        assert '"use strict"' in text or path != trial_pages.SCRIPTS[0]
        assert len(text.splitlines()) <= 600
        assert max(map(len, text.splitlines())) <= 170  # the character class that is never shown
    for path in trial_pages.DATA.glob("explorer.*html.jinja"):
        assert not re.search(r"\son\w+=|style=", path.read_text(encoding="utf-8"))


def test_the_report_styles_nothing_of_the_explorer_by_accident() -> None:
    report, own = (
        set(re.findall(r"\.([a-z][\w-]*)", (trial_pages.DATA / name).read_text(encoding="utf-8")))
        for name in ("report.css", "explorer.css")
    )
    assert report & own <= {"explorer", "facts", "legend", "note", "sides", "unseen"}
