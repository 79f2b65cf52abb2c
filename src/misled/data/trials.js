/*
 * All trials of a run as columns: reading them, finding in them, counting them.
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
    return raw.kind === "facet" ? { ...found, ...options(raw) } : found;
  }

  /** What can be chosen of a facet, and which options each code of it stands for. */
  function options({ values, list }) {
    const name = (value) => (value === null ? "" : String(value));
    const parts = values.map((value) => (list ? name(value).split(", ") : [name(value)]));
    const names = [...new Set(parts.flat())];
    if (names.every((each) => Number.isFinite(Number(each)))) {
      names.sort((a, b) => (a === "") - (b === "") || a - b);
    }
    const place = new Map(names.map((each, i) => [each, i]));
    return { options: names, members: parts.map((own) => own.map((each) => place.get(each))) };
  }

  async function read(index) {
    const columns = await Promise.all(index.columns.map((raw) => column(raw, index.n)));
    const ids = new Uint8Array(await unpacked(index.ids));
    if (ids.length !== 8 * index.n) throw new Error("the names of the trials have another length");
    return { ...index, columns, ids, varying: columns.filter((c) => !c.constant) };
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

  // --------------------------------------------------------------------------------- filtering

  /** For each code of a column, whether its value holds the word; null if none does. */
  function holding(c, word) {
    if (!c.hay) {
      const lines = c.values.map((value) =>
        String(value ?? "")
          .toLowerCase()
          .replaceAll("\n", " "),
      );
      c.starts = new Uint32Array(lines.length + 1);
      lines.forEach((line, i) => (c.starts[i + 1] = c.starts[i] + line.length + 1));
      c.hay = lines.join("\n");
    }
    const has = new Uint8Array(c.values.length);
    let [code, at] = [0, c.hay.indexOf(word)];
    if (at < 0) return null;
    while (at >= 0) {
      while (c.starts[code + 1] <= at) code++;
      has[code] = 1;
      at = c.hay.indexOf(word, c.starts[code + 1]);
    }
    return has;
  }

  /** A test of rows for one word of a search: it stands in some column, or compares: `r_cpt>0.6`. */
  function tester(run, word) {
    const [, name, sign, limit] = /^(\w+)([<>])(-?[\d.]+(?:e-?\d+)?)$/.exec(word) || [];
    const compared = run.columns.find((c) => c.data && c.name.toLowerCase() === name);
    if (compared) {
      const [turn, least] = [sign === "<" ? -1 : 1, Number(limit)];
      return (row) => turn * (compared.data[row] - least) > 0;
    }
    const found = run.columns.filter((c) => c.codes).map((c) => [c.codes, holding(c, word)]);
    const holders = found.filter(([, has]) => has);
    return (row) => holders.some(([codes, has]) => has[codes[row]]);
  }

  /** For each row whether every word of the query fits it; null where there is no query. */
  function searched(run, query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const mask = words.length ? new Uint8Array(run.n).fill(1) : null;
    for (const word of words) {
      const fits = tester(run, word);
      for (let row = 0; row < run.n; row++) if (mask[row] && !fits(row)) mask[row] = 0;
    }
    return mask;
  }

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
  function ranks({ values, members }) {
    if (members) return values.map((value, i) => (isNone(value) ? Infinity : members[i][0]));
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

  return { NONE, cell, grouped, idOf, library, named, read, rowOf, searched, sift, sorted, varies };
})();
