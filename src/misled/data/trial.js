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
  const SHORT = 15; // a change that can stand above the line
  const PLAIN = /^(?:\u2013|[-\u2212]?\d{1,400}(?:\.\d{1,400})?)$/; // digits, or nothing
  const FIRST = 8; // facts that are shown without asking
  const ROLES = ["calculation", "reflection", "verification", "conclusion", "other"];
  const MARKS = {
    tampered: "changed digits or text: what stood there is small above it, or struck out behind it",
    inserted: "text that was put in",
    adopted: "tampered digit that the reply repeats",
    value: "what was read as the answer",
    verdict: "what was read as the verdict",
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
  const button = (text, click, more = {}) =>
    make("button", { type: "button", click, ...more }, ...shown(text));
  const unseen = (text) => make("span", { class: "unseen" }, text);
  const said = (value) => (value === null || value === undefined || value === "" ? "\u2013" : String(value));
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

  function definitions(pairs) {
    const pair = ([name, value]) => make("div", {}, tell("dt", name), tell("dd", value));
    return make("dl", {}, ...pairs.map(pair));
  }

  // ------------------------------------------------------------------------------------ pieces

  const roleOf = (style) => (style || "").split(" ").find((word) => ROLES.includes(word));
  const marksOf = (style) => (style || "").split(" ").filter((word) => Object.hasOwn(MARKS, word));

  /** Nodes of a piece; over changed digits stands what they were, behind a changed sentence. */
  function marked(text, style, before) {
    const marks = marksOf(style);
    if (!marks.length) return shown(text);
    const mark = tell("mark", text, { class: marks.join(" "), title: marks.map((m) => MARKS[m]).join("; ") });
    if (before === null || before === undefined) return [mark, unseen(` (${marks.join(", ")}) `)];
    mark.title = `${marks.join(", ")}: was ${visible(before)}`;
    const was = [unseen(` (${marks.join(", ")}, was `), ...shown(before), unseen(") ")];
    if (Math.max(before.length, text.length) <= SHORT)
      return [make("ruby", {}, mark, make("rt", {}, ...was))];
    return [mark, " ", make("del", {}, ...was)];
  }

  /** A function that gives the element for the next piece: a block a step, without a name where no role is. */
  function stepper(box) {
    let [role, step] = [null, null];
    return (text, style) => {
      const own = roleOf(style) || "";
      if (step && (own === role || (!own && !text.trim()))) return step;
      [role, step] = [own, make("div", { class: "wording" })];
      box.append(make("div", { class: `step ${own || "plain"}` }, make("div", { class: "role" }, own), step));
      return step;
    };
  }

  /** A box with the pieces' text, of which a portion is laid out, then more on request. */
  function textBox(pieces, plain = false) {
    const box = make("div", { class: "passage" });
    const place = plain || !pieces.some(([, style]) => roleOf(style)) ? () => box : stepper(box);
    let left = pieces.reduce((sum, [text]) => sum + text.length, 0);
    let [at, offset] = [0, 0];
    const more = () => {
      for (let room = PORTION; at < pieces.length && room > 0;) {
        const [text, style, before] = pieces[at];
        let end = Math.min(text.length, offset + room);
        if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1])) end++; // a pair stays one
        place(text, style).append(...marked(text.slice(offset, end), style, before));
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

  /** The three values without a verdict, aligned at the units. */
  function aligned(values) {
    const parts = values.map((text) => said(text).split("."));
    const [whole, fraction] = [0, 1].map((at) => Math.max(...parts.map((part) => (part[at] ?? "").length)));
    const spread = ([left, right = ""]) => {
      const tail = `${right ? "." : " "}${right.padEnd(fraction)}`;
      return [...left.padStart(whole), ...(fraction ? tail : "")];
    };
    const lines = parts.map(spread);
    return lines[0].map((_, at) => [...lines.map((line) => line[at]), ""]);
  }

  /** The values place by place, and what the answer did at each place where that can be said. */
  function digits({ gold, tampered, value, rows }) {
    const given = [gold, tampered, value];
    if (!rows && !given.map(said).every((text) => PLAIN.test(text))) {
      return [definitions(["true", "tampered", "answer"].map((name, i) => [name, given[i]]))];
    }
    const places = rows || aligned(given);
    const table = make("table", {}, digitLines(places, tampered, Boolean(rows)));
    const box = make(
      "div",
      { class: "digits", role: "region", tabindex: 0, "aria-label": "Digits by place" },
      table,
    );
    return rows ? [box, make("p", { class: "note" }, counted(places))] : [box];
  }

  function digitLines(places, tampered, compared) {
    const point = places.findIndex((place) => place.slice(0, 3).includes("."));
    const units = point < 0 ? places.length : point;
    const gap = (at) => (at > 0 && at < units && (units - at) % 3 === 0 ? "gap" : null);
    const changed = ([gold, other]) => (compared && tampered && gold !== other ? "tampered" : "");
    const line = (name, row, markOf) => {
      const cells = places.map((place, at) => {
        const mark = markOf(place);
        return make(
          "td",
          { class: gap(at) },
          ...(mark ? [tell("mark", place[row], { class: mark })] : shown(place[row])),
        );
      });
      return make("tr", {}, make("th", { scope: "row" }, name), ...cells);
    };
    const did = places.map(([, , , name], at) => {
      const [sign, words] = VERDICTS[name] || ["", "as in the true result"];
      return make("td", { class: gap(at) }, make("span", { "aria-hidden": "true" }, sign), unseen(words));
    });
    const lines = [line("true", 0, () => "")];
    if (tampered) lines.push(line("tampered", 1, changed));
    lines.push(line("answer", 2, ([, , , name]) => (name === "same" ? "" : name)));
    if (compared) lines.push(make("tr", {}, make("th", { scope: "row" }, "compared"), ...did));
    return make("tbody", {}, ...lines);
  }

  function counted(places) {
    const words = Object.entries(VERDICTS).flatMap(([name, [sign, meaning]]) => {
      const n = places.filter(([, , , did]) => did === name).length;
      return n ? [`${sign} ${meaning}: ${plural(n, "place")}`] : [];
    });
    return words.join("; ") || "All digits are those of the true result.";
  }

  // ---------------------------------------------------------------------------------- sections

  /** What a section holds: a comparison of digits, messages, else a text, which may be empty. */
  function contents({ note, digits: compared, messages = [], pieces = [], text }) {
    const found = note ? [tell("p", note, { class: "note" })] : [];
    if (compared) found.push(...digits(compared));
    for (const message of messages) {
      const role = [message.role, message.note].filter(Boolean).join(", ");
      found.push(tell("p", role, { class: "role" }), textBox(message.pieces || [], true));
    }
    const own = text ? [[text, ""]] : pieces;
    if (own.length) found.push(textBox(own));
    else if (!compared && !messages.length) found.push(make("p", { class: "note" }, "Nothing."));
    return found;
  }

  /** A section of a trial; what is folded is laid out when it is opened. */
  function section(part) {
    const title = tell("h4", part.title);
    if (!part.fold) return make("section", { "data-title": part.title }, title, ...contents(part));
    const element = make("details", { "data-title": part.title }, make("summary", {}, title));
    element.addEventListener("toggle", () => element.append(...contents(part)), { once: true });
    return element;
  }

  /** Explains the marks that occur in the texts. */
  function legend(sections) {
    const pieces = sections.flatMap((part) => [
      ...(part.pieces || []),
      ...(part.messages || []).flatMap((m) => m.pieces),
    ]);
    const found = new Set(pieces.map(([, style]) => style).flatMap(marksOf));
    const said = { inserted: "text", verdict: "yes" };
    const line = (name) =>
      make("span", {}, make("mark", { class: name }, said[name] || "7"), ` ${MARKS[name]}`);
    return Object.keys(MARKS)
      .filter((name) => found.has(name))
      .map(line);
  }

  function side(each, link) {
    const title = each.id ? tell("a", each.title, link(each.id)) : tell("span", each.title);
    const parts = (each.sections || []).map(section);
    return make("section", { class: "side" }, make("h4", {}, title), definitions(each.facts || []), ...parts);
  }

  function factList(facts) {
    if (facts.length <= FIRST + 2) return definitions(facts);
    const rest = make("details", {}, make("summary", {}, `${facts.length - FIRST} more facts`));
    rest.append(definitions(facts.slice(FIRST)));
    return make("div", { class: "facts" }, definitions(facts.slice(0, FIRST)), rest);
  }

  /** All of a trial but its title; `link(id)` gives the properties of a link to another one. */
  function nodes({ why, facts = [], sides = [], sections = [], beside = [] }, link) {
    const [first, others] = [sections.filter((part) => part.digits), sections.filter((part) => !part.digits)];
    const marks = legend([...sides.flatMap((each) => each.sections || []), ...sections]);
    const links = beside.map(({ id, title, note }) => {
      return make("li", {}, tell("a", title, link(id)), ...shown(note ? `: ${note}` : ""));
    });
    const found = [];
    if (why) found.push(tell("p", why, { class: "why" }));
    if (facts.length) found.push(factList(facts));
    found.push(...first.map(section));
    if (sides.length) found.push(make("div", { class: "sides" }, ...sides.map((each) => side(each, link))));
    if (marks.length) found.push(make("p", { class: "legend note" }, ...marks));
    found.push(...others.map(section));
    if (links.length) found.push(make("section", {}, make("h4", {}, "Beside it"), make("ul", {}, ...links)));
    return found;
  }

  return { button, definitions, make, nodes, plural, shown, tell, visible };
})();
