// Replaces the script of this name that Amazon hosted: <crowd-form> and the common crowd
// elements, reimplemented from their public documentation. Each element contains ordinary,
// labelled browser controls, so keyboards and screen readers work as with any form.
// Answers are sent as documented: one field `taskAnswers` with a JSON list of one object,
// or, with answer-format="flatten-objects", a field for each value. Elements that mark
// pictures and texts are in modules beside this file, loaded where a page has one.
"use strict";
(() => {
  const STYLE = `
crowd-form, crowd-card, crowd-alert, crowd-instructions, crowd-radio-group, crowd-input,
crowd-text-area, crowd-slider, crowd-classifier, crowd-classifier-multi-select,
crowd-image-classifier, crowd-image-classifier-multi-select, crowd-text-ranking, crowd-tabs, crowd-tab, short-instructions, full-instructions,
classification-target, crowd-bounding-box, crowd-keypoint, crowd-polygon, crowd-polyline, crowd-line, crowd-semantic-segmentation,
crowd-instance-segmentation, crowd-entity-annotation { display: block; }
crowd-form { font: 1rem/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 60rem;
  margin: 0 auto; padding: .75rem; overflow-wrap: anywhere; }
crowd-form *, crowd-form { box-sizing: border-box; }
crowd-form img, crowd-form video { max-width: 100%; height: auto; object-fit: contain; }
crowd-card { border: 1px solid #d4d6da; border-radius: .5rem; padding: 1rem; margin: 1rem 0; }
crowd-alert { border-left: .3rem solid #0b5394; background: #f3f5f8; padding: .6rem 1rem; margin: 1rem 0; }
crowd-alert[type=warning], crowd-alert[type=error] { border-color: #a3201d; }
crowd-input, crowd-text-area, crowd-slider, crowd-radio-group { margin: .6rem 0; }
crowd-checkbox, crowd-radio-button, crowd-toggle-button { display: block; margin: .2rem 0; }
.crowd-label { display: block; font-size: .95rem; }
.crowd-field { width: 100%; font: inherit; color: inherit; background: #fff; padding: .5rem .6rem;
  border: 1px solid #767b83; border-radius: .35rem; min-height: 2.75rem; }
.crowd-option { display: flex; gap: .6rem; align-items: center; min-height: 2.75rem; cursor: pointer; }
.crowd-option input { width: 1.25rem; height: 1.25rem; flex: none; }
.crowd-set { border: 1px solid #d4d6da; border-radius: .5rem; margin: 1rem 0; padding: .6rem 1rem; }
.crowd-set legend { font-weight: 600; padding: 0 .3rem; }
.crowd-range { display: flex; gap: .75rem; align-items: center; }
.crowd-range input { flex: 1; min-height: 2.75rem; }
.crowd-button { font: inherit; min-height: 2.75rem; padding: .5rem 1.1rem; margin: .3rem 0; cursor: pointer;
  border: 2px solid #0b5394; border-radius: .4rem; background: #fff; color: #0b5394; text-decoration: none; display: inline-block; }
.crowd-button.primary { background: #0b5394; color: #fff; }
.crowd-button:disabled { border-color: #767b83; background: #e7e9ec; color: #40454c; cursor: not-allowed; }
.crowd-fault { color: #a3201d; }
crowd-badge { display: inline-block; min-width: 1.25rem; padding: 0 .3rem; border-radius: .7rem; background: #0b5394; color: #fff;
  font-size: .8rem; text-align: center; vertical-align: super; }
crowd-toast { display: none; position: fixed; inset: auto 1rem 1rem; z-index: 9; max-width: 40rem; margin: auto; padding: .8rem 1rem;
  border-radius: .4rem; background: #1b1b1b; color: #fff; }
crowd-toast[opened] { display: block; }
.crowd-more { margin: .6rem 0; }
.crowd-more summary { cursor: pointer; color: #0b5394; padding: .6rem 0; min-width: 2.75rem; min-height: 2.75rem; width: fit-content; }
.crowd-form-own :focus-visible { outline: 3px solid #b45309; outline-offset: 2px; }`;

  const ABSENT = ["3d-point-cloud", "video-object-detection", "video-object-tracking",
    "rekognition-detect-moderation-labels", "textract-analyze-document", "question-answer-generation"];
  const MARKED = ["bounding-box", "keypoint", "polygon", "polyline", "line", "semantic-segmentation",
    "instance-segmentation", "entity-annotation"].map((name) => `crowd-${name}`).join(", ");
  const { src: address } = document.currentScript;
  const LARGEST_ANSWER = 64000;
  // The marketplace puts the sentences of a page's language before this script.
  const sentences = window.pieceworkSentences || {};
  const translate = (text, values = {}) => (sentences[text] || text).replace(/%\((\w+)\)s/g, (_, name) => values[name]);
  const given = new URLSearchParams(window.location.search);
  const isPreview = (given.get("assignmentId") || "ASSIGNMENT_ID_NOT_AVAILABLE")
    === "ASSIGNMENT_ID_NOT_AVAILABLE";
  // A page that states its language, but no direction, would show its sentences reversed.
  const { documentElement: root } = document;
  const RIGHT_TO_LEFT = /^(?:[a-z]+-(?:arab|hebr|thaa|syrc|nkoo|adlm)|(?:ar|ckb|dv|fa|he|iw|ps|sd|ug|ur|yi)(?!-[a-z]{4}\b))\b/i;
  if (!root.hasAttribute("dir") && RIGHT_TO_LEFT.test(root.lang)) root.dir = "rtl";
  const MARKS_LACK = translate("The marks to judge are not shown. Reload the page. If that does not help, return the HIT.");
  let count = 0;
  const newId = () => `crowd-${count += 1}`;

  const make = (tag, traits = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(traits)) {
      if (value !== null && value !== undefined && value !== false) {
        element.setAttribute(name, value === true ? "" : value);
      }
    }
    element.append(...children);
    return element;
  };
  const has = (element, name) =>
    element.hasAttribute(name) && element.getAttribute(name) !== "false";
  const contents = (element) => Array.from(element.childNodes);
  // Values in attributes are JSON, or as JavaScript writes them: single quotes, names
  // without quotes, a comma after the last member, comments.
  const TOKEN = /'((?:[^'\\]|\\.)*)'|("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[^]*?\*\/|,(?=\s*[\]}])|([A-Za-z_$][\w$]*)(?=\s*:)/g;
  const loose = (text) => {
    for (const attempt of [text, (text || "").replace(TOKEN, (token, single, double, name) =>
      (single !== undefined ? JSON.stringify(single.replace(/\\(.)/g, "$1")) : double || (name ? `"${name}"` : "")))]) {
      try {
        return JSON.parse(attempt);
      } catch {
        // The next attempt, or none.
      }
    }
    return undefined;
  };
  const list = (text) => {
    const parsed = loose(text);
    if (Array.isArray(parsed)) {
      return parsed;
    }
    const quoted = (text || "").match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g) || [];
    return quoted.map((word) => word.slice(1, -1).replace(/\\(.)/g, "$1"));
  };
  const instructions = (label, region) => {
    if (!region) {
      return [];
    }
    const title = region.getAttribute("header") || label;
    return [make("details", { class: "crowd-more" }, make("summary", {}, title), region)];
  };

  // An element that is built once, when its children exist.
  class Crowd extends HTMLElement {
    connectedCallback() {
      if (!this.isBuilt) {
        this.isBuilt = true;
        this.build();
      }
    }
    build() {}
    get disabled() { return has(this, "disabled"); }
    set disabled(value) { this.toggleAttribute("disabled", Boolean(value)); }
  }

  // An element with one control inside, whose state is the element's.
  class Control extends Crowd {
    static get observedAttributes() { return ["disabled", "checked"]; }
    attributeChangedCallback(name) {
      if (this.control && name in this.control) {
        this.control[name] = has(this, name);
      }
    }
    get name() { return this.getAttribute("name") || ""; }
    set name(text) { this.setAttribute("name", text); }
    get value() { return this.control ? this.control.value : this.getAttribute("value"); }
    set value(text) {
      if (this.control) {
        this.control.value = text;
      } else {
        this.setAttribute("value", text);
      }
    }
    focus() { this.control.focus(); }
    adopt(control) {
      this.control = control;
      control.crowd = this;
      control.disabled = has(this, "disabled");
      control.required = has(this, "required");
    }
  }

  class Text extends Control {
    build() {
      const id = newId();
      const said = this.getAttribute("label");
      const control = this.field(id);
      this.adopt(control);
      control.value = this.getAttribute("value") || "";
      const label = make("label", { for: id, class: "crowd-label" }, said || "");
      if (said) {
        this.append(label);
      } else {
        control.setAttribute("aria-label",
          this.getAttribute("aria-label") || this.getAttribute("placeholder") || this.name);
      }
      this.append(control);
      const message = this.getAttribute("error-message");
      if (message) {
        control.addEventListener("invalid", () => control.setCustomValidity(message));
        control.addEventListener("input", () => control.setCustomValidity(""));
      }
    }
    traits(id) {
      return {
        id,
        class: "crowd-field",
        placeholder: this.getAttribute("placeholder"),
        maxlength: this.getAttribute("max-length") || this.getAttribute("maxlength"),
        minlength: this.getAttribute("min-length") || this.getAttribute("minlength"),
        autofocus: has(this, "auto-focus"),
      };
    }
    answer() {
      // As documented: empty values do not appear. No form sends a file.
      return this.value === "" || this.control.type === "file" ? undefined : this.value;
    }
  }
  class Input extends Text {
    field(id) {
      const pattern = has(this, "auto-validate") ? this.getAttribute("allowed-pattern") : null;
      return make("input", {
        ...this.traits(id), type: this.getAttribute("type") || "text",
        pattern: pattern && `(?:${pattern})*`, min: this.getAttribute("min"),
        max: this.getAttribute("max"), step: this.getAttribute("step"),
      });
    }
  }
  class TextArea extends Text {
    field(id) {
      return make("textarea", { ...this.traits(id), rows: this.getAttribute("rows") || 3 });
    }
  }

  class Slider extends Control {
    build() {
      const [min, max] = [this.getAttribute("min") || 0, this.getAttribute("max") || 100];
      const control = make("input", {
        type: "range", min, max, step: this.getAttribute("step") || 1,
        "aria-label": this.getAttribute("label") || this.getAttribute("aria-label") || this.name,
      });
      control.value = this.getAttribute("value") || min;
      const shown = make("output", {}, control.value);
      control.addEventListener("input", () => { shown.value = control.value; });
      this.adopt(control);
      control.required = false;
      this.append(make("div", { class: "crowd-range" }, control, shown));
    }
    answer() { return Number(this.value); }
  }

  class Choice extends Control {
    build() {
      const control = make("input", this.traits());
      this.adopt(control);
      control.checked = has(this, "checked");
      control.value = this.word;
      const said = contents(this);
      const isNamed = this.textContent.trim() !== "" || this.querySelector("img[alt]");
      if (!isNamed) {
        control.setAttribute("aria-label", this.getAttribute("aria-label") || this.name || this.word);
      }
      this.append(make("label", { class: "crowd-option" }, control, make("span", {}, ...said)));
    }
    get word() { return this.getAttribute("value") || "on"; }
    get checked() { return this.control ? this.control.checked : has(this, "checked"); }
    set checked(value) {
      if (this.control) {
        this.control.checked = Boolean(value);
      } else {
        this.toggleAttribute("checked", Boolean(value));
      }
    }
    get value() { return this.word; }
    set value(text) { this.setAttribute("value", text); }
    answer() { return { [this.word]: this.checked }; }
  }
  class Checkbox extends Choice {
    traits() { return { type: "checkbox" }; }
  }
  class Toggle extends Choice {
    traits() { return { type: "checkbox", role: "switch" }; }
  }
  class Radio extends Choice {
    get name() { return super.name || this.closest("crowd-radio-group")?.getAttribute("name") || ""; }
    set name(text) { super.name = text; }
    traits() {
      // Within a group one excludes the others, even with different names.
      const group = this.closest("crowd-radio-group");
      return { type: "radio", name: group ? group.groupName : `crowd radio ${this.name}` };
    }
  }
  class RadioGroup extends Crowd {
    get groupName() {
      this.ownName ??= newId();
      return this.ownName;
    }
    build() {
      this.setAttribute("role", "radiogroup");
      if (!this.hasAttribute("aria-label") && !this.hasAttribute("aria-labelledby")) {
        this.setAttribute("aria-label", this.getAttribute("name") || translate("Choose one"));
      }
    }
  }

  // The form around an element, also from inside an element that brings its own.
  const formOf = (element) => element.closest("crowd-form")
    || element.closest("crowd-entity-annotation")?.shadowRoot?.querySelector("crowd-form");

  class Button extends Crowd {
    static get observedAttributes() { return ["disabled"]; }
    attributeChangedCallback() { this.refresh(); }
    get action() { return this.getAttribute("form-action"); }
    build() {
      const href = this.getAttribute("href");
      const isPrimary = this.getAttribute("variant") === "primary" || this.action === "submit";
      const look = `crowd-button${isPrimary ? " primary" : ""}`;
      const said = this.shown();
      this.control = href && !/^\s*javascript:/i.test(href)
        ? make("a", { class: look, href, target: this.getAttribute("target"), rel: "noopener" }, ...said)
        : make("button", { class: look, type: "button" }, ...said);
      if (!this.control.textContent.trim()) {
        const byAction = this.action === "submit" ? translate("Submit") : translate("Button");
        this.control.setAttribute("aria-label",
          this.getAttribute("aria-label") || this.title || this.getAttribute("icon") || byAction);
      }
      this.append(this.control);
      this.refresh();
      this.addEventListener("click", (event) => {
        if (this.disabled || event.defaultPrevented) {
          return;
        }
        const form = formOf(this);
        if (form && this.action === "submit") {
          form.ask();
        } else if (form && this.action === "reset") {
          form.reset();
        }
      });
    }
    shown() { return contents(this); }
    refresh() {
      if (this.control instanceof HTMLButtonElement) {
        const isWaiting = has(this, "loading") || (this.action === "submit" && isPreview);
        this.control.disabled = this.disabled || isWaiting;
      }
    }
  }

  // A button with a picture, a sign or a title. Old pages close such tags themselves
  // (`<crowd-fab .../>`), which to browsers makes what follows a child; it is moved out.
  class IconButton extends Button {
    shown() {
      const [icon, label] = [this.getAttribute("icon") || "", this.getAttribute("label")];
      const isPicture = /[/.]/.test(icon);
      return isPicture ? [make("img", { src: icon, alt: "" })] : [label || this.title || icon.replace(/[-:]/g, " ")];
    }
    build() {
      this.after(...contents(this));
      super.build();
    }
  }

  // Pick one category, or several, for a text, a picture or other content.
  class Classifier extends Crowd {
    get kind() { return "radio"; }
    get name() { return this.getAttribute("name") || ""; }
    target() { return this.querySelector("classification-target"); }
    build() {
      const [short, full] = ["short-instructions", "full-instructions"].map(
        (region) => this.querySelector(region));
      const group = newId();
      this.options = this.categories().map((category) => make("input", {
        type: this.kind, name: group, value: category,
      }));
      const set = make("fieldset", { class: "crowd-set" },
        make("legend", {}, this.getAttribute("header") || this.name),
        ...this.options.map((option) => make("label", { class: "crowd-option" },
          option, make("span", {}, option.value))));
      const said = contents(this).filter((node) => node !== short && node !== full);
      this.replaceChildren(...[short].filter(Boolean), ...instructions(translate("Instructions"), full),
        ...this.subject(said), set);
      this.fault = make("p", { class: "crowd-fault", role: "alert" });
      set.append(this.fault);
      set.addEventListener("change", () => { this.fault.textContent = ""; });
    }
    subject(said) { return said; }
    // Marks that are to be judged have to be seen.
    get lacksMarks() { return Boolean(this.hasMarks) && !this.marks?.isShown; }
    categories() { return list(this.getAttribute("categories")); }
    chosen() { return this.options.filter((option) => option.checked).map((option) => option.value); }
    complain() {
      if (this.chosen().length > 0 && !this.lacksMarks) {
        return false;
      }
      this.fault.textContent = this.lacksMarks ? MARKS_LACK : translate("Choose an answer.");
      this.options[0]?.focus();
      return true;
    }
    answer() { return { label: this.chosen()[0] }; }
  }
  class MultiClassifier extends Classifier {
    get kind() { return "checkbox"; }
    categories() {
      const { text } = loose(this.getAttribute("exclusion-category")) || {};
      return [...super.categories(), ...(text ? [String(text)] : [])];
    }
    answer() { return { labels: this.chosen() }; }
  }
  class ImageClassifier extends Classifier {
    subject(said) {
      const [source, text] = ["src", "overlay"].map((name) => this.getAttribute(name) || "");
      const alt = translate("The image to classify");
      const overlay = text.trim() ? loose(text) : null;
      // What cannot be read may hold marks; an empty object holds none.
      this.hasMarks = overlay !== null && !(typeof overlay === "object" && !Object.keys(overlay).length);
      if (!this.hasMarks) {
        return [make("img", { src: source, alt }), ...said];
      }
      const place = make("div");
      import(new URL("crowd-regions.js", address)).then(({ showMarks }) => {
        this.marks = showMarks(place, KIT, { source, alt, overlay });
      }).catch((error) => place.append(unloaded(error)));
      return [place, ...said];
    }
  }

  class ImageMultiClassifier extends MultiClassifier {
    subject(said) { return ImageClassifier.prototype.subject.call(this, said); }
  }

  // Ranks texts by dimensions: each text's rank, from 1, for each dimension.
  class TextRanking extends Crowd {
    get name() { return this.getAttribute("name") || ""; }
    build() {
      const responses = list(this.getAttribute("responses"));
      const ranks = responses.map((_, n) => make("option", { value: n + 1 }, String(n + 1)));
      this.dimensions = list(this.getAttribute("ordinal-ranking-dimensions")).map((dimension) => ({
        ...dimension,
        ranks: responses.map((_, n) => make("select", {
          class: "crowd-field", "aria-label": translate("%(dimension)s: rank of text %(number)s", { dimension: dimension.name, number: n + 1 }),
        }, make("option", { value: "" }, "–"), ...ranks.map((rank) => rank.cloneNode(true)))),
      }));
      const said = contents(this);
      this.fault = make("p", { class: "crowd-fault", role: "alert" });
      this.replaceChildren(...said, make("p", {}, this.getAttribute("text") || ""),
        make("ol", {}, ...responses.map((response) => make("li", {}, String(response)))),
        ...this.dimensions.map((dimension) => make("fieldset", { class: "crowd-set" },
          make("legend", {}, dimension.name),
          ...dimension.ranks.map((rank, n) => make("p", {}, `${translate("Text %(number)s", { number: n + 1 })} `, rank)))),
        this.fault);
    }
    complain() {
      const open = this.dimensions.find(({ ranks }) => ranks.some((rank) => rank.value === ""));
      const tied = this.dimensions.find(({ allowTie, ranks }) =>
        !allowTie && new Set(ranks.map((rank) => rank.value)).size < ranks.length);
      const faulty = open || tied;
      this.fault.textContent = open ? translate("Give every text a rank: %(dimension)s.", { dimension: open.name })
        : tied ? translate("No two texts may have the same rank: %(dimension)s.", { dimension: tied.name }) : "";
      faulty?.ranks[0]?.focus();
      return Boolean(faulty);
    }
    answer() {
      return Object.fromEntries(this.dimensions.map(({ name, ranks }) =>
        [name, ranks.map((rank) => Number(rank.value))]));
    }
  }

  class Instructions extends Crowd {
    build() {
      const parts = [["short-summary", translate("Summary")], ["detailed-instructions", translate("Detailed instructions")],
        ["positive-example", translate("Good examples")], ["negative-example", translate("Bad examples")]];
      const found = parts.flatMap(([region, title]) => {
        const nodes = Array.from(this.querySelectorAll(region));
        return nodes.length ? [make("section", {}, make("h2", {}, title), ...nodes)] : [];
      });
      const label = this.getAttribute("link-text") || translate("Click for instructions");
      this.replaceChildren(make("details", { class: "crowd-more" }, make("summary", {}, label), ...found));
    }
  }
  class Modal extends Crowd {
    build() {
      const label = this.getAttribute("link-text") || translate("Click to open");
      const said = contents(this);
      this.append(make("details", { class: "crowd-more" }, make("summary", {}, label), ...said));
    }
  }
  class Tab extends Crowd {
    build() {
      const said = contents(this);
      this.append(make("details", { class: "crowd-more", open: true },
        make("summary", {}, this.getAttribute("header") || translate("Tab")), ...said));
    }
  }
  class Card extends Crowd {
    build() {
      const [heading, image] = [this.getAttribute("heading"), this.getAttribute("image")];
      this.prepend(...(heading ? [make("h2", {}, heading)] : []),
        ...(image ? [make("img", { src: image, alt: this.getAttribute("alt") || "" })] : []));
    }
  }
  class Alert extends Crowd {
    build() {
      this.setAttribute("role", "status");
      if (has(this, "dismissible")) {
        const close = make("button", { type: "button", class: "crowd-button" }, translate("Close"));
        close.addEventListener("click", () => this.remove());
        this.append(close);
      }
    }
  }
  class Badge extends Crowd {
    build() {
      const icon = this.getAttribute("icon");
      this.after(...contents(this));
      this.append(icon && /[/.]/.test(icon) ? make("img", { src: icon, alt: "" }) : this.getAttribute("label") || icon || "");
      document.getElementById(this.getAttribute("for"))?.append(this);
    }
  }
  class Toast extends Crowd {
    static get observedAttributes() { return ["opened"]; }
    attributeChangedCallback() {
      clearTimeout(this.closing);
      if (has(this, "opened")) {
        this.closing = setTimeout(() => this.close(), Number(this.getAttribute("duration")) || 3000);
      }
    }
    get opened() { return has(this, "opened"); }
    set opened(value) { this.toggleAttribute("opened", Boolean(value)); }
    open() { this.opened = true; }
    show() { this.opened = true; }
    close() { this.opened = false; }
    build() {
      this.setAttribute("role", "status");
      this.prepend(this.getAttribute("text") || "");
    }
  }
  class Icon extends Crowd {
    build() { this.setAttribute("aria-hidden", "true"); }
  }
  class Absent extends Crowd {
    build() {
      const part = `<${this.localName}>`;
      this.prepend(make("p", { class: "crowd-fault", role: "alert" },
        translate("This page needs %(part)s, which is not available here. Please return the HIT; it cannot be done.", { part })));
    }
  }

  const ANSWERED = "crowd-input, crowd-text-area, crowd-slider, crowd-checkbox, "
    + "crowd-toggle-button, crowd-radio-button, crowd-classifier, "
    + "crowd-classifier-multi-select, crowd-image-classifier, "
    + "crowd-image-classifier-multi-select, crowd-text-ranking";
  const OWN = `${ANSWERED}, .crowd-tool`;
  const PLAIN = "input, select, textarea";

  class Form extends Crowd {
    build() {
      // Amazon's script adds a button if the page has no submit button.
      if (!this.querySelector("crowd-button[form-action=submit], button[type=submit], input[type=submit]")) {
        this.append(make("crowd-button", { "form-action": "submit" }, translate("Submit")));
      }
      const inside = contents(this);
      this.form = make("form", { class: "crowd-form-own" }, ...inside);
      this.append(this.form);
      if (isPreview) {
        this.form.append(make("p", { class: "crowd-fault" }, translate("Accept the HIT before you can submit it.")));
        for (const button of this.querySelectorAll("button[type=submit], input[type=submit]")) {
          button.disabled = true;
        }
      }
      // The last listener: the page's own listeners can prevent sending.
      const root = this.getRootNode();
      (root instanceof ShadowRoot ? root : window).addEventListener("submit", (event) => {
        if (event.target !== this.form) {
          return;
        }
        const isAllowed = !event.defaultPrevented;
        event.preventDefault();
        if (isAllowed && !this.isFaulty()) {
          this.submit();
        }
      });
      window.addEventListener("input", () => this.reopen());
      window.addEventListener("pageshow", (event) => {
        if (event.persisted) {
          this.reopen();
        }
      });
    }
    ask() { this.form.requestSubmit(); }
    reset() { this.form.reset(); }
    isFaulty() {
      return this.inside("*").some(
        (element) => element instanceof Absent || (element.matches(MARKED) && !element.tool)
          || (element.complain && element.complain()));
    }
    inside(selector) {
      const { host } = this.getRootNode();
      const outside = host ? [...(host.matches(selector) ? [host] : []), ...host.querySelectorAll(selector)] : [];
      return [...outside, ...this.querySelectorAll(selector)];
    }
    answers() {
      const found = {};
      const add = (name, answer) => {
        if (!name || answer === undefined) {
          return;
        }
        const isObject = (value) => value && typeof value === "object" && !Array.isArray(value);
        found[name] = isObject(answer) && isObject(found[name]) ? { ...found[name], ...answer } : answer;
      };
      for (const element of this.inside(`${ANSWERED}, ${MARKED}`)) {
        add(element.name, element.answer());
      }
      for (const field of this.inside(PLAIN)) {
        if (!field.crowd && !field.closest(OWN) && !field.disabled) {
          add(field.name, plain(field));
        }
      }
      return found;
    }
    submit() {
      const marked = this.inside(MARKED);
      if (isPreview || this.isSent || marked.some((element) => !element.tool)) {
        return;
      }
      // The script at the head of a page knows what its campaign requires.
      if (window.pieceworkLacks?.(this.form, this.answers())) {
        return;
      }
      [this.isSent, this.isGone] = [true, false];
      const slow = marked.filter((element) => element.tool.settle);
      if (slow.length) {
        slow.forEach((element) => element.tool.say(translate("What you marked is being sent …")));
        Promise.all(slow.map((element) => element.settle())).then(() => this.send(), (error) => {
          this.isSent = false;
          const values = { reason: error.message };
          slow[0].tool.say(translate("What you marked could not be sent (%(reason)s). Try again, or return the HIT.", values), true);
        });
      } else {
        this.send();
      }
    }
    send() {
      const answers = sorted(this.answers());
      const fields = this.getAttribute("answer-format") === "flatten-objects"
        ? flat(answers) : [["taskAnswers", JSON.stringify([answers])]];
      const [marked] = this.inside(MARKED);
      const size = new TextEncoder().encode(fields.flat().join("")).length;
      if (marked && size > LARGEST_ANSWER) {
        this.isSent = false;
        const values = { size, most: LARGEST_ANSWER };
        marked.tool.say(translate("What you marked takes %(size)s bytes; at most %(most)s can be sent. Draw it more simply.", values), true);
        return;
      }
      const host = given.get("turkSubmitTo") || "";
      const form = make("form", {
        class: "crowd-answers", method: "post", hidden: true, action: `${/^https?:\/\//.test(host) ? host : ""}/mturk/externalSubmit`,
      });
      for (const [name, value] of [["assignmentId", given.get("assignmentId")], ...fields]) {
        form.append(make("input", { type: "hidden", name, value: String(value) }));
      }
      this.sent?.remove();
      this.sent = form;
      document.body.append(form);
      HTMLFormElement.prototype.submit.call(form);
      this.isGone = true;
      setTimeout(() => this.reopen(), 20000); // a slow network's patience
    }
    // The page stays if the worker stops sending it, or goes back to it.
    reopen() {
      if (this.isGone) {
        this.isSent = false;
      }
    }
  }

  const plain = (field) => {
    if (field.type === "radio" || field.type === "checkbox") {
      return { [field.value]: field.checked };
    }
    if (field.type === "submit" || field.type === "button" || field.type === "file") {
      return undefined;
    }
    if (field.multiple) {
      return Array.from(field.selectedOptions, (option) => option.value);
    }
    return field.value === "" ? undefined : field.value;
  };
  const sorted = (value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      return value;
    }
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
  };
  const flat = (value, path = "") => Object.entries(value).flatMap(([key, inner]) => {
    const name = path ? `${path}.${key}` : key;
    if (inner !== null && typeof inner === "object" && !Array.isArray(inner)) {
      return flat(inner, name);
    }
    return [[name, Array.isArray(inner) ? JSON.stringify(inner) : inner]];
  });

  const ELEMENTS = [
    // The form last, so that its controls exist when it looks for them.
    ["crowd-input", Input], ["crowd-text-area", TextArea], ["crowd-slider", Slider],
    ["crowd-checkbox", Checkbox], ["crowd-toggle-button", Toggle],
    ["crowd-radio-group", RadioGroup], ["crowd-radio-button", Radio],
    ["crowd-button", Button], ["crowd-classifier", Classifier],
    ["crowd-classifier-multi-select", MultiClassifier],
    ["crowd-image-classifier", ImageClassifier],
    ["crowd-image-classifier-multi-select", ImageMultiClassifier],
    ["crowd-text-ranking", TextRanking], ["crowd-instructions", Instructions],
    ["crowd-modal", Modal], ["crowd-tabs", class extends Crowd {}], ["crowd-tab", Tab],
    ["crowd-card", Card], ["crowd-alert", Alert], ["crowd-icon", Icon],
    ["crowd-icon-button", class extends IconButton {}], ["crowd-fab", class extends IconButton {}],
    ["crowd-badge", Badge], ["crowd-toast", Toast], ["iron-icon", class extends Icon {}],
    ...ABSENT.map((name) => [`crowd-${name}`, class extends Absent {}]),
    ["crowd-form", Form],
  ];
  const KIT = { Crowd, make, list, loose, newId, instructions, translate, MARKS_LACK, STYLE, assignmentId: isPreview ? "" : given.get("assignmentId") };
  const unloaded = ({ message }) => make("p", { class: "crowd-fault", role: "alert" },
    translate("A part of this page did not load (%(reason)s). Reload the page.", { reason: message }));
  // What marks pictures and texts is loaded by pages that have such an element.
  const loadTools = () => import(new URL("crowd-tools.js", address))
    .then(({ define }) => define(KIT))
    .catch((error) => document.querySelector(MARKED).prepend(unloaded(error)));
  const start = () => {
    document.head.append(make("style", {}, STYLE));
    for (const [name, kind] of ELEMENTS) {
      if (!customElements.get(name)) {
        customElements.define(name, kind);
      }
    }
    const ready = () => document.dispatchEvent(new Event("all-crowd-elements-ready"));
    if (document.querySelector(MARKED)) {
      loadTools().then(ready);
    } else {
      ready();
      // A page's script may add one later.
      const observer = new MutationObserver(() => {
        if (document.querySelector(MARKED)) {
          observer.disconnect();
          loadTools();
        }
      });
      observer.observe(document, { childList: true, subtree: true });
    }
  };
  // Elements are made after their children have been parsed, so not before the end.
  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else {
    start();
  }
})();
