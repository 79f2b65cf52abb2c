"use strict";
/*
 * What one trial shows: facts, texts, messages, digits by place.
 *
 *   trial.nodes({ why: "The last line says 183.", facts: [["outcome", "adopted"]], sections: [...] }, link)
 *
 * A piece of a text is [text, style, before]: the role of its step, whether it was tampered with and
 * what stood there. What a model or a file said is inserted as text, never as markup, and what cannot be
 * seen in it is written out. Knows nothing about other trials.
 */
const trial = (() => {
  const PORTION = 40000; // characters of a text that are laid out at once
  const ROLES = ["calculation", "reflection", "verification", "conclusion", "other"];
  const MARKS = {
    tampered: "tampered digit, the true one above it",
    adopted: "tampered digit that the reply repeats",
    value: "value that was read as the answer",
  };
  // What the answer did at a place.
  const VERDICTS = {
    adopted: ["\u25B2", "tampered, and repeated by the answer"],
    kept: ["\u2713", "tampered, but true in the answer"],
    wrong: ["\u00D7", "another wrong digit"],
  };

  // ------------------------------------------------------------------------------------- text

  // As sheets.visible: categories that show nothing, and signs that are blank by nature.
  const UNSEEN =
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180D\u180F\u2800\u3164\uFFA0\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/gu;

  const written = (sign) =>
    `\u27E8U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27E9`;

  /** The text with control, bidirectional and zero-width characters as `⟨U+202E⟩`. */
  const visible = (text) => String(text).replace(UNSEEN, written);

  /** The same as nodes: what was written out stands apart, so that it cannot pass for the text. */
  function shown(text) {
    const nodes = [];
    let from = 0;
    for (const { 0: sign, index } of text.matchAll(UNSEEN)) {
      if (index > from) nodes.push(text.slice(from, index));
      if (index === from && nodes.length) nodes.at(-1).append(written(sign));
      else nodes.push(make("span", { class: "sign" }, written(sign)));
      from = index + sign.length;
    }
    if (from < text.length) nodes.push(text.slice(from));
    return nodes;
  }

  /** An element. A function listens, a boolean is there or not, all else is only ever text. */
  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (typeof value === "boolean") element.toggleAttribute(name, value);
      else if (value !== null && value !== undefined) element.setAttribute(name, visible(value));
    }
    element.append(...children);
    return element;
  }

  /** An element that holds a text of unknown origin. */
  const tell = (tag, text, properties = {}) => make(tag, properties, ...shown(said(text)));
  const button = (text, click, more = {}) => tell("button", text, { type: "button", click, ...more });
  const unseen = (text) => make("span", { class: "unseen" }, text);
  const said = (value) => (value === null || value === undefined || value === "" ? "none" : String(value));
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

  function definitions(pairs) {
    const pair = ([name, value]) => make("div", {}, tell("dt", name), tell("dd", value));
    return make("dl", {}, ...pairs.map(pair));
  }

  // ------------------------------------------------------------------------------------ pieces

  const roleOf = (style) => (style || "").split(" ").find((word) => ROLES.includes(word));
  const marksOf = (style) => (style || "").split(" ").filter((word) => Object.hasOwn(MARKS, word));

  function marked(text, style, before) {
    const marks = marksOf(style);
    if (!marks.length) return shown(text);
    const mark = tell("mark", text, { class: marks.join(" "), title: marks.map((m) => MARKS[m]).join("; ") });
    if (before === null || before === undefined) return [mark, unseen(` (${marks.join(", ")}) `)];
    mark.title = `tampered: was ${visible(before)}`;
    const above = make("rt", {}, unseen(" (tampered, was "), ...shown(before), unseen(") "));
    return [make("ruby", {}, mark, above)];
  }

  /** A function that gives the element for the next piece: the box, or a block a step. */
  function stepper(box, pieces) {
    if (!pieces.some(([, style]) => roleOf(style))) return () => box;
    let [role, step] = [null, null];
    return (style) => {
      const own = roleOf(style) || role || "other";
      if (own === role) return step;
      [role, step] = [own, make("div", { class: "said" })];
      box.append(make("div", { class: `step ${own}` }, make("div", { class: "role" }, own), step));
      return step;
    };
  }

  /** A box with the pieces' text, of which a portion is laid out, then more on request. */
  function textBox(pieces) {
    const box = make("div", { class: "text" });
    const place = stepper(box, pieces);
    let left = pieces.reduce((sum, [text]) => sum + text.length, 0);
    let [at, offset] = [0, 0];
    const more = () => {
      for (let room = PORTION; at < pieces.length && room > 0;) {
        const [text, style, before] = pieces[at];
        let end = Math.min(text.length, offset + room);
        if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1])) end++; // a pair stays one
        place(style).append(...marked(text.slice(offset, end), style, before));
        room -= end - offset + 20; // nodes cost, too
        left -= end - offset;
        [at, offset] = end === text.length ? [at + 1, 0] : [at, end];
      }
      if (at === pieces.length) return;
      const rest = button(`Show more: ${plural(left, "character")} left`, () => [rest.remove(), more()]);
      box.append(rest);
    };
    more();
    return box;
  }

  // ------------------------------------------------------------------------------------ digits

  /** Sign, whole and fraction of plain digits; null where the text is no such number. */
  function placesOf(text) {
    const found = /^([-+\u2212]?)(\d{1,400})(?:\.(\d{1,400}))?$/.exec(said(text).trim());
    return found && { sign: found[1].replace("+", ""), whole: found[2], fraction: found[3] || "" };
  }

  function verdict(gold, tampered, value) {
    if (gold === tampered) return gold === value ? "" : "wrong";
    return value === tampered ? "adopted" : value === gold ? "kept" : "wrong";
  }

  /** The three values aligned by place, and what the answer did at each place. */
  function digits({ gold, tampered, value }) {
    const lines = [
      ["true", gold],
      ["tampered", tampered],
      ["answer", value],
    ];
    const numbers = lines.map(([, text]) => placesOf(text));
    if (numbers.includes(null)) {
      const why =
        said(value) === "none" ? "No value was read from the answer." : "These are not three plain numbers.";
      return [make("p", { class: "note" }, `${why} Digits are not compared.`), definitions(lines)];
    }
    const whole = Math.max(...numbers.map((each) => each.whole.length));
    const fraction = Math.max(...numbers.map((each) => each.fraction.length));
    const alike = numbers.every((each) => each.sign === numbers[0].sign && each.whole.length === whole);
    const spread = (each) => {
      const right = each.fraction.padEnd(fraction, alike ? "0" : " ");
      return [...each.whole.padStart(whole), ...(fraction ? `.${right}` : "")];
    };
    const rows = numbers.map(spread);
    const verdicts = rows[0].map((sign, i) =>
      alike && sign !== "." ? verdict(sign, rows[1][i], rows[2][i]) : "",
    );
    const table = digitTable(numbers, rows, verdicts, whole);
    return [
      table,
      make(
        "p",
        { class: "note" },
        alike
          ? counted(verdicts)
          : "Sign or length differ: the digits are aligned at the units, and none counts as adopted.",
      ),
    ];
  }

  function digitTable(numbers, rows, verdicts, whole) {
    const gap = (i) => (i > 0 && i < whole && (whole - i) % 3 === 0 ? "gap" : "");
    const line = (name, row) => {
      const cells = rows[row].map((sign, i) => {
        const mark = [null, rows[0][i] === sign ? "" : "tampered", verdicts[i]][row];
        return make("td", { class: gap(i) }, mark ? make("mark", { class: mark }, sign) : sign);
      });
      return make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, numbers[row].sign), ...cells);
    };
    const signs = verdicts.map((each, i) => {
      const [sign, words] = VERDICTS[each] || ["", "as in the true result"];
      return make("td", { class: gap(i) }, make("span", { "aria-hidden": "true" }, sign), unseen(words));
    });
    const foot = make("tr", {}, make("th", { scope: "row" }, "compared"), make("td"), ...signs);
    const body = make("tbody", {}, ...["true", "tampered", "answer"].map(line), foot);
    const box = make("div", {
      class: "digits",
      role: "region",
      tabindex: 0,
      "aria-label": "Digits by place",
    });
    box.append(make("table", {}, body));
    return box;
  }

  function counted(verdicts) {
    const words = Object.entries(VERDICTS).flatMap(([name, [sign, meaning]]) => {
      const n = verdicts.filter((each) => each === name).length;
      return n ? [`${sign} ${meaning}: ${plural(n, "place")}`] : [];
    });
    return words.join("; ") || "All digits are those of the true result.";
  }

  // ---------------------------------------------------------------------------------- sections

  /** A section of a trial; what is folded is laid out when it is opened. */
  function section(part) {
    const box = make("div", { class: "content" });
    const fill = () => {
      if (part.note) box.append(tell("p", part.note, { class: "note" }));
      if (part.digits) box.append(...digits(part.digits));
      for (const message of part.messages || []) {
        box.append(tell("p", message.role, { class: "role" }), textBox(message.pieces));
      }
      if (part.pieces || part.text) box.append(textBox(part.pieces || [[part.text]]));
    };
    const title = tell("h4", part.title);
    if (!part.fold) {
      fill();
      return make("section", { "data-title": part.title }, title, box);
    }
    const element = make("details", { "data-title": part.title }, make("summary", {}, title), box);
    element.addEventListener("toggle", fill, { once: true });
    return element;
  }

  /** Explains the marks that occur in the texts. */
  function legend(sections) {
    const pieces = sections.flatMap((part) => [
      ...(part.pieces || []),
      ...(part.messages || []).flatMap((m) => m.pieces),
    ]);
    const found = new Set(pieces.map(([, style]) => style).flatMap(marksOf));
    const line = (name) => make("span", {}, make("mark", { class: name }, "7"), ` ${MARKS[name]}`);
    return Object.keys(MARKS)
      .filter((name) => found.has(name))
      .map(line);
  }

  function side(each, link) {
    const title = each.id ? tell("a", each.title, link(each.id)) : tell("span", each.title);
    const parts = (each.sections || []).map(section);
    return make("section", { class: "side" }, make("h4", {}, title), definitions(each.facts || []), ...parts);
  }

  /** All of a trial but its title; `link(id)` gives the properties of a link to another one. */
  function nodes({ why, facts = [], sides = [], sections = [], beside = [] }, link) {
    const marks = legend([...sides.flatMap((each) => each.sections || []), ...sections]);
    const others = beside.map(({ id, title, note }) =>
      make("li", {}, tell("a", title, link(id)), note ? `: ${visible(note)}` : ""),
    );
    const found = [];
    if (why) found.push(tell("p", why, { class: "why" }));
    found.push(definitions(facts));
    if (marks.length) found.push(make("p", { class: "legend note" }, ...marks));
    if (sides.length) found.push(make("div", { class: "sides" }, ...sides.map((each) => side(each, link))));
    found.push(...sections.map(section));
    if (others.length)
      found.push(make("section", {}, make("h4", {}, "Beside it"), make("ul", {}, ...others)));
    return found;
  }

  return { button, definitions, make, nodes, plural, said, shown, tell, visible };
})();
