"use strict";
// Tables of the report: filter, sort, choose columns, page through, and go from a value to its log line.
// The data is JSON by column; text reaches the page through textContent only.
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const word = key => report.words[key] || key;
  const PRINTED = 2000;
  // Longer texts go over several lines, so that they do not push the columns behind them out of sight.
  const LONG = 44;
  const collator = new Intl.Collator("en", { numeric: true });
  const views = [];

  const make = (tag, text, attributes) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    for (const name in attributes || {}) node.setAttribute(name, attributes[name]);
    return node;
  };
  const say = text => { document.getElementById("live").textContent = text; };
  const filled = (key, ...values) => values.reduce((text, value) => text.replace("{}", value), word(key));
  const count = value => value.toLocaleString("en");

  // A column is a list of cells, or different values and for each row the number of its value.
  const reader = column => {
    const { cells, values, rows } = column;
    return rows ? row => values[rows[row]] : row => cells[row];
  };
  const text = cell => (cell === null ? "" : String(cell));
  const number = cell => {
    if (cell === null || cell === "") return null;
    if (typeof cell === "number") return cell;
    const plain = cell.trim();
    if (/^[-+]?inf(inity)?$/i.test(plain)) return plain[0] === "-" ? -Infinity : Infinity;
    return Number(plain);
  };
  // Integers too long for a double are told apart by their digits.
  const closer = (a, b) => (/^-?\d{16,}$/.test(a) && /^-?\d{16,}$/.test(b) ? (BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0) : 0);
  // 0: an ordinary value, 1: nan, 2: missing; the later ones stand last in either direction.
  const rank = value => (value === null || value === "" ? 2 : Number.isNaN(value) ? 1 : 0);

  const order = (column, direction) => {
    const read = reader(column);
    const exact = column.exact ? row => column.exact[row] : read;
    const key = column.numeric ? row => number(exact(row)) : row => text(read(row));
    return rows => {
      const keys = new Map(rows.map(row => [row, key(row)]));
      return rows.sort((a, b) => {
        const x = keys.get(a), y = keys.get(b);
        const last = rank(x) - rank(y);
        if (last || rank(x)) return last || a - b;
        const by = column.numeric ? (x < y ? -1 : x > y ? 1 : closer(text(read(a)), text(read(b)))) : collator.compare(x, y);
        return by * direction || a - b;
      });
    };
  };

  // "add mul" means both words; column:word and column>number look at one column (its name without spaces).
  const squeeze = name => name.toLowerCase().replace(/[\s_]/g, "");
  const parse = (query, columns) => (query.match(/"[^"]*"|\S+/g) || []).map(term => {
    const plain = term.replace(/^"|"$/g, "");
    const parts = /^([^:<>=]+)(:|>=|<=|>|<|=)(.+)$/.exec(plain);
    const column = parts && columns.find(c => squeeze(c.name) === squeeze(parts[1]) || squeeze(c.label) === squeeze(parts[1]));
    if (!column) return { word: plain.toLowerCase() };
    return { column, sign: parts[2], word: parts[3].toLowerCase(), limit: number(parts[3]) };
  });
  const compare = (value, sign, limit) =>
    sign === ">" ? value > limit : sign === "<" ? value < limit : sign === ">=" ? value >= limit : value <= limit;
  const matcher = (term, columns) => {
    if (!term.column) {
      const reads = columns.map(reader);
      return row => reads.some(read => text(read(row)).toLowerCase().includes(term.word));
    }
    const read = reader(term.column);
    if (term.sign === ":") return row => text(read(row)).toLowerCase().includes(term.word);
    if (term.sign === "=") return row => text(read(row)).toLowerCase() === term.word;
    return row => { const value = number(read(row)); return value !== null && compare(value, term.sign, term.limit); };
  };

  const brief = name => (name.length > 22 ? `${name.slice(0, 10)}…${name.slice(-9)}` : name);
  // Where a log line is: an address that opens the file, and path:line to paste into an editor.
  const place = (link, columns, row) => {
    const source = text(reader(columns[link.source])(row)), line = text(reader(columns[link.line])(row));
    if (!source || source === "-" || source[0] === "<") return null;
    // A member of an archive is named ARCHIVE!MEMBER; the archive is what can be opened.
    const file = source.replace(/(\.(?:zip|tar|tgz|tbz2|txz|tar\.\w+))!.*$/, "$1");
    const path = file.startsWith("/") ? file : (report.folder + "/" + file);
    const href = "file://" + path.split("/").map(encodeURIComponent).join("/") + (line ? "#L" + line : "");
    return { href, text: line ? `${source}:${line}` : source, short: brief(source.split("/").pop()) + (line ? `:${line}` : "") };
  };

  class View {
    constructor(section, table) {
      Object.assign(this, { section, table, columns: table.columns, page: 0, size: 100, sorted: -1, direction: 1 });
      this.all = Array.from({ length: table.count }, (_, row) => row);
      this.rows = this.all.slice();
      this.shown = new Set(this.columns.map((_, index) => index).filter(index => !this.columns[index].hidden));
      if (!this.shown.size) this.columns.forEach((_, index) => this.shown.add(index));
      this.body = section.querySelector("tbody");
      this.head = section.querySelector("thead tr");
      this.controls();
      this.update();
    }

    controls() {
      const bar = this.section.querySelector(".controls");
      this.filter = make("input", undefined, {
        type: "search", placeholder: word("Filter"), "aria-label": word("Filter"), title: word("filter help"), autocomplete: "off",
      });
      let timer;
      this.filter.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => this.select(), 80); });
      this.filter.addEventListener("keydown", event => { if (event.key === "Enter") { clearTimeout(timer); this.select(); } });
      this.status = make("span", "", { class: "soft" });
      this.previous = make("button", "‹", { type: "button", "aria-label": word("previous page") });
      this.next = make("button", "›", { type: "button", "aria-label": word("next page") });
      this.previous.addEventListener("click", () => this.turn(-1));
      this.next.addEventListener("click", () => this.turn(1));
      const size = make("select", undefined, { "aria-label": word("rows per page") });
      for (const rows of [50, 100, 250, 1000]) size.append(make("option", count(rows), { value: rows }));
      size.value = String(this.size);
      size.addEventListener("change", () => { this.size = Number(size.value); this.page = 0; this.draw(); });
      const space = make("span", undefined, { class: "space" });
      bar.append(this.filter, this.status, space, this.previous, this.next, size, this.chooser());
      if (this.table.count <= 50) for (const node of [this.previous, this.next, size]) node.hidden = true;
      bar.hidden = this.table.count === 0;
    }

    chooser() {
      const details = make("details");
      this.chosen = make("summary", "", { "aria-label": word("choose columns") });
      const menu = make("div", undefined, { class: "menu" });
      const boxes = this.columns.map((column, index) => {
        const box = make("input", undefined, { type: "checkbox" });
        box.checked = this.shown.has(index);
        box.addEventListener("change", () => { this.shown[box.checked ? "add" : "delete"](index); this.update(); });
        const label = make("label", undefined, column.tip ? { title: column.tip } : {});
        label.append(box, " " + column.label);
        menu.append(label);
        return box;
      });
      const set = chosen => () => {
        boxes.forEach((box, index) => { box.checked = chosen(index); this.shown[box.checked ? "add" : "delete"](index); });
        this.update();
      };
      const buttons = make("p");
      for (const [name, chosen] of [["all", () => true], ["usual", index => !this.columns[index].hidden]]) {
        const button = make("button", word(name), { type: "button" });
        button.addEventListener("click", set(chosen));
        buttons.append(button);
      }
      menu.prepend(buttons);
      details.append(this.chosen, menu);
      details.addEventListener("keydown", event => { if (event.key === "Escape") { details.open = false; this.chosen.focus(); } });
      document.addEventListener("click", event => { if (!details.contains(event.target)) details.open = false; });
      return details;
    }

    select() {
      const tests = parse(this.filter.value, this.columns).map(term => matcher(term, this.columns));
      this.rows = this.all.filter(row => tests.every(test => test(row)));
      this.page = 0;
      this.arrange();
    }

    arrange() {
      if (this.sorted >= 0) order(this.columns[this.sorted], this.direction)(this.rows);
      this.draw();
    }

    sort(index) {
      if (this.sorted !== index) { this.sorted = index; this.direction = 1; }
      else if (this.direction === 1) this.direction = -1;
      else { this.sorted = -1; this.rows.sort((a, b) => a - b); }
      this.page = 0;
      this.heads();
      this.arrange();
    }

    turn(step) {
      this.page += step;
      this.draw();
      this.section.querySelector(".scroll").scrollTop = 0;
    }

    // The columns in view: those chosen, with the log places after the first.
    fields() {
      const fields = this.columns.map((column, index) => ({ column, index })).filter(field => this.shown.has(field.index));
      const links = this.table.links.map(link => ({ link }));
      return [...fields.slice(0, 1), ...links, ...fields.slice(1)];
    }

    heads(plain = false) {
      this.head.replaceChildren(...this.fields().map(({ column, index, link }) => {
        if (link || plain) return make("th", link ? link.name : column.label, { scope: "col" });
        const cell = make("th", undefined, { scope: "col", "aria-sort": index !== this.sorted ? "none" : this.direction > 0 ? "ascending" : "descending" });
        if (column.numeric) cell.className = "n";
        const button = make("button", column.label, { type: "button" });
        if (column.tip) cell.title = column.tip;
        button.addEventListener("click", () => { this.sort(index); this.head.querySelector(`[data-index="${index}"]`).focus(); });
        button.dataset.index = index;
        cell.append(button);
        return cell;
      }));
    }

    update() {
      this.chosen.textContent = filled("columns {} of {}", this.shown.size, this.columns.length);
      this.heads();
      this.draw();
    }

    draw(from, to) {
      const pages = Math.max(1, Math.ceil(this.rows.length / this.size));
      this.page = Math.min(Math.max(0, this.page), pages - 1);
      const first = from === undefined ? this.page * this.size : from;
      const last = Math.min(to === undefined ? first + this.size : to, this.rows.length);
      const fields = this.fields().map(field => ({ ...field, read: field.column && reader(field.column) }));
      this.body.replaceChildren(...this.rows.slice(first, last).map(row => this.row(row, fields)));
      this.previous.disabled = this.page === 0;
      this.next.disabled = this.page >= pages - 1;
      const total = this.rows.length === this.table.count ? "" : " " + filled("(of {})", count(this.table.count));
      this.status.textContent = this.rows.length
        ? filled("rows {}–{} of {}", count(first + 1), count(last), count(this.rows.length)) + total : word("no row matches");
    }

    row(row, fields) {
      const line = make("tr");
      const places = this.table.links.map(link => place(link, this.columns, row));
      fields.forEach(({ column, link, read }) => {
        line.append(link ? logCell(places[this.table.links.indexOf(link)]) : this.cell(column, read(row), row, places[this.linkOf(column)]));
      });
      return line;
    }

    // Of several logs that of the side which the column is about: `Base` and `Base Line` go together.
    linkOf(column) {
      const side = this.table.links.findIndex(link => link.owner && column.name.toLowerCase().startsWith(link.owner));
      return Math.max(side, 0);
    }

    cell(column, value, row, spot) {
      if (value === null || value === "") return make("td", "–", { class: column.numeric ? "n none" : "none" });
      const shown = text(value);
      const cell = make("td", undefined, column.numeric ? { class: "n" } : {});
      if (column.exact && text(column.exact[row]) !== shown) cell.title = text(column.exact[row]);
      else if (shown.length > 20) cell.title = shown;
      if (column.numeric && spot) cell.append(make("a", shown, { class: "v", href: spot.href, title: spot.text, tabindex: "-1" }));
      else if (shown.length > LONG) cell.append(make("div", shown, { class: "long" }));
      else cell.textContent = shown;
      return cell;
    }
  }

  const logCell = spot => {
    const cell = make("td", spot ? undefined : "–", { class: spot ? "log" : "log none" });
    if (!spot) return cell;
    cell.append(make("a", spot.short, { href: spot.href, title: spot.text }));
    const button = make("button", word("copy"), { type: "button", title: filled("copy {}", spot.text), "aria-label": filled("copy {}", spot.text) });
    button.addEventListener("click", () => copy(spot.text));
    cell.append(button);
    return cell;
  };

  const copy = async value => {
    try {
      await navigator.clipboard.writeText(value);
    } catch (refused) {
      const area = make("textarea", value);
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say(filled("copied {}", value));
  };

  document.querySelectorAll("section[data-table]").forEach(section => {
    views.push(new View(section, report.tables[Number(section.dataset.table)]));
  });

  // Print the filtered rows, not one page of them.
  window.addEventListener("beforeprint", () => views.forEach(view => {
    // Browsers leave buttons out of the heading that they repeat on every sheet.
    view.heads(true);
    view.draw(0, PRINTED);
    const more = view.section.querySelector(".more");
    more.hidden = view.rows.length <= PRINTED;
    more.textContent = filled("the first {} of {} rows are printed; filter to print others", count(PRINTED), count(view.rows.length));
  }));
  window.addEventListener("afterprint", () => views.forEach(view => {
    view.section.querySelector(".more").hidden = true;
    view.heads();
    view.draw();
  }));
})();
