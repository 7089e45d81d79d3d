// What regions of pictures and spans of texts have in common: labels to choose from, a list in
// which each can be labelled, changed and deleted without a pointer, undo, and what is
// asked before a form is sent. crowd-html-elements.js loads this module, and this one loads
// what draws the elements that the page has.
const COLORS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2",
  "#7f7f7f", "#bcbd22", "#17becf", "#393b79", "#ad494a", "#637939", "#8c6d31", "#7b4173", "#3182bd",
  "#e6550d", "#31a354", "#756bb1", "#a55194", "#006d77", "#b5179e", "#5f0f40", "#3a5a40"];
// A mask's palette has 256 colors, and white is what has no label.
const MOST_COLORS = 255;
// More marks, pixels of a mask's picture, or cells of all areas are not read (analyses/regions.py).
const MOST_MARKS = 500;
export const MOST_PIXELS = 64_000_000;
export const MOST_CELLS = 64_000_000;
// The cells of boxes around areas; a cell is a pixel, or more in a picture with a long side.
export const cellsOf = (wide, high, boxes) => {
  const cell = Math.max(1, Math.ceil(Math.max(wide, high) / 2048));
  const along = (from, to) => Math.floor((to - from) / cell) + 1;
  return boxes.reduce((sum, [left, top, right, bottom]) => sum + along(left, right) * along(top, bottom), 0);
};
// What a page's script took from the labels.
const NO_LABEL = "#000000";

// A color for each name: the stated one, else one of ours, else a made one. No two are alike and
// none is white, because a mask's color is all that tells its label.
const distinct = (stated, count) => {
  const taken = new Set(["#ffffff"]);
  const take = (color) => {
    const written = String(color).toLowerCase();
    if (!/^#[0-9a-f]{6}$/.test(written) || taken.has(written)) return null;
    taken.add(written);
    return color;
  };
  // Steps of a prime number go through all colors.
  const own = (n) => COLORS[n] ?? `#${((n * 5046301) % 2 ** 24).toString(16).padStart(6, "0")}`;
  return Array.from({ length: count }, (_, n) => take(stated[n])).map((color, n) => {
    let chosen = color;
    for (let next = n; !chosen; next += 1) chosen = take(own(next));
    return chosen;
  });
};

const DRAFTS = "piecework.marks.";
const WEEK_MS = 7 * 24 * 3600 * 1000;
const STYLE = `
.crowd-tool { display: block; margin: .6rem 0; touch-action: manipulation; }
.crowd-tool .crowd-header { font-weight: 600; margin: .4rem 0; }
.crowd-tool button, .crowd-tool select { font: inherit; min-height: 2.75rem; min-width: 2.75rem; color: #0b5394;
  background: #fff; border: 1px solid #767b83; border-radius: .35rem; padding: .3rem .8rem; cursor: pointer; }
.crowd-tool [hidden] { display: none; }
.crowd-bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; }
.crowd-bar input[type=range] { min-height: 2.75rem; }
.crowd-tool fieldset { display: flex; flex-wrap: wrap; gap: 0 1.2rem; border: 1px solid #d4d6da; border-radius: .5rem;
  margin: .5rem 0; padding: .2rem .8rem; min-width: 0; }
.crowd-legend { list-style: none; padding: 0; }
.crowd-legend li { display: flex; gap: .4rem; align-items: center; }
.crowd-swatch { width: 1rem; height: 1rem; border: 1px solid #1b1b1b; border-radius: .2rem; flex: none; }
.crowd-view { overflow: auto; direction: ltr; min-height: 2.75rem; border: 1px solid #767b83; background: #eee; }
.crowd-stage { position: relative; width: calc(var(--zoom, 1) * max(var(--least, 1rem), min(100%, var(--fit, 100%))));
  touch-action: pinch-zoom; cursor: crosshair; user-select: none; -webkit-user-select: none; }
.crowd-frame { position: fixed; inset: 0; visibility: hidden; pointer-events: none; }
.crowd-form-own .crowd-stage img, .crowd-stage img { display: block; width: 100%; max-width: none; height: auto; }
.crowd-stage.crowd-still { touch-action: auto; cursor: auto; }
.crowd-stage svg, .crowd-mask { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; }
.crowd-mask { opacity: .6; image-rendering: pixelated; }
.crowd-stage svg path { vector-effect: non-scaling-stroke; stroke-width: 2.5; fill: none; stroke-linejoin: round; }
.crowd-stage svg .crowd-point { stroke-width: 12; stroke-linecap: round; }
.crowd-stage svg .crowd-chosen { stroke-width: 5; }
.crowd-stage svg .crowd-point.crowd-chosen { stroke-width: 18; }
.crowd-stage svg .crowd-drawing { stroke-dasharray: 6 4; }
.crowd-stage svg .crowd-brush { vector-effect: none; stroke-dasharray: none; stroke-linecap: round; opacity: .6; }
.crowd-stage svg .crowd-cross { stroke: #000; stroke-width: 2; filter: drop-shadow(0 0 1px #fff) drop-shadow(0 0 1px #fff); }
.crowd-stage svg text { font-size: calc(14px * var(--pixel, 1)); dominant-baseline: hanging; transform: translate(calc(10px * var(--pixel, 1)), calc(3px * var(--pixel, 1))); fill: #000; stroke: #fff; paint-order: stroke;
  stroke-width: calc(4px * var(--pixel, 1)); }
.crowd-tool .crowd-handles button { position: absolute; width: 14px; height: 14px; min-width: 0; min-height: 0; padding: 0;
  transform: translate(-50%, -50%); pointer-events: none; border: 2px solid #000; background: #fff; border-radius: 0; }
.crowd-tool .crowd-handles .crowd-move { border-radius: 50%; }
.crowd-handles { position: absolute; inset: 0; pointer-events: none; }
.crowd-list { list-style: none; margin: .5rem 0; padding: 0; max-height: 24rem; overflow: auto; }
.crowd-list li { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; padding: .2rem 0; content-visibility: auto;
  contain-intrinsic-height: 3rem; }
.crowd-list li.crowd-chosen { background: #e7eef6; }
.crowd-text { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #767b83; border-radius: .35rem;
  padding: .6rem .8rem; line-height: 2.2; background: #fff; color: #1b1b1b; }
.crowd-text mark { color: inherit; background: #fff; border-bottom: 3px solid; border-radius: .2rem; padding: .1rem 0; }
.crowd-text mark[data-name]::after { content: attr(data-name); font-size: .7rem; vertical-align: super; padding: 0 .2rem; }
.crowd-tool .crowd-fault { color: #a3201d; }`;

export const addStyle = (root, make) => {
  if (!(root.head || root).querySelector("#crowd-tool-style")) {
    (root.head || root).append(make("style", { id: "crowd-tool-style" }, STYLE));
  }
};

export class Tool {
  constructor(element, kit, word) {
    this.element = element;
    this.kit = kit;
    this.translate = kit.translate;
    this.word = kit.translate(word);
    this.id = kit.newId();
    this.regions = [];
    this.history = [];
    this.readLabels();
  }
  readLabels() {
    this.statedLabels = this.kit.list(this.element.getAttribute("labels")).map((label) =>
      (typeof label === "object" && label !== null ? label : { label: String(label) }));
    this.labels = this.statedLabels.map(({ label }) => String(label));
  }
  // A page's script may change the labels while a worker marks.
  relabel() {
    this.readLabels();
    if (this.instances) {
      this.instances = this.withFirsts(this.instances.filter(({ label, name }) => this.labels.includes(label) || this.isUsed(name)));
    }
    this.fillLabels();
    this.fillList();
    this.regions.forEach((region) => this.show(region));
  }
  // Each label has an instance to begin with.
  withFirsts(instances) {
    const added = this.labels.filter((label) => !instances.some((other) => other.label === label));
    return [...instances, ...added.map((label) => ({ label, name: `${label} 1` }))];
  }
  isUsed(name) {
    return Boolean(this.earlier?.used.includes(name)) || this.regions.some(({ instance }) => instance === name);
  }
  stated() { return this.kit.loose(this.element.getAttribute("initial-value")); }
  colors() {
    const stated = this.instances?.map(({ color }) => color) ?? this.kit.list(this.element.getAttribute("label-colors"));
    return distinct(stated, this.names().length);
  }
  colorOf({ label, instance }) { return this.colors()[this.names().indexOf(instance ?? label)] || NO_LABEL; }
  // What a mark can be called: a label, or an instance of one.
  names() { return this.instances ? this.instances.map(({ name }) => name) : this.labels; }
  named(name) {
    const instance = this.instances?.find((other) => other.name === name);
    return instance ? { label: instance.label, instance: name } : { label: name };
  }
  shown(name) { return this.statedLabels.find(({ label }) => label === name)?.fullDisplayName || name; }

  // --- the page ---------------------------------------------------------------------
  assemble(...parts) {
    const { make, instructions, translate } = this.kit;
    const { element } = this;
    addStyle(element.getRootNode(), make);
    const [short, full] = ["short-instructions", "full-instructions"].map((part) => element.querySelector(part));
    this.status = make("p", { role: "status" });
    this.fault = make("p", { class: "crowd-fault", role: "alert" });
    this.list = make("ol", { class: "crowd-list", "aria-label": translate("What you marked") });
    this.nothing = make("input", { type: "checkbox" });
    this.nothingRow = make("label", { class: "crowd-option" }, this.nothing, make("span", {}, translate("Nothing to mark here")));
    this.nothing.addEventListener("change", () => {
      this.fault.textContent = "";
      this.keep();
    });
    this.labelBox = make("div");
    this.fillLabels();
    const header = element.getAttribute("header");
    const tool = make("div", { class: "crowd-tool" }, ...(header ? [make("p", { class: "crowd-header" }, header)] : []),
      ...(short ? [short] : []), ...instructions(translate("Instructions"), full), this.labelBox, ...parts.slice(0, -1),
      this.status, this.fault, this.nothingRow, this.list,
      make("details", { class: "crowd-more" }, make("summary", {}, translate("Keyboard")), make("p", { id: `${this.id}-keys` }, parts.at(-1))));
    tool.addEventListener("keydown", (event) => {
      // Enter in a form's control would send the form.
      if (event.key === "Enter" && event.target.matches("input, select")) event.preventDefault();
    });
    this.root = tool;
    element.prepend(tool);
  }
  button(text, act, label) {
    const button = this.kit.make("button", { type: "button", "aria-label": label }, text);
    button.addEventListener("click", act);
    return button;
  }
  choice(title, names, choose, colors) {
    const { make, newId } = this.kit;
    const group = newId();
    const options = names.map((name, n) => {
      const control = make("input", { type: "radio", name: group, value: name, checked: n === 0 });
      control.addEventListener("change", () => choose(name));
      const swatch = make("span", { class: "crowd-swatch" });
      swatch.style.background = colors?.[n] || "";
      return make("label", { class: "crowd-option" }, control, ...(colors ? [swatch] : []), make("span", {}, this.shown(name)));
    });
    return make("fieldset", {}, make("legend", {}, title), ...options);
  }
  fillLabels() {
    const names = this.names();
    const before = names.includes(this.label) ? this.label : names[0];
    const box = this.choice(this.translate("Label"), names, (name) => this.take(name), names.map((name) => this.colorOf(this.named(name))));
    const adds = (this.instances ? this.labels : []).map((label) => this.button(this.translate("Add instance: %(label)s", { label }), () => this.addInstance(label)));
    this.labelBox.replaceChildren(box, this.kit.make("div", { class: "crowd-bar" }, ...adds));
    this.radios = Array.from(box.querySelectorAll("input"));
    this.take(before);
  }
  take(name) {
    this.label = name;
    this.radios.forEach((radio) => { radio.checked = radio.value === name; });
  }
  addInstance(label) {
    if (this.instances.length >= MOST_COLORS) {
      this.say(this.translate("At most %(most)s instances can be told apart.", { most: MOST_COLORS }));
      return;
    }
    const count = this.instances.filter((other) => other.label === label).length;
    this.instances.push({ label, name: `${label} ${count + 1}` });
    this.label = `${label} ${count + 1}`;
    this.fillLabels();
    this.fillList();
  }
  digit(key) {
    const name = /^[1-9]$/.test(key) ? this.names()[Number(key) - 1] : undefined;
    if (name === undefined) return false;
    this.take(name);
    this.say(this.translate("Label: %(label)s", { label: this.shown(name) }));
    return true;
  }
  say(text, isFault = false) {
    (isFault ? this.fault : this.status).textContent = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  }

  // --- regions ----------------------------------------------------------------------
  nameOf(region) { return `${this.word} ${this.regions.indexOf(region) + 1}`; }
  remember() {
    this.history.push(this.regions.map(({ node, row, ...rest }) => rest));
    if (this.history.length > 100) this.history.shift();
  }
  undo() {
    const before = this.history.pop();
    this.choose(null);
    if (!before) {
      this.say(this.translate("There is nothing to undo."));
      return;
    }
    const after = this.regions;
    this.regions = before;
    after.forEach((region) => this.hide(region));
    this.regions.forEach((region) => this.show(region));
    this.fillList();
    this.say(this.translate("Undone."));
    this.changed();
  }
  add(region) {
    this.remember();
    this.regions.push(region);
    this.show(region);
    const label = this.shown(region.instance ?? region.label ?? this.translate("eraser"));
    this.say(this.translate("%(name)s added: %(label)s.", { name: this.nameOf(region), label }));
    this.changed();
  }
  remove(region) {
    const name = this.nameOf(region);
    if (region === this.chosen) this.choose(null);
    this.remember();
    this.regions = this.regions.filter((other) => other !== region);
    this.hide(region);
    region.row?.remove();
    this.say(this.translate("%(name)s deleted.", { name }));
    this.changed();
  }
  rename(region, name) {
    this.remember();
    Object.assign(region, this.named(name));
    this.show(region);
    this.changed();
  }
  choose(region) {
    this.chosen?.row?.classList.remove("crowd-chosen");
    this.chosen = region;
    region?.row?.classList.add("crowd-chosen");
    region?.row?.scrollIntoView?.({ block: "nearest" });
  }
  changed() {
    this.fault.textContent = this.isBroken ? this.fault.textContent : "";
    this.refresh();
    this.keep();
    this.element.dispatchEvent(new Event("change", { bubbles: true }));
  }

  // --- drafts -----------------------------------------------------------------------
  // A reload, a lost network or a refused form leaves the marks in this browser for a week.
  // Storage may be refused (private windows, sandboxed frames).
  draft() { return `${DRAFTS}${this.kit.assignmentId}.${this.element.getAttribute("name") || ""}`; }
  // Marks of another picture or text are not those of this one.
  source() { return ["src", "text"].map((name) => this.element.getAttribute(name)).join("\n"); }
  keep() {
    if (!this.isReady || !this.kit.assignmentId) return;
    const regions = this.regions.map(({ node, row, ...rest }) => rest);
    const kept = { savedAt: Date.now(), source: this.source(), regions, instances: this.instances, nothing: this.nothing.checked };
    try {
      localStorage.removeItem(this.draft()); // An older draft may not stay if this one is too large.
      localStorage.setItem(this.draft(), JSON.stringify(kept));
    } catch {}
  }
  resume() {
    let kept = null;
    try {
      Object.keys(localStorage).filter((name) => name.startsWith(DRAFTS)).forEach((name) => {
        if (!(Date.now() - JSON.parse(localStorage.getItem(name)).savedAt < WEEK_MS)) localStorage.removeItem(name);
      });
      kept = JSON.parse(localStorage.getItem(this.draft()));
    } catch {}
    if (this.kit.assignmentId && kept?.source === this.source()) {
      const before = this.regions;
      if (this.instances && kept.instances) {
        const added = this.instances.filter(({ name }) => !kept.instances.some((other) => other.name === name));
        this.instances = [...kept.instances, ...added];
      }
      this.regions = kept.regions.filter(({ label }) => label === null || this.labels.includes(label));
      before.forEach((region) => this.hide(region));
      this.regions.forEach((region) => this.show(region));
      this.nothing.checked = kept.nothing;
      this.fillLabels();
      this.fillList();
      this.changed();
    }
    this.isReady = true;
  }

  // --- the list ---------------------------------------------------------------------
  refresh() {
    this.nothingRow.hidden = this.regions.length > 0 || Boolean(this.base);
    this.regions.forEach((region, n) => {
      region.row ??= this.row(region);
      if (this.list.children[n] !== region.row) this.list.insertBefore(region.row, this.list.children[n] || null);
      this.fillRow(region);
    });
    while (this.list.children.length > this.regions.length) this.list.lastChild.remove();
  }
  fillList() {
    this.regions.forEach((region) => {
      region.row?.remove();
      region.row = null;
    });
    this.refresh();
  }
  row(region) {
    const { make, translate } = this.kit;
    const row = make("li", {}, make("span", { class: "crowd-swatch" }), make("span"));
    if (region.label !== null) {
      const select = make("select", {}, ...this.names().map((name) => make("option", { value: name }, this.shown(name))));
      select.addEventListener("change", () => this.rename(region, select.value));
      row.append(select);
    }
    if (this.edit) row.append(this.button(translate("Edit"), () => this.edit(region)));
    row.append(this.button(translate("Delete"), () => {
      const after = row.nextElementSibling || row.previousElementSibling;
      this.remove(region);
      (after?.querySelector("button:last-child") || this.stage).focus();
    }));
    return row;
  }
  fillRow(region) {
    const { row } = region;
    const name = this.nameOf(region);
    const shown = `${name} ${region.instance ?? region.label}`;
    if (row.shown === shown) return;
    row.shown = shown;
    row.children[0].style.background = region.label === null ? "#fff" : this.colorOf(region);
    row.children[1].textContent = region.label === null ? this.translate("%(name)s (eraser)", { name }) : this.titleOf(region, name);
    row.querySelectorAll("button").forEach((button) => button.setAttribute("aria-label", this.translate("%(action)s %(name)s", { action: button.textContent, name })));
    const select = row.querySelector("select");
    if (select) {
      select.setAttribute("aria-label", this.translate("Label of %(name)s", { name }));
      select.value = region.instance ?? region.label;
    }
  }
  titleOf(region, name) { return name; }

  // --- sending ----------------------------------------------------------------------
  // Marks that an answer cannot hold.
  unsendable() { return []; }
  // What a reader of answers refuses: more marks than it compares. Lines are not compared.
  excess() {
    const counted = this.kind.isMerged ? this.regions.length : 0;
    return counted > MOST_MARKS ? this.translate("There are %(count)s marks; at most %(most)s can be sent.", { count: counted, most: MOST_MARKS }) : "";
  }
  // No worker can say which marks of an earlier answer to delete.
  refuseStated() {
    if (!this.excess()) return false;
    this.isBroken = true;
    this.say(this.translate("The earlier marks are more than can be sent. Return the HIT."), true);
    return true;
  }
  complain() {
    let fault = "";
    const unsendable = this.unsendable();
    if (this.isBroken) {
      fault = this.fault.textContent;
    } else if (this.open?.length) {
      fault = this.translate("Finish the %(word)s that you began, or press Escape on the picture.", this);
    } else if (unsendable.length) {
      const names = unsendable.map((region) => this.nameOf(region)).join(", ");
      fault = this.translate("The page no longer has the label of %(names)s. Choose another label, or delete it.", { names });
    } else if (!this.regions.length && !this.base && !this.nothing.checked) {
      fault = this.translate("Mark at least one %(word)s, or tick “Nothing to mark here”.", this);
    } else {
      fault = this.excess();
    }
    if (fault) {
      this.say(fault, true);
      const control = unsendable[0]?.row.querySelector("select") || (this.nothingRow.hidden ? this.stage : this.nothing);
      (this.isBroken || this.open?.length ? this.stage : control).focus();
      this.fault.scrollIntoView({ block: "center" });
    }
    return Boolean(fault);
  }
}

const MODULES = {
  "crowd-regions.js": ["bounding-box", "keypoint", "polygon", "polyline", "line", "semantic-segmentation", "instance-segmentation"],
  "crowd-spans.js": ["entity-annotation"],
};
const ATTRIBUTES = ["src", "labels", "initial-value", "text", "header"];

// Defines the elements, and returns a promise for those that the page already has.
export const define = (kit) => {
  const { Crowd, make, list, STYLE: style } = kit;
  const kindFor = (file) => {
    class Marked extends Crowd {
      static get observedAttributes() { return ATTRIBUTES; }
      attributeChangedCallback(name) {
        if (this.tool && name === "labels") {
          this.tool.relabel();
        } else if (this.tool) {
          this.prepare();
        }
      }
      get name() { return this.getAttribute("name") || ""; }
      get value() { return this.tool ? this.tool.answer() : {}; }
      get _submittableValue() { return this.value; }
      build() {
        if (this.localName === "crowd-entity-annotation" && !this.closest("crowd-form")) this.addForm();
        this.ready = import(`./${file}`).then((module) => {
          this.module = module;
          this.prepare();
        });
      }
      // Such a page has no form of its own; its scripts reach this one through the shadow root.
      addForm() {
        const form = make("crowd-form", { "answer-format": this.getAttribute("answer-format") }, make("slot"));
        this.attachShadow({ mode: "open" }).append(make("style", {}, style), form);
      }
      prepare() {
        const before = this.tool?.root;
        this.tool = this.module.create(this, kit);
        before?.remove();
      }
      complain() { return this.tool.complain(); }
      async settle() { await this.tool.settle?.(); }
      answer() { return this.tool.answer(); }
    }
    for (const name of ATTRIBUTES) {
      Object.defineProperty(Marked.prototype, name.replace(/-(.)/, (_, letter) => letter.toUpperCase()), {
        get() { return name === "labels" ? list(this.getAttribute(name)) : this.getAttribute(name); },
        set(value) { this.setAttribute(name, typeof value === "string" ? value : JSON.stringify(value)); },
      });
    }
    return Marked;
  };
  const names = Object.entries(MODULES).flatMap(([file, kinds]) => kinds.map((kind) => {
    customElements.define(`crowd-${kind}`, kindFor(file));
    return `crowd-${kind}`;
  }));
  return Promise.all(Array.from(document.querySelectorAll(names.join(", ")), (element) => element.ready));
};
