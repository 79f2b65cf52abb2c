/*
 * All trials of a run as columns: reading them, finding in them, counting them, and its address.
 *
 *   trials.sift(facets, new Map([["outcome", new Set(["adopted"])]]), null, order)
 *   -> { hits: Uint32Array [3, 17, ...], counts: one Uint32Array a facet }
 *
 * A facet has a code a trial and a value a code, a number has itself, NaN where there is none.
 * Knows nothing about the page, but that it holds what is read.
 */
const trials = (() => {
  const KEPT = 8; // unpacked shards
  const NONE = "\u2013"; // a value that a trial does not have
  const isNone = (value) => value === null || value === "";
  const grouped = new Intl.NumberFormat("en");

  // ----------------------------------------------------------------------------------- reading

  async function unpacked(base64) {
    const raw = atob(base64);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  }

  /** A column with its numbers, or with codes and the values that they stand for. */
  async function column(raw, n) {
    const found = { ...raw, label: raw.label || raw.name.replaceAll("_", " ") };
    const buffer = await unpacked(raw.kind === "number" ? raw.data : raw.codes);
    const bytes = n ? buffer.byteLength / n : 4;
    if (bytes !== 4 && (bytes !== 2 || raw.kind === "number"))
      throw new Error(`${raw.name} has another length`);
    if (raw.kind === "number") found.data = new Float32Array(buffer);
    else found.codes = bytes === 2 ? new Uint16Array(buffer) : new Uint32Array(buffer);
    const all = found.data || found.codes;
    found.constant = all.every((x) => Object.is(x, all[0]));
    if (found.codes?.some((code) => code >= raw.values.length)) throw new Error(`${raw.name} lacks a value`);
    return raw.kind === "facet" ? { ...found, ...options(raw, found.codes) } : found;
  }

  /** What can be chosen of a facet, of a list by use, and which options each code of it stands for. */
  function options({ values, list }, codes) {
    const name = (value) => (value === null ? "" : String(value));
    const parts = values.map((value) => (list ? name(value).split(", ") : [name(value)]));
    const names = [...new Set(parts.flat())];
    if (names.every((each) => Number.isFinite(Number(each)))) {
      names.sort((a, b) => (a === "") - (b === "") || a - b);
    } else if (list) {
      const uses = new Map(names.map((each) => [each, 0]));
      for (const code of codes) for (const each of parts[code]) uses.set(each, uses.get(each) + 1);
      names.sort((a, b) => (a === "") - (b === "") || uses.get(b) - uses.get(a));
    }
    const place = new Map(names.map((each, i) => [each, i]));
    return { options: names, members: parts.map((own) => own.map((each) => place.get(each))) };
  }

  async function read(index) {
    const columns = await Promise.all(index.columns.map((raw) => column(raw, index.n)));
    const ids = new Uint8Array(await unpacked(index.ids));
    if (ids.length !== 8 * index.n) throw new Error("the names of the trials have another length");
    const requests = index.requests && new Uint32Array(await unpacked(index.requests));
    if (requests && requests.length !== index.n) throw new Error("their requests have another length");
    const varying = columns.filter((c) => !c.constant);
    const place = ({ name }) => (index.leading?.indexOf(name) + 1 || Infinity);
    const listed = varying.toSorted((a, b) => place(a) - place(b) || 0);
    const run = { ...index, columns, ids, requests, varying, listed };
    return { ...run, asked: requests && asked(run, requests.keys()) };
  }

  /** How many requests these rows have, each once, and in how many nothing was asked. */
  function asked({ requests }, rows) {
    const seen = new Uint8Array(requests.reduce((most, each) => Math.max(most, each), 0) + 1);
    let [own, none] = [0, 0];
    for (const row of rows) {
      const request = requests[row];
      if (request === 0) none++;
      else if (!seen[request]) own += seen[request] = 1;
    }
    return { own, none };
  }

  function idOf({ ids }, row) {
    const bytes = Array.from(ids.subarray(8 * row, 8 * row + 8));
    return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** The place of a trial in the index, -1 where it has none. */
  function rowOf({ ids, n }, id) {
    if (!/^[0-9a-f]{16}$/.test(id)) return -1;
    const wanted = id.match(/../g).map((pair) => parseInt(pair, 16));
    for (let row = 0; row < n; row++) {
      let i = 0;
      while (i < 8 && ids[8 * row + i] === wanted[i]) i++;
      if (i === 8) return row;
    }
    return -1;
  }

  /** A number as short as it stays honest: 0.6667, 1,234, 1.2e-7. */
  function number(x) {
    if (Number.isNaN(x)) return NONE;
    const size = Math.abs(x);
    if (Number.isInteger(x) && size < 1e9) return grouped.format(x);
    return size < 1e-3 || size >= 1e6 ? x.toExponential(1) : String(Number(x.toPrecision(4)));
  }

  /** A value as the list and the facts show it. */
  function cell(c, row) {
    if (c.data) return number(c.data[row]);
    const value = c.values[c.codes[row]];
    return isNone(value) ? NONE : String(value);
  }

  /** An option of a filter in words: "" stands for null, too. */
  const named = (c, option) => option || (c.list ? "none" : "no entry");

  /** A dossier with its texts; in a shard, a piece names the place of its text in a table. */
  function whole(node, texts) {
    if (Array.isArray(node)) return node.map((each) => whole(each, texts));
    if (node === null || typeof node !== "object") return node;
    const piece = ([text, ...rest]) => {
      const found = typeof text === "number" ? texts[text] : text;
      if (typeof found !== "string") throw new Error("one of them is missing");
      return [found, ...rest];
    };
    const own = ([name, value]) => [name, name === "pieces" ? value.map(piece) : whole(value, texts)];
    return Object.fromEntries(Object.entries(node).map(own));
  }

  /** A function that gives the texts of a row from wherever the run keeps them, null where nowhere. */
  function library(run) {
    const { mode, size } = run.texts;
    const shards = new Map();
    const parsed = async (shard) => {
      const block = document.getElementById(`trials-${shard}`);
      return JSON.parse(new TextDecoder().decode(await unpacked(block.textContent.trim())));
    };
    const embedded = async (row) => {
      const shard = Math.floor(row / size);
      if (!shards.has(shard)) shards.set(shard, parsed(shard));
      if (shards.size > KEPT) shards.delete(shards.keys().next().value);
      const { texts, dossiers } = await shards.get(shard);
      return whole(dossiers[row % size], texts);
    };
    const served = async (row) => {
      const answer = await fetch(`trial/${idOf(run, row)}.json`);
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      return answer.json();
    };
    return async (row) => {
      if (mode !== "embedded" && mode !== "served") return null;
      const found = await (mode === "served" ? served(row) : embedded(row));
      if (found?.id !== idOf(run, row)) throw new Error("those found at its place are of another trial");
      return found;
    };
  }

  /** Whether a column tells these rows apart. */
  function varies(c, rows) {
    const of = c.data || c.codes;
    return rows.some((row) => !Object.is(of[row], of[rows[0]]));
  }

  // ------------------------------------------------------------------------------------ search

  const TOKEN = /"[^"]*"|[<>]=|[<>=\u2264\u2265]|[^\s"<>=\u2264\u2265]+/g;
  const SIGNS = { "\u2264": "<=", "\u2265": ">=" };
  const COMPARED = {
    "<": (x, y) => x < y,
    ">": (x, y) => x > y,
    "<=": (x, y) => x <= y,
    ">=": (x, y) => x >= y,
    "=": (x, y) => x === y,
  };
  const RUN = 8; // words of a column's name or of a value

  const plain = (text) =>
    String(text ?? "")
      .toLowerCase()
      .replace(/[\s_]+/g, " ")
      .trim();

  /** A label without what stands in brackets behind it. */
  const brief = ({ label }) => label.split(" (", 1)[0];

  /** Columns by all that a reader may call them: name, label, with and without its brackets. */
  function titled({ columns }) {
    const found = new Map();
    for (const c of columns)
      for (const name of [c.name, c.label, brief(c)].map(plain)) if (!found.has(name)) found.set(name, c);
    return found;
  }

  /** For each code of a column, whether its value holds the text; null if none does. */
  function holding(c, text) {
    if (!c.hay) {
      const lines = c.values.map(plain);
      c.starts = new Uint32Array(lines.length + 1);
      lines.forEach((line, i) => (c.starts[i + 1] = c.starts[i] + line.length + 1));
      c.hay = lines.join("\n");
    }
    const has = new Uint8Array(c.values.length);
    let [code, at] = [0, c.hay.indexOf(text)];
    if (at < 0) return null;
    while (at >= 0) {
      while (c.starts[code + 1] <= at) code++;
      has[code] = 1;
      at = c.hay.indexOf(text, c.starts[code + 1]);
    }
    return has;
  }

  /** The text anywhere: a test of rows, and where it stands. */
  function anywhere(run, text) {
    const found = run.columns.filter((c) => c.codes).map((c) => [c, holding(c, plain(text))]);
    const holders = found.filter(([, has]) => has);
    const where = holders.map(([c]) => brief(c)).join(", ");
    return {
      fits: (row) => holders.some(([c, has]) => has[c.codes[row]]),
      said: `\u201C${text}\u201D ${where ? `in ${where}` : "nowhere"}`,
      found: holders.length > 0,
    };
  }

  /** Whether a value of a column, or an option of it, is this text. */
  function same(c, code, text) {
    const value = c.values[code];
    if (isNone(value)) return ["", NONE, "none", "no entry"].includes(text);
    if (c.members) return c.members[code].some((m) => plain(c.options[m]) === text) || plain(value) === text;
    return plain(value) === text;
  }

  /** A column compared with a text: a test of rows, in words, and what it could be compared with. */
  function compared(c, sign, text) {
    const [own, size] = [plain(text), Number(text.replaceAll(",", ""))];
    const compare = COMPARED[sign];
    const sized = (value) => !isNone(value) && text !== "" && compare(Number(value), size);
    const fit = (value, code) => (sign === "=" ? same(c, code, own) : sized(value));
    const pass = c.codes && Uint8Array.from(c.values, fit);
    const known = c.data ? Number.isFinite(size) && text !== "" : pass.includes(1);
    const options = c.options?.slice(0, RUN).map((option) => named(c, option));
    const some = options ? `can be: ${options.join(", ")}` : c.data ? "is a number" : "";
    const amount = (row) => known && compare(c.data[row], Math.fround(size));
    return {
      fits: c.data ? amount : (row) => pass[c.codes[row]],
      said: `${brief(c)} ${sign} ${text || "\u2026"}`,
      found: known,
      hint: known || !some ? "" : `${brief(c)} ${some}.`,
    };
  }

  /** The tokens of a query, with where they stand. */
  function tokens(query) {
    return [...query.matchAll(TOKEN)].map(({ 0: text, index }) => ({
      text: text.startsWith('"') ? text.slice(1, -1) : SIGNS[text] || text,
      quoted: text.startsWith('"'),
      sign: (SIGNS[text] || text) in COMPARED,
      start: index,
      end: index + text.length,
    }));
  }

  /** The most tokens from a place on that together are what `known` knows; 0 where none are. */
  function longest(query, all, from, known) {
    let n = 0;
    if (all[from]?.quoted) return known(plain(all[from].text)) ? 1 : 0;
    for (let i = from; i < Math.min(all.length, from + RUN) && !all[i].sign && !all[i].quoted; i++) {
      if (known(plain(query.slice(all[from].start, all[i].end)))) n = i - from + 1;
    }
    return n;
  }

  /** A comparison that starts at a token, `true result = 17` or `problem 3`, and how many it takes. */
  function comparison(query, all, from, names) {
    const n = longest(query, all, from, (text) => names.has(text));
    if (!n || all[from].quoted) return null;
    const c = names.get(plain(query.slice(all[from].start, all[from + n - 1].end)));
    const signed = Boolean(all[from + n]?.sign);
    const at = from + n + signed;
    const is = (text) => text !== "" && c.codes && c.values.some((_, code) => same(c, code, text));
    const whole = longest(query, all, at, is);
    const number = c.data && Number.isFinite(Number(all[at]?.text ?? "x"));
    if (!signed && !whole && !number) return null;
    const size = Math.min(whole || 1, all.length - at);
    const wording = () => query.slice(all[at].start, all[at + size - 1].end);
    const value = size < 1 ? "" : all[at].quoted ? all[at].text : wording();
    return { ...compared(c, signed ? all[from + n].text : "=", value), next: at + Math.max(size, 0) };
  }

  /** Texts that stand beside each other: as they are, or where that is nowhere each by itself. */
  function texts(run, query, part) {
    const whole = anywhere(run, query.slice(part[0].start, part.at(-1).end));
    return whole.found ? [whole] : part.map(({ text }) => anywhere(run, text));
  }

  /** What a query asks for: all of its terms must fit a row. */
  function terms(run, query) {
    const id = /(?:^|#trial=)([0-9a-f]{16})(?:$|&)/.exec(query.trim())?.[1];
    const own = id ? rowOf(run, id) : -1;
    if (own >= 0) return [{ fits: (row) => row === own, said: `the trial ${id}`, found: true }];
    const [all, names, found] = [tokens(query), titled(run), []];
    let part = [];
    const close = () => {
      if (part.length) found.push(...texts(run, query, part));
      part = [];
    };
    for (let i = 0; i < all.length;) {
      const term = comparison(query, all, i, names);
      if (term || all[i].quoted) close();
      if (term) found.push(term);
      else if (all[i].quoted) found.push(anywhere(run, all[i].text));
      else part.push(all[i]);
      i = term ? term.next : i + 1;
    }
    close();
    return found;
  }

  /** The rows that fit a query, how many, and how it was understood; null where there is none. */
  function searched(run, query) {
    const wanted = terms(run, query);
    if (!wanted.length) return null;
    const mask = new Uint8Array(run.n);
    let n = 0;
    for (let row = 0; row < run.n; row++) {
      if (wanted.every((term) => term.fits(row))) n += mask[row] = 1;
    }
    const hints = wanted.map((term) => term.hint).filter(Boolean);
    return { mask, n, said: wanted.map((term) => term.said).join("; "), hints };
  }

  /** Queries of this run as a reader could write them. */
  function examples({ listed, leading }) {
    const facet = listed.find((c) => c.kind === "facet" && leading?.includes(c.name));
    const option = facet?.options.find((each) => each && !each.includes(" ")) ?? facet?.options[0];
    const amount = listed.find((c) => c.data);
    const told = listed.find((c) => c.kind === "text");
    const code = told?.values.findIndex((value) => !isNone(value));
    return [
      facet && `${brief(facet)}=${named(facet, option)}`,
      amount && `${brief(amount)}>=1`,
      told && code >= 0 && `"${String(told.values[code]).slice(0, 24)}"`,
    ].filter(Boolean);
  }

  // ----------------------------------------------------------------------------------- address

  const blank = () => ({ trial: "", q: "", sort: "", chosen: new Map() });

  /** What a reader finds who asked for nothing: the trials that the run is about. */
  function opening(run) {
    const state = blank();
    for (const [name, value] of Object.entries(run.opened || {})) {
      const c = run.varying.find((each) => each.name === name);
      if (c?.options?.includes(value)) choose(state.chosen, name, value, true);
    }
    return state;
  }

  /** What the address says; null where its end is none of ours (`#findings`, nothing). */
  function stateIn(hash, run) {
    if (!hash.includes("=")) return null;
    const state = blank();
    for (const [name, value] of new URLSearchParams(hash.slice(1))) {
      const c = run.varying.find((each) => each.name === name);
      if (["trial", "q", "sort"].includes(name)) state[name] = value;
      else if (c?.options?.includes(value)) choose(state.chosen, name, value, true);
    }
    return state;
  }

  function address({ trial: id, q, sort, chosen = new Map() }) {
    const parts = new URLSearchParams();
    for (const [name, value] of Object.entries({ trial: id, q, sort })) if (value) parts.append(name, value);
    for (const [name, own] of chosen) for (const value of own) parts.append(name, value);
    return `#${parts.toString() || "q="}`;
  }

  function choose(chosen, name, value, on) {
    const own = new Set(chosen.get(name));
    own[on ? "add" : "delete"](value);
    if (own.size) chosen.set(name, own);
    else chosen.delete(name);
  }

  // --------------------------------------------------------------------------------- filtering

  /** The facets in which something is chosen, each with the codes that pass. */
  function restricting(facets, chosen) {
    return facets.flatMap((c, facet) => {
      const own = chosen.get(c.name);
      if (!own) return [];
      const pass = c.members.map((members) => members.some((m) => own.has(c.options[m])));
      return [{ facet, codes: c.codes, pass: Uint8Array.from(pass) }];
    });
  }

  /**
   * The rows that pass, in `order`, and for each code of a facet the rows that choosing it would
   * leave: those that pass every filter but this facet's own. One pass gives both.
   */
  function sift(facets, chosen, mask, order) {
    const codes = facets.map((c) => c.codes);
    const counts = facets.map((c) => new Uint32Array(c.values.length));
    const active = restricting(facets, chosen);
    const hits = new Uint32Array(order.length);
    let n = 0;
    for (let k = 0; k < order.length; k++) {
      const row = order[k];
      if (mask && !mask[row]) continue;
      let [failures, failed] = [0, -1];
      for (let a = 0; a < active.length && failures < 2; a++) {
        if (active[a].pass[active[a].codes[row]]) continue;
        failures++;
        failed = active[a].facet;
      }
      if (failures === 1) counts[failed][codes[failed][row]]++;
      if (failures > 0) continue;
      hits[n++] = row;
      for (let f = 0; f < codes.length; f++) counts[f][codes[f][row]]++;
    }
    return { hits: hits.subarray(0, n), counts };
  }

  /** For each code the place of its value among all, numbers by size; none has no finite one. */
  function ranks({ values }) {
    const sizes = values.map(Number);
    const rank = new Float64Array(values.length).fill(Infinity);
    const codes = [...values.keys()].filter((i) => !isNone(values[i]));
    codes.sort((a, b) => sizes[a] - sizes[b] || (values[a] < values[b] ? -1 : 1));
    codes.forEach((code, place) => (rank[code] = place));
    return rank;
  }

  /** All rows by a column, by `-name` from large to small; none stands last either way. */
  function sorted({ columns, n }, sort) {
    const rows = Uint32Array.from({ length: n }, (_, i) => i);
    const c = columns.find((each) => each.name === sort.replace(/^-/, ""));
    if (!c) return rows;
    const turn = sort.startsWith("-") ? -1 : 1;
    const rank = c.codes && ranks(c);
    const key = Float64Array.from(rows, (row) => {
      const x = rank ? rank[c.codes[row]] : c.data[row];
      return Number.isFinite(x) ? turn * x : Infinity;
    });
    return rows.sort((a, b) => key[a] - key[b] || a - b);
  }

  const searching = { brief, examples, searched };
  const addressing = { address, choose, opening, stateIn };
  return {
    ...{ NONE, asked, cell, grouped, idOf, library, named, read, rowOf, sift, sorted, varies },
    ...searching,
    ...addressing,
  };
})();
