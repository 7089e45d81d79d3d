// Spans of a text: the crowd element for words and phrases that get a label.
// crowd-html-elements.js loads this module when a page has the element. The text can be
// edited as far as the browser knows, so that it has a caret: a mouse, a finger and the
// keyboard select in it as in any text field, but no key changes it. Offsets count UTF-16
// units, as strings of JavaScript do; the end is the first unit after the span.
import { Tool } from "./crowd-tools.js";

class Spans extends Tool {
  constructor(element, kit) {
    super(element, kit, "span");
    this.kind = { isMerged: true };
    const { make, translate } = kit;
    this.text = element.getAttribute("text") || "";
    this.stage = make("div", {
      class: "crowd-text", contenteditable: "true", inputmode: "none", spellcheck: "false", dir: "auto", role: "textbox",
      "aria-multiline": "true", "aria-readonly": "true", "aria-label": translate("The text to mark"), "aria-describedby": `${this.id}-keys`,
    });
    const bar = make("div", { class: "crowd-bar" }, this.button(translate("Label the selected text"), () => this.mark()),
      this.button(translate("Undo"), () => this.undo()));
    this.assemble(this.stage, bar, translate("Keyboard: arrow keys move the caret, with Shift they select, with Ctrl and Shift word by word. Digits choose a label, Enter gives it to the selected text."));
    this.listen();
    this.start();
  }
  listen() {
    const { stage } = this;
    stage.addEventListener("beforeinput", (event) => event.preventDefault());
    stage.addEventListener("dragstart", (event) => event.preventDefault());
    // An input method may write all the same.
    stage.addEventListener("compositionend", () => this.draw());
    stage.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse") {
        document.addEventListener("pointerup", () => setTimeout(() => this.selected() && this.mark()), { once: true });
      }
    });
    // A press on the button would take the selection away.
    document.addEventListener("selectionchange", () => {
      const range = this.selected();
      if (range) this.last = range;
    });
    stage.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) {
        this.mark();
      } else if (event.ctrlKey || event.metaKey || event.altKey || !this.digit(event.key)) {
        return;
      }
      event.preventDefault();
    });
  }
  start() {
    const stated = this.stated();
    this.regions = (Array.isArray(stated) ? stated : stated?.entities || []).filter((mark) =>
      Number.isInteger(mark?.startOffset) && Number.isInteger(mark?.endOffset) && this.labels.includes(mark.label)
      && mark.startOffset >= 0 && mark.startOffset < mark.endOffset && mark.endOffset <= this.text.length)
      .map(({ label, startOffset, endOffset }) => ({ label, start: startOffset, end: endOffset }));
    this.draw();
    if (this.refuseStated()) return;
    this.changed();
    this.first = JSON.stringify(this.spans());
    this.resume();
  }

  // --- selecting --------------------------------------------------------------------
  selected() {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0).cloneRange();
    if (!range.intersectsNode(this.stage)) return null;
    // A pointer may leave the text before it is lifted.
    if (!this.stage.contains(range.startContainer)) range.setStart(this.stage, 0);
    if (!this.stage.contains(range.endContainer)) range.setEnd(this.stage, this.stage.childNodes.length);
    const before = document.createRange();
    before.setStart(this.stage, 0);
    before.setEnd(range.startContainer, range.startOffset);
    const start = before.toString().length;
    const end = start + range.toString().length;
    return start < end ? { start, end } : null;
  }
  mark() {
    const { translate } = this;
    const range = this.selected() ?? this.last;
    this.last = null;
    if (!range) {
      this.say(translate("Select a part of the text first."));
      return;
    }
    const words = this.text.slice(range.start, range.end);
    const start = range.start + (words.length - words.trimStart().length);
    const end = range.end - (words.length - words.trimEnd().length);
    const same = this.regions.find((region) => region.start === start && region.end === end);
    if (start >= end) {
      this.say(translate("Select a part of the text first."));
    } else if (this.label === undefined) {
      this.say(translate("Choose a label first."));
    } else if (same) {
      this.rename(same, this.label);
      this.say(translate("Now %(label)s.", { label: this.shown(this.label) }));
    } else if (this.regions.some((region) => region.start < end && start < region.end)) {
      this.say(translate("A part of this has a label already. Delete that one first, or select exactly the same words."));
    } else {
      this.add({ label: this.label, start, end });
    }
    this.caret(end);
  }
  caret(offset) {
    const walker = document.createTreeWalker(this.stage, NodeFilter.SHOW_TEXT);
    let left = offset;
    while (walker.nextNode()) {
      if (left <= walker.currentNode.length) {
        document.getSelection().collapse(walker.currentNode, left);
        return;
      }
      left -= walker.currentNode.length;
    }
  }

  // --- showing ----------------------------------------------------------------------
  show() { this.draw(); }
  hide() { this.draw(); }
  draw() {
    const cuts = [...new Set([0, this.text.length, ...this.regions.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
    this.stage.replaceChildren(...cuts.slice(1).map((end, n) => {
      const part = this.text.slice(cuts[n], end);
      const region = this.regions.find((other) => other.start <= cuts[n] && end <= other.end);
      if (!region) return document.createTextNode(part);
      const named = this.statedLabels.find(({ label }) => label === region.label);
      const mark = this.kit.make("mark", { "data-name": end === region.end && (named?.shortDisplayName || region.label) }, part);
      mark.style.borderColor = this.colorOf(region);
      mark.style.background = `${this.colorOf(region)}22`;
      return mark;
    }));
  }
  titleOf({ start, end }, name) {
    const words = this.text.slice(start, end);
    return `${name}: ${words.length > 60 ? `${words.slice(0, 59)}…` : words}`;
  }

  // --- the answer -------------------------------------------------------------------
  spans() {
    return this.regions.map(({ label, start, end }) => ({ endOffset: end, label, startOffset: start }))
      .sort((a, b) => a.startOffset - b.startOffset);
  }
  answer() { return { entities: this.spans() }; }
}

export const create = (element, kit) => new Spans(element, kit);
