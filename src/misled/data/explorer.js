/*
 * The page of a run's trials: filters with counts, a list, and the one that is opened.
 *
 *   #trial=9f86d081884c7d65&outcome=adopted&d_t=2&q=711025&sort=-relative_error
 *
 * The page holds an index, a number or a code for each trial and column, and the texts in shards.
 * Both are unpacked after the first paint, a shard when a trial of it is opened. Knows nothing about
 * studies: columns name themselves. trial.js and trials.js stand before it.
 */
(() => {
  const { button, definitions, make, plural, shown, tell } = trial;
  const { NONE, address, brief, cell, choose, grouped, idOf, named, rowOf, varies } = trials;
  const MOST_ROWS = 500000; // more would be higher than browsers can scroll
  const FEW = 8; // options of a filter before the rest is folded
  const AHEAD = 8; // rows drawn beyond the edges of the list
  const CARD = 7; // what a row says on a phone
  const narrow = matchMedia("(max-width: 60rem)"); // as in explorer.css

  // ----------------------------------------------------------------------------------- history

  /**
   * A function that writes an address a moment later, since browsers refuse many a second. `push`
   * makes Back stop here; `fromList` tells that Back leads to the list.
   */
  function historian() {
    let waiting = null;
    const flush = () => {
      if (!waiting) return;
      const { hash, push, fromList } = waiting;
      waiting = null;
      if (push && !location.hash.includes("=")) history.replaceState({ blank: true }, "");
      history[push ? "pushState" : "replaceState"]({ fromList }, "", hash);
    };
    return (hash, push, fromList = false) => {
      if (push) flush();
      if (!waiting) setTimeout(flush, 200);
      const pushed = push || Boolean(waiting?.push);
      waiting = { hash, push: pushed, fromList: fromList || (!push && Boolean(waiting?.fromList)) };
    };
  }

  // ----------------------------------------------------------------------------------- filters

  /** One filter: what can be chosen, with counts. */
  function group(c, toggle) {
    const lines = c.options.map((name) => {
      const input = make("input", { type: "checkbox", change: () => toggle(c.name, name, input.checked) });
      const count = make("span", { class: "count" });
      const text = tell("bdi", named(c, name), { title: named(c, name) });
      const element = make("label", {}, input, text, " ", count);
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
    const note = c.note ? [tell("p", c.note, { class: "note" })] : [];
    const all = [tell("legend", c.label), ...note, ...lines.map((line) => line.element), more];
    return { element: make("fieldset", {}, ...all), update };
  }

  function filterPane(run, toggle) {
    const facets = run.varying.filter((c) => c.kind === "facet");
    const groups = facets.map((c) => group(c, toggle));
    const element = make("div", {
      class: "filters",
      id: "trial-filters",
      role: "group",
      "aria-label": "Filters",
    });
    element.append(...groups.map((each) => each.element));
    const fixed = run.columns.filter((c) => c.constant && run.n);
    const facts = definitions(fixed.map((c) => [c.label, cell(c, 0)]));
    if (fixed.length)
      element.append(make("details", {}, make("summary", {}, "The same in all trials"), facts));
    const update = (counts, chosen) =>
      groups.forEach((each, i) => each.update(counts[i], chosen.get(facets[i].name)));
    return { element, facets, update };
  }

  /** What is chosen, each as a button that takes it away. */
  function chips(run, chosen, toggle, clear) {
    const found = [...chosen].flatMap(([name, own]) => {
      const c = run.varying.find((each) => each.name === name);
      return [...own].map((value) => {
        const text = `${c.label}: ${named(c, value)}`;
        return button(`${text} \u00D7`, () => toggle(name, value, false), { "aria-label": `Remove ${text}` });
      });
    });
    return found.length > 1 ? [...found, button("clear all", clear, { class: "plain" })] : found;
  }

  function sortControl(run, resort) {
    const choices = run.varying.map((c) => tell("option", c.label, { value: c.name }));
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

  /** The length of the longest value of a column, of a facet among those found. */
  function longest(c) {
    const values = (c.values || []).filter((_, code) => !c.used || c.used[code]).slice(0, 1000);
    return Math.max(0, ...values.map((value) => String(value ?? "").length));
  }

  /** Whether what a column says takes a line of its own on a phone. */
  const broad = (c) => c.kind === "text" && longest(c) + brief(c).length > 20;

  /** How many digits wide a column is shown; what does not fit stands in its title. */
  function width(c) {
    const words = c.label.split(" ").map((word) => word.length);
    const label = Math.max(...words, Math.ceil(c.label.length / 2)) + 3;
    const most = c.kind === "facet" ? 22 : c.name === "question" ? 30 : 18;
    return Math.max(Math.min(longest(c), most), Math.min(label, 13));
  }

  /** The head of a column, which sorts: up, down, not. */
  function heading(c, sort, resort) {
    const ways = new Map([[c.name, "ascending"], [`-${c.name}`, "descending"]]);
    const way = ways.get(sort) ?? "none"; // a plain object would find `__proto__`
    const [next, arrow] = {
      none: [c.name, ""],
      ascending: [`-${c.name}`, " \u2191"],
      descending: ["", " \u2193"],
    }[way];
    const own = button(c.label + arrow, () => resort(next), {
      title: c.note || c.label,
      "data-name": c.name,
    });
    return make(
      "span",
      { role: "columnheader", class: c.kind === "number" ? "amount" : null, "aria-sort": way },
      own,
    );
  }

  /** The rows found, of which only those in sight exist as elements. */
  class List {
    constructor(open, resort) {
      Object.assign(this, { open, resort, hits: new Uint32Array(0), columns: [], current: -1, first: 0 });
      this.broad = new Set();
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
      return Math.round(rem * (narrow.matches ? 0.7 + 1.2 * this.lines : 1.75));
    }

    /** How many lines a row has on a phone: two columns beside each other, sentences alone. */
    get lines() {
      const [all, alone] = [Math.min(this.columns.length, CARD), this.broad.size];
      return Math.max(alone + Math.ceil((all - alone) / 2), 1);
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
      this.broad = new Set(columns.slice(0, CARD).filter(broad));
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
      const told = narrow.matches ? this.columns.slice(0, CARD) : this.columns;
      const cells = told.map((c) => {
        const text = cell(c, this.hits[at]);
        const kind = c.kind === "number" ? "amount" : this.broad.has(c) ? "broad" : null;
        return tell("span", text, { role: "gridcell", class: kind, title: text, "data-label": brief(c) });
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

  const COPY =
    "Copy #trial=\u2026 of this trial: it opens it in the same file or view, behind its address or as a search";

  /** The pane of the opened trial; a next one is shown from where the last one was being read. */
  class Pane {
    constructor({ close, step, copy }) {
      const tool = (text, title, click) => button(text, click, { title, "aria-label": title });
      this.title = make("h3", { tabindex: -1 });
      this.place = make("span", { class: "note" });
      this.copied = make("span", { class: "note", role: "status" });
      this.head = make("header", { class: "tools" });
      this.head.append(
        tool("\u2190 List", "Back to the list (Esc)", close),
        tool("\u2191", "Previous trial (k)", () => step(-1)),
        tool("\u2193", "Next trial (j)", () => step(1)),
        this.place,
        tool("Copy link", COPY, () => copy(this.copied)),
        this.copied,
      );
      this.body = make("div", { class: "body" });
      this.element = make("section", {
        class: "trial",
        tabindex: 0,
        hidden: true,
        "aria-label": "Opened trial",
      });
      this.element.append(this.head, this.title, this.body);
    }

    /** What restores the place in the section that is being read, or at the end, in another trial. */
    reader() {
      const { element, head, body } = this;
      const parts = () => [...body.querySelectorAll("[data-title]")];
      const { scrollTop, scrollHeight, clientHeight } = element;
      const edge = scrollTop + head.offsetHeight + 24;
      const old = parts().findLast((part) => part.offsetTop <= edge);
      if (!scrollTop || !old) return () => (element.scrollTop = 0);
      if (scrollTop + clientHeight > scrollHeight - 4)
        return () => (element.scrollTop = element.scrollHeight);
      const [name, beyond] = [old.dataset.title, scrollTop - old.offsetTop];
      return () => {
        const same = parts().find((part) => part.dataset.title === name);
        element.scrollTop = same ? same.offsetTop + Math.min(beyond, same.offsetHeight) : 0;
      };
    }

    show(name, place, nodes) {
      const restore = this.reader();
      this.title.replaceChildren(...shown(name));
      this.place.textContent = place;
      this.copied.textContent = "";
      this.body.replaceChildren(...nodes);
      this.element.hidden = false;
      restore();
    }

    /** On a phone the trial covers all else, which then no key can reach either. */
    cover(on) {
      for (let node = this.element; node !== document.body; node = node.parentElement) {
        for (const other of node.parentElement.children) if (other !== node) other.inert = on;
      }
      document.documentElement.classList.toggle("covered", on);
    }
  }

  // ------------------------------------------------------------------------------------- words

  /** Why there are more rows than requests. */
  function shares({ n, asked, shared }) {
    if (!asked || asked.own === n) return [];
    const none = asked.none ? ` In ${plural(asked.none, "row")} nothing was asked.` : "";
    return [make("p", { class: "note" }, asked.own + asked.none < n ? shared || "" : "", none)];
  }

  /** How a search was read; what else fits it; what to write where nothing does. */
  function understood(run, found, hits, clear) {
    if (!found) return [];
    const nodes = shown(`Searched: ${[`${found.said}.`, ...found.hints].join(" ")}`);
    if (found.n > hits) {
      nodes.push(` Outside the filters: ${plural(found.n - hits, "more row")}. `);
      nodes.push(button("Clear the filters", clear, { class: "plain" }));
    } else if (!found.n) {
      const all = run.columns.filter((c) => !c.constant).map(brief);
      const write = "Write a text as it stands in a row or its question, or a column and a value";
      const some = trials.examples(run).join("; ");
      nodes.push(...shown(` Nothing fits. ${write}: ${some}. Columns: ${all.join(", ")}.`));
    }
    return nodes;
  }

  // --------------------------------------------------------------------------------- the whole

  class Explorer {
    constructor(root, run, status) {
      Object.assign(this, { root, run, status, row: -1, hits: new Uint32Array(0) });
      this.state = trials.stateIn(location.hash, run) || trials.opening(run);
      this.texts = trials.library(run);
      this.write = historian();
      this.filters = filterPane(run, this.toggle);
      this.list = new List((at) => this.open(this.hits[at]), this.resort);
      this.pane = new Pane({
        close: () => this.close(),
        step: (by) => this.step(by),
        copy: (told) => this.copy(told),
      });
      this.sorting = sortControl(run, this.resort);
      this.chips = make("div", { class: "chips" });
      const input = () => this.change({ q: this.search.value }, false);
      this.told = make("p", { class: "note told", "aria-live": "polite" });
      const placeholder = ["a text", ...trials.examples(run).slice(0, 2)].join(", ");
      this.search = make("input", { type: "search", placeholder, input });
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
        ...shares(this.run),
        make("div", { class: "bar" }, make("label", {}, "Search ", this.search), this.sorting.element, fold),
        this.chips,
        this.told,
        make("div", { class: "panes" }, this.filters.element, this.list.element, this.pane.element),
        make("p", { class: "note keys" }, keys),
      );
    }

    begin() {
      const { trial: id } = this.state;
      this.refresh();
      if (location.hash.includes("=")) this.root.scrollIntoView();
      if (id) this.show(rowOf(this.run, id), id).then(() => this.pane.element.focus({ preventScroll: true }));
    }

    /** Shows all that follows from the state, but the texts of the opened trial. */
    refresh() {
      const { run, state } = this;
      if (this.masked !== state.q) [this.found, this.masked] = [trials.searched(run, state.q), state.q];
      if (this.ordered !== state.sort)
        [this.order, this.ordered] = [trials.sorted(run, state.sort), state.sort];
      const { hits, counts } = trials.sift(this.filters.facets, state.chosen, this.found?.mask, this.order);
      const cut = hits.length > MOST_ROWS ? `; the list ends after ${plural(MOST_ROWS, "row")}` : "";
      const own = run.requests ? trials.asked(run, hits).own : 0;
      const whole = run.requests ? plural(run.asked.own, "request") : "";
      const asked = whole && `, with ${grouped.format(own)} of ${whole}`;
      this.hits = hits;
      this.filters.facets.forEach((c, i) => (c.used = counts[i]));
      this.status.textContent = `${grouped.format(hits.length)} of ${plural(run.n, "row")}${asked}${cut}`;
      this.told.replaceChildren(...understood(run, this.found, hits.length, this.clear));
      this.filters.update(counts, state.chosen);
      const told = hits.length > 1 ? run.listed.filter((c) => varies(c, hits)) : run.listed;
      this.list.update(hits, told, state.sort, hits.indexOf(this.row));
      this.chips.replaceChildren(
        ...chips(run, state.chosen, this.toggle, this.clear),
      );
      this.sorting.update(state.sort);
      this.pane.place.textContent = this.where();
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

    clear = () => this.change({ chosen: new Map() });

    resort = (sort) => this.change({ sort });

    link = (id) => ({
      href: address({ trial: id }),
      click: (event) => [event.preventDefault(), this.open(rowOf(this.run, id), id)],
    });

    /** Opens a trial that the reader chose. */
    open(row, id = idOf(this.run, row)) {
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
      this.list.select(this.hits.indexOf(row));
      if (first) pane.show("Reading \u2026", this.where(), []);
      if (first && narrow.matches) [pane.cover(true), pane.title.focus()];
      const dossier = await this.dossier(row);
      if (this.row !== row || this.state.trial !== id) return; // another was opened meanwhile
      pane.show(dossier.title || `Trial ${id}`, this.where(), [
        ...trial.nodes(dossier, this.link),
        tell("p", `Trial ${id}`, { class: "note" }),
      ]);
    }

    where() {
      const at = this.hits.indexOf(this.row);
      if (at < 0) return "not among those found";
      return `${grouped.format(at + 1)} of ${grouped.format(this.hits.length)}`;
    }

    /** What can be shown of a row: its texts, else its line of the index and why there is no more. */
    async dossier(row) {
      if (row < 0) return { why: "This page holds no trial of this name: it may be one of another run." };
      const facts = this.run.columns.map((c) => [c.label, cell(c, row)]);
      try {
        return (await this.texts(row)) || { facts, why: this.run.texts.why };
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
      const from = at < 0 && by > 0 ? -1 : Math.max(at, 0);
      const next = Math.min(Math.max(from + by, 0), this.hits.length - 1);
      if (next >= 0 && next !== at) this.open(this.hits[next]);
    }

    async copy(told) {
      const { trial: id } = this.state;
      try {
        // An address on this machine is worth nothing to who is sent it.
        const near = location.protocol === "file:" || ["127.0.0.1", "localhost"].includes(location.hostname);
        const link = (near ? "" : location.href.replace(/#.*$/, "")) + address({ trial: id });
        await navigator.clipboard.writeText(link);
        told.textContent = near ? `copied ${link}` : "copied";
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
      const first = event.state?.blank ? trials.opening(this.run) : null;
      const found = trials.stateIn(location.hash, this.run) || first;
      if (!found) return;
      const { trial: id } = found;
      const other = id !== this.state.trial;
      Object.assign(this.state, found);
      this.refresh();
      if (other && id) this.show(rowOf(this.run, id), id);
      else if (other) this.shut();
    }
  }

  const root = document.getElementById("trial-explorer");
  const status = root.querySelector("[role=status]");

  async function start() {
    try {
      if (!("DecompressionStream" in window))
        throw new Error("this browser is too old to unpack them; one of 2023 can");
      const run = await trials.read(JSON.parse(document.getElementById("trials-index").textContent));
      new Explorer(root, run, status).begin();
    } catch (error) {
      status.textContent = `The trials cannot be shown: ${error.message}.`;
    }
  }

  // What else stands on the page is painted first.
  status.textContent = "Reading the trials \u2026";
  requestAnimationFrame(() => setTimeout(start));
})();
