/*
 * Every trial of a run: filters with counts, a list, and the one that is opened.
 *
 *   #trial=9f86d081884c7d65&outcome=adopted&d_t=2&q=711025&sort=-relative_error
 *
 * The page holds an index, a number or a code for each trial and column, and the texts in shards.
 * Both are unpacked after the first paint, a shard when a trial of it is opened. Knows nothing about
 * studies: columns name themselves. trial.js stands before it.
 */
(() => {
  const { button, definitions, make, plural, said, shown, tell, visible } = trial;
  const MOST_ROWS = 500000; // more would be higher than browsers can scroll
  const FEW = 8; // options of a filter before the rest is folded
  const KEPT = 8; // unpacked shards
  const AHEAD = 8; // rows drawn beyond the edges of the list
  const narrow = matchMedia("(max-width: 60rem)"); // as in explorer.css
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
    if (Number.isNaN(x)) return "none";
    const size = Math.abs(x);
    if (Number.isInteger(x) && size < 1e9) return grouped.format(x);
    return size < 1e-3 || size >= 1e6 ? x.toExponential(1) : String(Number(x.toPrecision(4)));
  }

  const cell = (c, row) => (c.kind === "number" ? number(c.data[row]) : said(c.values[c.codes[row]]));

  /** A function that gives the texts of a row from wherever the run keeps them, null where nowhere. */
  function library(trials) {
    const { mode, size } = trials.texts;
    const shards = new Map();
    const parsed = async (shard) => {
      const block = document.getElementById(`trials-${shard}`);
      return JSON.parse(new TextDecoder().decode(await unpacked(block.textContent.trim())));
    };
    const embedded = async (row) => {
      const shard = Math.floor(row / size);
      if (!shards.has(shard)) shards.set(shard, parsed(shard));
      if (shards.size > KEPT) shards.delete(shards.keys().next().value);
      return (await shards.get(shard))[row % size];
    };
    const served = async (row) => {
      const answer = await fetch(`trial/${idOf(trials, row)}.json`);
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      return answer.json();
    };
    return async (row) => {
      if (mode !== "embedded" && mode !== "served") return null;
      const found = await (mode === "served" ? served(row) : embedded(row));
      if (found?.id !== idOf(trials, row)) throw new Error("those found at its place are of another trial");
      return found;
    };
  }

  // --------------------------------------------------------------------------------- filtering

  /** For each code of a column, whether its value holds the word; null if none does. */
  function holding(c, word) {
    if (!c.hay) {
      const lines = c.values.map((value) => said(value).toLowerCase().replaceAll("\n", " "));
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
  function tester(trials, word) {
    const [, name, sign, limit] = /^(\w+)([<>])(-?[\d.]+(?:e-?\d+)?)$/.exec(word) || [];
    const compared = trials.columns.find((c) => c.data && c.name.toLowerCase() === name);
    if (compared) {
      const [turn, least] = [sign === "<" ? -1 : 1, Number(limit)];
      return (row) => turn * (compared.data[row] - least) > 0;
    }
    const found = trials.columns.filter((c) => c.codes).map((c) => [c.codes, holding(c, word)]);
    const holders = found.filter(([, has]) => has);
    return (row) => holders.some(([codes, has]) => has[codes[row]]);
  }

  /** For each row whether every word of the query fits it; null where there is no query. */
  function searched(trials, query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const mask = words.length ? new Uint8Array(trials.n).fill(1) : null;
    for (const word of words) {
      const fits = tester(trials, word);
      for (let row = 0; row < trials.n; row++) if (mask[row] && !fits(row)) mask[row] = 0;
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
    const none = (i) => values[i] === null || values[i] === "";
    if (members) return values.map((_, i) => (none(i) ? Infinity : members[i][0]));
    const sizes = values.map(Number);
    const rank = new Float64Array(values.length).fill(Infinity);
    const codes = [...values.keys()].filter((i) => !none(i));
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

  // ------------------------------------------------------------------------------------- state

  const blank = () => ({ trial: "", q: "", sort: "", chosen: new Map() });

  /** What the address says; null where its end is none of ours (`#findings`, nothing). */
  function stateIn(hash, trials) {
    if (!hash.includes("=")) return null;
    const state = blank();
    for (const [name, value] of new URLSearchParams(hash.slice(1))) {
      const c = trials.varying.find((each) => each.name === name);
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

  /**
   * A function that writes an address a moment later, since browsers refuse many a second. `push`
   * makes Back stop here; `fromList` tells that Back leads to the list.
   */
  function historian() {
    let waiting = null;
    const flush = () => {
      const { hash, push, fromList } = waiting;
      waiting = null;
      if (push && !location.hash.includes("=")) history.replaceState({ blank: true }, "");
      history[push ? "pushState" : "replaceState"]({ fromList }, "", hash);
    };
    return (hash, push, fromList = false) => {
      if (!waiting) setTimeout(flush, 200);
      waiting = { hash, push: push || Boolean(waiting?.push), fromList };
    };
  }

  // ----------------------------------------------------------------------------------- filters

  /** One filter: what can be chosen, with counts. */
  function group(c, toggle) {
    const lines = c.options.map((name) => {
      const input = make("input", { type: "checkbox", change: () => toggle(c.name, name, input.checked) });
      const count = make("span", { class: "count" });
      const element = make("label", {}, input, tell("bdi", name, { title: said(name) }), " ", count);
      return { name, input, count, element };
    });
    let whole = lines.length <= FEW + 1;
    const fold = () => {
      lines.forEach((line, i) => (line.element.hidden = !whole && i >= FEW && !line.input.checked));
      more.textContent = whole ? "fewer" : `all ${lines.length}`;
      more.setAttribute("aria-expanded", String(whole));
    };
    const more = button("", () => [(whole = !whole), fold()], { class: "plain", hidden: whole });
    const update = (counts, own = new Set()) => {
      const sums = new Uint32Array(lines.length);
      counts.forEach((count, code) => c.members[code].forEach((m) => (sums[m] += count)));
      lines.forEach((line, i) => {
        line.input.checked = own.has(line.name);
        line.count.textContent = grouped.format(sums[i]);
        line.element.classList.toggle("empty", !sums[i]);
      });
      fold();
    };
    const legend = tell("legend", c.label, { title: c.note });
    return { element: make("fieldset", {}, legend, ...lines.map((line) => line.element), more), update };
  }

  function filterPane(trials, toggle) {
    const facets = trials.varying.filter((c) => c.kind === "facet");
    const groups = facets.map((c) => group(c, toggle));
    const element = make("div", {
      class: "filters",
      id: "trial-filters",
      role: "group",
      "aria-label": "Filters",
    });
    element.append(...groups.map((each) => each.element));
    const fixed = trials.columns.filter((c) => c.constant && trials.n);
    const facts = definitions(fixed.map((c) => [c.label, cell(c, 0)]));
    if (fixed.length)
      element.append(make("details", {}, make("summary", {}, "The same in all trials"), facts));
    const update = (counts, chosen) =>
      groups.forEach((each, i) => each.update(counts[i], chosen.get(facets[i].name)));
    return { element, facets, update };
  }

  /** What is chosen, each as a button that takes it away. */
  function chips(trials, chosen, toggle, clear) {
    const found = [...chosen].flatMap(([name, own]) => {
      const { label } = trials.varying.find((c) => c.name === name);
      return [...own].map((value) => {
        const text = `${label}: ${said(value)}`;
        return button(`${text} \u00D7`, () => toggle(name, value, false), { "aria-label": `Remove ${text}` });
      });
    });
    return found.length > 1 ? [...found, button("clear all", clear, { class: "plain" })] : found;
  }

  function sortControl(trials, resort) {
    const choices = trials.varying.map((c) => tell("option", c.label, { value: c.name }));
    let down = false;
    const change = () => resort((down && select.value ? "-" : "") + select.value);
    const select = make("select", { change }, make("option", { value: "" }, "as run"), ...choices);
    const turn = button("", () => [(down = !down), change()]);
    const update = (sort) => {
      down = sort.startsWith("-");
      select.value = sort.replace(/^-/, "");
      turn.textContent = down ? "\u2193" : "\u2191";
      turn.setAttribute("aria-label", down ? "from large to small" : "from small to large");
      turn.disabled = !sort;
    };
    return { element: make("span", {}, make("label", {}, "Sort by ", select), " ", turn), update };
  }

  // -------------------------------------------------------------------------------------- list

  /** How many digits wide a column is shown. */
  function width(c) {
    const values = c.kind === "number" ? [] : c.values.slice(0, 1000);
    const longest = Math.max(c.label.length + 2, ...values.map((value) => said(value).length));
    return Math.min(Math.max(longest, 5), c.kind === "facet" ? 22 : 18);
  }

  /** The head of a column, which sorts: up, down, not. */
  function heading(c, sort, resort) {
    const way = { [c.name]: "ascending", [`-${c.name}`]: "descending" }[sort] || "none";
    const [next, arrow] = {
      none: [c.name, ""],
      ascending: [`-${c.name}`, " \u2191"],
      descending: ["", " \u2193"],
    }[way];
    const own = button(c.label + arrow, () => resort(next), { title: c.note, "data-name": c.name });
    return make("span", { role: "columnheader", class: c.kind, "aria-sort": way }, own);
  }

  /** The rows found, of which only those in sight exist as elements. */
  class List {
    constructor(open, resort) {
      Object.assign(this, { open, resort, hits: new Uint32Array(0), columns: [], current: -1, first: 0 });
      this.head = make("div", { role: "row", class: "row", "aria-rowindex": 1 });
      this.top = make("div", { role: "rowgroup", class: "head" }, this.head);
      this.rows = make("div", { role: "rowgroup", class: "rows" });
      this.element = make("div", {
        role: "grid",
        class: "list",
        tabindex: 0,
        "aria-label": "List of trials",
      });
      this.element.append(this.top, this.rows);
      this.element.addEventListener("scroll", () => {
        if (Math.abs(this.topmost() - this.first) > AHEAD / 2) this.draw();
      });
      new ResizeObserver(() => this.draw()).observe(this.element);
    }

    get height() {
      const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
      return Math.round(rem * (narrow.matches ? 3.75 : 1.75));
    }

    get page() {
      return Math.max(Math.floor((this.element.clientHeight - this.top.offsetHeight) / this.height) - 1, 1);
    }

    topmost() {
      return Math.max(Math.floor(this.element.scrollTop / this.height) - AHEAD, 0);
    }

    update(hits, columns, sort, current) {
      const moved = hits.length !== this.hits.length || this.sort !== sort;
      Object.assign(this, { hits: hits.subarray(0, MOST_ROWS), columns, sort });
      const [focused, { style }] = [
        this.head.contains(document.activeElement) && document.activeElement,
        this.element,
      ];
      style.setProperty("--row", `${this.height}px`);
      style.setProperty("--columns", columns.map((c) => `${width(c)}ch`).join(" "));
      this.element.setAttribute("aria-rowcount", String(this.hits.length + 1));
      this.rows.style.height = `${this.hits.length * this.height}px`;
      this.head.replaceChildren(...columns.map((c) => heading(c, sort, this.resort)));
      if (focused)
        [...this.head.querySelectorAll("button")]
          .find((each) => each.dataset.name === focused.dataset.name)
          ?.focus();
      if (moved) this.element.scrollTop = 0;
      this.select(current);
    }

    /** Marks a place, and brings it into sight. */
    select(current) {
      this.current = current;
      const { element, height, top } = this;
      const least = (current + 1) * height + top.offsetHeight - element.clientHeight;
      if (current >= 0) element.scrollTop = Math.min(Math.max(element.scrollTop, least), current * height);
      this.draw();
    }

    draw() {
      const [first, { height, element }] = [this.topmost(), this];
      const last = Math.min(first + Math.ceil(element.clientHeight / height) + 2 * AHEAD, this.hits.length);
      const drawn = [];
      for (let at = first; at < last; at++) drawn.push(this.row(at, height));
      this.first = first;
      this.rows.replaceChildren(...drawn);
      const inSight = this.current >= first && this.current < last;
      if (inSight) element.setAttribute("aria-activedescendant", "trial-row");
      else element.removeAttribute("aria-activedescendant");
    }

    row(at, height) {
      const cells = this.columns.map((c) => {
        const text = cell(c, this.hits[at]);
        const kind = text === "none" ? `${c.kind} nothing` : c.kind;
        return tell("span", text, { role: "gridcell", class: kind, title: text });
      });
      const here = at === this.current;
      const states = {
        "aria-rowindex": at + 2,
        "aria-selected": String(here),
        id: here ? "trial-row" : null,
      };
      const element = make(
        "div",
        { role: "row", class: "row", ...states, click: () => this.open(at) },
        ...cells,
      );
      element.style.transform = `translateY(${at * height}px)`;
      return element;
    }
  }

  // ------------------------------------------------------------------------------ opened trial

  /** The pane of the opened trial; a next one is shown from where the last one was being read. */
  class Pane {
    constructor({ close, step, copy }) {
      const tool = (text, title, click) => button(text, click, { title, "aria-label": title });
      this.title = make("h3", { tabindex: -1 });
      this.place = make("span", { class: "note" });
      this.copied = make("span", { class: "note", role: "status" });
      const tools = make("div", { class: "tools" });
      tools.append(
        tool("\u2190 List", "Back to the list (Esc)", close),
        tool("\u2191", "Previous trial (k)", () => step(-1)),
        tool("\u2193", "Next trial (j)", () => step(1)),
        this.place,
        tool("Copy link", "Copy the link to this trial", () => copy(this.copied)),
        this.copied,
      );
      this.head = make("header", {}, tools, this.title);
      this.body = make("div", { class: "body" });
      this.element = make("section", {
        class: "trial",
        tabindex: 0,
        hidden: true,
        "aria-label": "Opened trial",
      });
      this.element.append(this.head, this.body);
    }

    parts() {
      return [...this.body.querySelectorAll("[data-title]")];
    }

    show(name, place, nodes) {
      const { element, head, body } = this;
      const edge = element.scrollTop + head.offsetHeight + 24;
      const read = element.scrollTop
        ? this.parts()
            .filter((part) => part.offsetTop <= edge)
            .at(-1)
        : null;
      this.title.replaceChildren(...shown(name));
      this.place.textContent = place;
      this.copied.textContent = "";
      body.replaceChildren(...nodes);
      element.hidden = false;
      const same = read && this.parts().find((part) => part.dataset.title === read.dataset.title);
      element.scrollTop = same ? same.offsetTop - head.offsetHeight - 8 : 0;
    }

    /** On a phone the trial covers all else, which then no key can reach either. */
    cover(on) {
      for (let node = this.element; node !== document.body; node = node.parentElement) {
        for (const other of node.parentElement.children) if (other !== node) other.inert = on;
      }
      document.documentElement.classList.toggle("covered", on);
    }
  }

  // --------------------------------------------------------------------------------- the whole

  class Explorer {
    constructor(root, trials, status) {
      Object.assign(this, { root, trials, status, row: -1, hits: new Uint32Array(0) });
      this.state = stateIn(location.hash, trials) || blank();
      this.texts = library(trials);
      this.write = historian();
      this.filters = filterPane(trials, this.toggle);
      this.list = new List((at) => this.open(this.hits[at]), this.resort);
      this.pane = new Pane({
        close: () => this.close(),
        step: (by) => this.step(by),
        copy: (told) => this.copy(told),
      });
      this.sorting = sortControl(trials, this.resort);
      this.chips = make("div", { class: "chips" });
      const input = () => this.change({ q: this.search.value }, false);
      this.search = make("input", { type: "search", placeholder: "a value, a problem, or r_cpt>0.6", input });
      this.build();
      root.addEventListener("keydown", (event) => this.pressed(event));
      addEventListener("popstate", (event) => this.arrive(event));
      narrow.addEventListener("change", () => [
        this.refresh(),
        this.pane.cover(narrow.matches && this.state.trial !== ""),
      ]);
    }

    build() {
      const { root } = this;
      const unfold = () => fold.setAttribute("aria-expanded", String(root.classList.toggle("unfolded")));
      const fold = button("Filters", unfold, {
        class: "fold",
        "aria-controls": "trial-filters",
        "aria-expanded": "false",
      });
      const keys =
        "Keys: j and k open the next and the previous trial, / searches, Esc closes. Print prints the opened trial.";
      root.append(
        make("div", { class: "bar" }, make("label", {}, "Search ", this.search), this.sorting.element, fold),
        this.chips,
        make("div", { class: "panes" }, this.filters.element, this.list.element, this.pane.element),
        make("p", { class: "note keys" }, keys),
      );
    }

    begin() {
      const { trial: id } = this.state;
      this.refresh();
      if (location.hash.includes("=")) this.root.scrollIntoView();
      if (id)
        this.show(rowOf(this.trials, id), id).then(() => this.pane.element.focus({ preventScroll: true }));
    }

    /** Shows all that follows from the state, but the texts of the opened trial. */
    refresh() {
      const { trials, state } = this;
      if (this.masked !== state.q) [this.mask, this.masked] = [searched(trials, state.q), state.q];
      if (this.ordered !== state.sort) [this.order, this.ordered] = [sorted(trials, state.sort), state.sort];
      const { hits, counts } = sift(this.filters.facets, state.chosen, this.mask, this.order);
      const cut = hits.length > MOST_ROWS ? `; the list ends after ${plural(MOST_ROWS, "trial")}` : "";
      this.hits = hits;
      this.status.textContent = `${grouped.format(hits.length)} of ${plural(trials.n, "trial")}${cut}`;
      this.filters.update(counts, state.chosen);
      const said = (c) => c.options && !c.list && state.chosen.get(c.name)?.size === 1;
      this.list.update(
        hits,
        trials.varying.filter((c) => !said(c)),
        state.sort,
        hits.indexOf(this.row),
      );
      this.chips.replaceChildren(
        ...chips(trials, state.chosen, this.toggle, () => this.change({ chosen: new Map() })),
      );
      this.sorting.update(state.sort);
      if (this.search.value !== state.q) this.search.value = state.q;
    }

    change(changes, push = true) {
      Object.assign(this.state, changes);
      this.refresh();
      this.write(address(this.state), push);
      if (document.activeElement === document.body) this.list.element.focus({ preventScroll: true });
    }

    toggle = (name, value, on) => {
      choose(this.state.chosen, name, value, on);
      this.change({});
    };

    resort = (sort) => this.change({ sort });

    link = (id) => ({
      href: address({ trial: id }),
      click: (event) => [event.preventDefault(), this.open(rowOf(this.trials, id), id)],
    });

    /** Opens a trial that the reader chose. */
    open(row, id = idOf(this.trials, row)) {
      const fromList = !this.state.trial;
      this.state.trial = id;
      this.write(address(this.state), fromList, fromList || Boolean(history.state?.fromList));
      this.show(row, id);
    }

    /** Shows a trial, and its texts when they have been unpacked. */
    async show(row, id) {
      const { pane, root } = this;
      const first = !root.classList.contains("opened");
      this.row = row;
      root.classList.add("opened");
      const at = this.hits.indexOf(row);
      this.list.select(at);
      const place =
        at < 0 ? "not among those found" : `${grouped.format(at + 1)} of ${grouped.format(this.hits.length)}`;
      if (first) pane.show("Reading \u2026", place, []);
      if (first && narrow.matches) [pane.cover(true), pane.title.focus()];
      const dossier = await this.dossier(row);
      if (this.row !== row || this.state.trial !== id) return; // another was opened meanwhile
      pane.show(dossier.title || `Trial ${id}`, place, [
        ...trial.nodes(dossier, this.link),
        tell("p", `Trial ${id}`, { class: "note" }),
      ]);
    }

    /** What can be shown of a row: its texts, else its line of the index and why there is no more. */
    async dossier(row) {
      if (row < 0) return { why: "This page holds no trial of this name: it may be one of another run." };
      const facts = this.trials.columns.map((c) => [c.label, cell(c, row)]);
      try {
        return (await this.texts(row)) || { facts, why: this.trials.texts.why };
      } catch (error) {
        return { facts, why: `The texts of this trial cannot be read: ${error.message}.` };
      }
    }

    close() {
      if (!this.state.trial) return;
      if (history.state?.fromList && location.hash === address(this.state)) return void history.back();
      this.state.trial = "";
      this.write(address(this.state), false);
      this.shut();
    }

    shut() {
      this.row = -1;
      this.root.classList.remove("opened");
      this.pane.element.hidden = true;
      this.pane.cover(false);
      this.list.select(-1);
      this.list.element.focus({ preventScroll: true });
    }

    /** Opens the trial so many places on. */
    step(by) {
      const at = this.hits.indexOf(this.row);
      const next = Math.min(Math.max(at < 0 ? 0 : at + by, 0), this.hits.length - 1);
      if (next >= 0 && next !== at) this.open(this.hits[next]);
    }

    async copy(told) {
      const { trial: id } = this.state;
      try {
        await navigator.clipboard.writeText(location.href.replace(/#.*$/, "") + address({ trial: id }));
        told.textContent = "copied";
      } catch {
        told.replaceChildren(tell("a", "this is the link", this.link(id)));
      }
    }

    pressed(event) {
      const { key, target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = target.matches("input[type=search], select");
      const { page } = this.list;
      const anywhere = { j: () => this.step(1), k: () => this.step(-1), "/": () => this.search.focus() };
      const moves = {
        ArrowDown: 1,
        ArrowUp: -1,
        PageDown: page,
        PageUp: -page,
        Home: -Infinity,
        End: Infinity,
      };
      if (!typing && anywhere[key]) [event.preventDefault(), anywhere[key]()];
      else if (target === this.list.element && moves[key]) [event.preventDefault(), this.step(moves[key])];
      else if (key === "Escape" && !(typing && this.search.value)) this.close();
    }

    /** Follows Back, Forward, and an address that was typed. */
    arrive(event) {
      const found = stateIn(location.hash, this.trials) || (event.state?.blank ? blank() : null);
      if (!found) return;
      const { trial: id } = found;
      const other = id !== this.state.trial;
      Object.assign(this.state, found);
      this.refresh();
      if (other && id) this.show(rowOf(this.trials, id), id);
      else if (other) this.shut();
    }
  }

  async function start() {
    const root = document.getElementById("trial-explorer");
    const status = root.querySelector("[role=status]");
    try {
      if (!("DecompressionStream" in window))
        throw new Error("this browser is too old to unpack them; one of 2023 can");
      const trials = await read(JSON.parse(document.getElementById("trials-index").textContent));
      new Explorer(root, trials, status).begin();
    } catch (error) {
      status.textContent = `The trials cannot be shown: ${error.message}.`;
    }
  }

  // What else stands on the page is painted first.
  requestAnimationFrame(() => setTimeout(start));
})();
