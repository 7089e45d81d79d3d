// Steps through trials and items, checks the rules before going on, submits the form.
(() => {
  const $ = (id) => document.getElementById(id);
  const find = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const data = JSON.parse($("page-data").textContent);
  const { texts } = data;
  const rules = pieceworkRules(data.characters);
  const query = new URLSearchParams(location.search);
  const assignmentId = query.get("assignmentId") || "ASSIGNMENT_ID_NOT_AVAILABLE";
  const isPreview = assignmentId === "ASSIGNMENT_ID_NOT_AVAILABLE";
  const form = $("work");
  const { controls, wire, told, read, write, lay, isUntouched, chooseByKey } =
    pieceworkFields(form, data, assignmentId);
  const drafts = pieceworkDrafts(assignmentId);
  const measures = pieceworkMeasures(data.measures);
  const typing = window.pieceworkTyping?.(); // a page may come without it
  const setAside = {}; // a text box's text before its canned text, by wire name
  const asked = new Set(); // questions already asked, by step and rule
  let at = 1;
  let isSending = false;

  // The items in this assignment's order; trials and fields asked once stay in place.
  const positions = lay();
  const items = positions.map((n) => document.querySelector(`.item[data-position="${n}"]`));
  items.slice(1).forEach((item, i) => items[i].after(item));
  if (data.shuffles) {
    items.forEach((item, i) => {
      $(`heading-${item.dataset.position}`).textContent =
        told(texts.heading, { noun: texts.noun, n: i + 1, total: items.length });
    });
  }
  const steps = find(".step");
  const lesson = document.querySelector(".step.briefing");
  const counted = steps.filter((step) => step !== lesson);
  const placeOf = (step) => step.dataset.position || "hit";

  // MTurk's host; anything but http(s) would let a link run a script here.
  const submitAddress = () => {
    try {
      const host = new URL(query.get("turkSubmitTo"));
      if (!/^https?:$/.test(host.protocol)) return null;
      return host.href.replace(/\/+$/, "") + "/mturk/externalSubmit";
    } catch {
      return null;
    }
  };
  const address = submitAddress();
  const isOpen = !isPreview && address !== null;
  const say = (text) => { $("said").textContent = text; };

  // The fields of a step, with their names on the wire.
  const fieldsOf = (step) => data.fields
    .map((field) => ({ field, at: placeOf(step), name: wire(field.name, placeOf(step)) }))
    .filter(({ field }) => step.contains($(`faults-${field.name}-${placeOf(step)}`)));
  const all = steps.flatMap(fieldsOf);
  // What is hidden is not sent, so no rule is about it.
  const valuesOf = (step) => Object.fromEntries(fieldsOf(step).map(({ field, name }) =>
    [field.name, controls(name)[0].closest("[data-shown-with][hidden]") ? "" : read(field, name)]));
  const columnsOf = (step) => data.columns[placeOf(step)];

  const draft = () => ({
    at,
    setAside,
    comment: $("comment").value,
    measures: measures.read(),
    typing: typing?.read(),
    values: Object.fromEntries(all.map(({ field, name }) => [name, read(field, name)])),
  });
  const save = () => { if (!isPreview) drafts.save(draft()); };
  const restore = () => {
    drafts.forgetOld();
    const stored = drafts.load();
    if (!stored) return;
    all.forEach(({ field, name }) => {
      if (stored.values && stored.values[name] != null) write(field, name, stored.values[name]);
    });
    $("comment").value = stored.comment || "";
    Object.assign(setAside, stored.setAside);
    measures.restore(stored.measures);
    typing?.restore(stored.typing);
    at = Math.min(Math.max(stored.at || 1, 1), steps.length);
  };

  // --- rules and their messages ---------------------------------------------------
  const tell = (field, place, messages) => {
    const line = (message) => {
      const span = document.createElement("span");
      span.textContent = message;
      return span;
    };
    $(`faults-${field}-${place}`).replaceChildren(...messages.map(line));
    const box = $(`${field}-${place}`);
    const isGroup = box.matches("fieldset") && !box.matches("[role=radiogroup]");
    const marked = isGroup ? controls(wire(field, place)) : [box];
    marked.forEach((control) => {
      if (messages.length) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    });
  };
  const brokenOf = (step) => {
    const here = new Set(fieldsOf(step).map(({ field }) => field.name));
    return rules
      .check(data.rules.filter((rule) => here.has(rule.field)), valuesOf(step), columnsOf(step))
      .filter((rule) => !asked.has(`${placeOf(step)} ${rule.name}`));
  };
  const messagesOf = (broken, name) =>
    broken.filter((rule) => rule.field === name).map((rule) => rule.message);

  // Shows every message of the step; true without messages. A question is asked once.
  const holds = (step) => {
    const broken = brokenOf(step);
    fieldsOf(step).forEach(({ field, at: place }) => tell(field.name, place, messagesOf(broken, field.name)));
    broken.filter((rule) => rule.is_question).forEach((rule) => asked.add(`${placeOf(step)} ${rule.name}`));
    return broken.length === 0;
  };
  // While the worker edits, messages disappear but no new ones appear.
  const lift = (step) => {
    const broken = brokenOf(step);
    fieldsOf(step).forEach(({ field, at: place }) => {
      const shown = Array.from($(`faults-${field.name}-${place}`).children, (line) => line.textContent);
      const left = messagesOf(broken, field.name).filter((message) => shown.includes(message));
      if (left.length < shown.length) tell(field.name, place, left);
    });
  };
  const goToFault = (step) => {
    const [first] = fieldsOf(step).filter(({ field, at: place }) =>
      $(`faults-${field.name}-${place}`).children.length);
    controls(first.name)[0].focus();
    document.dispatchEvent(new Event("piecework-fault"));
  };

  // --- steps ----------------------------------------------------------------------
  const here = () => steps[at - 1];
  const show = (number) => {
    at = number;
    const step = here();
    measures.show(isPreview || !/^\d/.test(placeOf(step)) ? 0 : Number(placeOf(step)));
    const isLast = number === steps.length;
    steps.forEach((one) => { one.hidden = one !== step; });
    const heading = step.querySelector("h2");
    const slot = step.querySelector("[data-instructions]");
    if (slot) slot.append($("instructions"));
    else if (step.matches(".item")) heading.after($("instructions"));
    $("instructions").hidden = !step.contains($("instructions"));
    if (step === lesson) fold(true);
    const line = document.querySelector(".dots progress");
    if (line) line.value = counted.indexOf(step) + 1;
    find("[data-dot]").forEach((dot) => {
      dot.className = Number(dot.dataset.dot) < number ? "done" : Number(dot.dataset.dot) === number ? "now" : "";
    });
    $("back").disabled = number === 1;
    $("next").hidden = isLast;
    $("next").textContent = step.matches(".item") ? texts.next_noun : texts.next;
    $("send").hidden = !isLast;
    $("closing").hidden = !isLast;
    $("steps-note").textContent = heading.textContent;
    document.dispatchEvent(new Event("piecework-step"));
    return heading;
  };
  // Read once, the instructions are a line that opens again, in the next HIT too.
  const instructions = `${data.task}.${data.version}`;
  const measured = typing ? "measured.typing" : "measured"; // what it says
  const fold = (isOpen = false) => find(":scope > details", $("instructions"))
    .forEach((part) => { part.open = isOpen; });
  const go = (number) => {
    if (number > at && here().contains($("instructions"))) {
      fold();
      if (!isPreview) drafts.markRead(instructions);
    }
    if (number > at && here().matches(".item")) {
      $("measured").open = false;
      if (!isPreview) drafts.markRead(measured);
    }
    const heading = show(number);
    save();
    pieceworkFrame.toTop();
    heading.focus({ preventScroll: true });
  };
  const next = () => {
    if (isPreview || holds(here())) go(at + 1);
    else goToFault(here());
  };
  const submit = () => {
    if (!isOpen || isSending) return;
    const faulty = steps.filter((step) => !holds(step));
    if (faulty.length) {
      const step = faulty.includes(here()) ? here() : faulty[0];
      if (step !== here()) go(steps.indexOf(step) + 1);
      goToFault(step);
      return;
    }
    const measured = measures.read();
    items.forEach((item) => data.measures.forEach((name) => {
      const n = item.dataset.position;
      const [input, own] = [form.elements[`${name}.${n}`], measured[n] || {}];
      input.value = own[name] || 0;
      input.disabled = name in own && own[name] === undefined; // It is not known.
    }));
    typing?.send(form);
    find("[data-shown-with][hidden] input", form).forEach((input) => { input.value = ""; });
    find("input[type=range]", form).forEach((input) => {
      input.disabled = isUntouched(input); // an untouched scale is not an answer
    });
    form.elements.assignmentId.value = assignmentId;
    form.action = address;
    save();
    isSending = true;
    $("send").disabled = true;
    $("send").textContent = texts.sending;
    form.submit(); // so no control of the form may be called "submit"
    setTimeout(reopen, 20000); // a slow network's patience
  };
  // The page stays if the worker stops sending it, or goes back to it.
  const reopen = () => {
    if (!isSending) return;
    isSending = false;
    find("input[type=range]", form).forEach((input) => { input.disabled = false; });
    $("send").disabled = false;
    $("send").textContent = texts.submit;
  };

  // --- small helpers ----------------------------------------------------------------
  const refresh = () => {
    find("[data-counts]").forEach((hint) => {
      const count = rules.words(controls(hint.dataset.counts)[0].value).length;
      hint.textContent = told(texts.words_counted, { count, minimum: hint.dataset.minimum });
      hint.classList.toggle("enough", count >= Number(hint.dataset.minimum));
    });
    find("[data-limits]").forEach((hint) => {
      const count = rules.length(controls(hint.dataset.limits)[0].value);
      hint.textContent = told(texts.characters_counted, { count, maximum: hint.dataset.maximum });
      hint.classList.toggle("beyond", count > Number(hint.dataset.maximum));
    });
    find("[data-shown-with]").forEach((block) => {
      const [name, value] = block.dataset.shownWith.split("=");
      block.hidden = !controls(name).some((control) => control.value === value && control.checked);
    });
    find("[data-fills]").forEach((button) => {
      button.dataset.label = button.dataset.label || button.textContent;
      const canUndo = button.dataset.fills in setAside;
      button.textContent = canUndo ? button.dataset.undo : button.dataset.label;
    });
  };
  const changed = () => {
    reopen();
    refresh();
    lift(here());
    save();
  };
  // A tab that was only looked at does not replace what another one has kept since.
  const keep = () => {
    if (isPreview || !drafts.isNewer()) save();
    else if (document.visibilityState === "visible") {
      restore();
      typing?.begin();
      refresh();
      show(at);
    }
  };
  const fill = (button) => {
    const name = button.dataset.fills;
    const [control] = controls(name);
    const present = control.value;
    const isOwn = present.trim() !== "" && present !== button.dataset.text;
    if (name in setAside) {
      control.value = setAside[name];
      delete setAside[name];
      if (isOwn) setAside[name] = present; // typed since: swap the two
      say(texts.is_back);
    } else {
      if (isOwn) setAside[name] = present;
      control.value = button.dataset.text;
      say(told(texts.now_says, { text: button.dataset.text }));
    }
    typing?.wrote(control);
    changed();
  };

  // --- wiring ---------------------------------------------------------------------
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("keydown", (event) => {
    // Enter in a text line or on a box would submit the form; here it does nothing.
    if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
  });
  form.addEventListener("input", changed);
  document.addEventListener("keydown", (event) => chooseByKey(here(), event));
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-fills]");
    if (button) fill(button);
  });
  $("back").addEventListener("click", () => go(at - 1));
  $("next").addEventListener("click", next);
  $("send").addEventListener("click", submit);
  addEventListener("pagehide", keep);
  document.addEventListener("visibilitychange", keep);
  addEventListener("pageshow", (event) => { if (event.persisted) reopen(); });
  addEventListener("beforeunload", (event) => {
    if (!isPreview && !isSending && !drafts.isKept()) event.preventDefault();
  });

  if (!isPreview && drafts.hasRead(instructions)) {
    fold();
    if (lesson) at = 2; // unless a draft says where the worker was
  }
  if (!isPreview && drafts.hasRead(measured)) $("measured").open = false;
  if (!isPreview) restore();
  typing?.begin();
  if (isPreview) {
    find(".step textarea, .step input, .step [data-fills], #comment", form)
      .forEach((control) => { control.disabled = true; });
  }
  $("send").disabled = !isOpen;
  if (isPreview) $("send").textContent = texts.accept_first;
  $("notice-preview").hidden = !isPreview;
  $("notice-address").hidden = isPreview || isOpen;
  // Many dots are useless; a line shows how far it is, and the heading counts.
  if (counted.length <= data.most_dots) {
    document.querySelector(".dots").append(...counted.map((step) => {
      const dot = document.createElement("span");
      dot.dataset.dot = steps.indexOf(step) + 1;
      return dot;
    }));
  } else {
    const line = document.createElement("progress");
    line.max = counted.length;
    document.querySelector(".dots").append(line);
  }
  refresh();
  show(at);
  save();
  $("notice-drafts").hidden = isPreview || drafts.isKept();
})();
