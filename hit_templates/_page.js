// Steps through the items, holds the rules before going on, and submits the form.
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("page-data").textContent);
  const rules = pieceworkRules(data.characters);
  const query = new URLSearchParams(window.location.search);
  const assignmentId = query.get("assignmentId") || "ASSIGNMENT_ID_NOT_AVAILABLE";
  const isPreview = assignmentId === "ASSIGNMENT_ID_NOT_AVAILABLE";
  const form = $("work");
  const sections = Array.from(document.querySelectorAll(".item"));
  const drafts = pieceworkDrafts(assignmentId);
  const measures = pieceworkMeasures(data.measures);
  const setAside = {}; // what stood in a text box before its canned text, by wire name
  let at = 1;
  let isSending = false;

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

  const controls = (name) => Array.from(form.elements).filter((control) => control.name === name);
  const say = (text) => { $("said").textContent = text; };
  const wireNames = () => data.fields.flatMap((field) =>
    sections.map((_, i) => ({ field, n: i + 1, name: `${field.name}.${i + 1}` })));

  // --- values ---------------------------------------------------------------------
  const read = (field, name) => {
    const all = controls(name);
    if (field.kind === "text") return all.length ? all[0].value : "";
    const ticked = all.filter((control) => control.checked).map((control) => control.value);
    return field.kind === "choices" ? ticked : ticked[0];
  };
  const write = (field, name, value) => controls(name).forEach((control) => {
    if (field.kind === "text") control.value = value;
    else control.checked = [].concat(value).includes(control.value);
  });
  const valuesOf = (n) => Object.fromEntries(
    data.fields.map((field) => [field.name, read(field, `${field.name}.${n}`)]));

  const draft = () => ({
    at,
    setAside,
    comment: $("comment").value,
    measures: measures.read(),
    values: Object.fromEntries(
      wireNames().map(({ field, name }) => [name, read(field, name)])),
  });
  const save = () => { if (!isPreview && !isSending) drafts.save(draft()); };
  const restore = () => {
    drafts.forgetOld();
    const stored = drafts.load();
    if (!stored) return;
    wireNames().forEach(({ field, name }) => {
      if (stored.values && stored.values[name] != null) write(field, name, stored.values[name]);
    });
    $("comment").value = stored.comment || "";
    Object.assign(setAside, stored.setAside);
    measures.restore(stored.measures);
    at = Math.min(Math.max(stored.at || 1, 1), sections.length);
  };

  // --- rules and their messages ---------------------------------------------------
  const tell = (n, name, messages) => {
    const place = $(`faults-${name}-${n}`);
    place.replaceChildren(...messages.map((message) => {
      const line = document.createElement("span");
      line.textContent = message;
      return line;
    }));
    const box = $(`${name}-${n}`);
    const isGroup = box.matches("fieldset") && !box.matches("[role=radiogroup]");
    const marked = isGroup ? controls(`${name}.${n}`) : [box];
    marked.forEach((control) => {
      if (messages.length) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    });
  };
  const brokenOf = (n) => rules.check(data.rules, valuesOf(n));
  const messagesOf = (broken, name) =>
    broken.filter((rule) => rule.field === name).map((rule) => rule.message);

  // Shows every message of the item; true when there is none.
  const holds = (n) => {
    const broken = brokenOf(n);
    data.fields.forEach(({ name }) => tell(n, name, messagesOf(broken, name)));
    return broken.length === 0;
  };
  // While the worker mends, messages go away but none appears.
  const lift = (n) => {
    const broken = brokenOf(n);
    data.fields.forEach(({ name }) => {
      const shown = Array.from($(`faults-${name}-${n}`).children, (line) => line.textContent);
      const left = messagesOf(broken, name).filter((message) => shown.includes(message));
      if (left.length < shown.length) tell(n, name, left);
    });
  };
  const goToFault = (n) => {
    const [first] = data.fields.filter(({ name }) => $(`faults-${name}-${n}`).children.length);
    controls(`${first.name}.${n}`)[0].focus();
  };

  // --- steps ----------------------------------------------------------------------
  const show = (n) => {
    at = n;
    measures.show(isPreview ? 0 : n);
    const isLast = n === sections.length;
    sections.forEach((section, i) => { section.hidden = i + 1 !== n; });
    const slot = sections[n - 1].querySelector("[data-instructions]");
    if (slot) slot.append($("instructions"));
    document.querySelectorAll("[data-dot]").forEach((dot) => {
      dot.className = Number(dot.dataset.dot) < n ? "done" : Number(dot.dataset.dot) === n ? "now" : "";
    });
    $("back").disabled = n === 1;
    $("next").hidden = isLast;
    $("send").hidden = !isLast;
    $("closing").hidden = !isLast;
    $("steps-note").textContent = $(`heading-${n}`).textContent;
  };
  const go = (n) => {
    // On a phone the instructions would part every picture from its questions.
    const details = $("instructions").querySelector("details");
    if (details && n > at && window.matchMedia("(max-width: 860px)").matches) details.open = false;
    show(n);
    save();
    window.scrollTo(0, 0);
    $(`heading-${n}`).focus({ preventScroll: true });
  };
  const next = () => {
    if (isPreview || holds(at)) go(at + 1);
    else goToFault(at);
  };
  const submit = () => {
    if (!isOpen || isSending) return;
    const faulty = sections.map((_, i) => i + 1).filter((n) => !holds(n));
    if (faulty.length) {
      const [n] = faulty.includes(at) ? [at] : faulty;
      if (n !== at) go(n);
      goToFault(n);
      return;
    }
    const measured = measures.read();
    sections.forEach((_, i) => data.measures.forEach((name) => {
      form.elements[`${name}.${i + 1}`].value = (measured[i + 1] || {})[name] || 0;
    }));
    form.querySelectorAll("[data-shown-with][hidden] input").forEach((input) => { input.value = ""; });
    form.elements.assignmentId.value = assignmentId;
    form.action = address;
    save();
    isSending = true;
    $("send").disabled = true;
    $("send").textContent = "Sending …";
    form.submit(); // so no control of the form may be called "submit"
  };

  // --- small helps ----------------------------------------------------------------
  const refresh = () => {
    document.querySelectorAll("[data-counts]").forEach((hint) => {
      const count = rules.words(controls(hint.dataset.counts)[0].value).length;
      hint.textContent = `${count} of at least ${hint.dataset.minimum} words`;
      hint.classList.toggle("enough", count >= Number(hint.dataset.minimum));
    });
    document.querySelectorAll("[data-shown-with]").forEach((block) => {
      const [name, value] = block.dataset.shownWith.split("=");
      block.hidden = !controls(name).some((control) => control.value === value && control.checked);
    });
    document.querySelectorAll("[data-fills]").forEach((button) => {
      button.dataset.label = button.dataset.label || button.textContent;
      const canUndo = button.dataset.fills in setAside;
      button.textContent = canUndo ? button.dataset.undo : button.dataset.label;
    });
  };
  const changed = () => {
    refresh();
    lift(at);
    save();
  };
  const keepExclusive = (target) => {
    const group = target.closest("[data-exclusive]");
    if (!group || target.type !== "checkbox" || !target.checked) return;
    const isAlone = target.value === group.dataset.exclusive;
    controls(target.name).forEach((control) => {
      if (control !== target && isAlone !== (control.value === group.dataset.exclusive)) {
        control.checked = false;
      }
    });
  };
  const fill = (button) => {
    const name = button.dataset.fills;
    const [control] = controls(name);
    const present = control.value;
    const isOwn = present.trim() !== "" && present !== button.dataset.text;
    if (name in setAside) {
      control.value = setAside[name];
      delete setAside[name];
      if (isOwn) setAside[name] = present; // typed since: the two change places
      say("Your own text is back.");
    } else {
      if (isOwn) setAside[name] = present;
      control.value = button.dataset.text;
      say(`The text box now says: ${button.dataset.text}`);
    }
    changed();
  };

  // --- wiring ---------------------------------------------------------------------
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("keydown", (event) => {
    // Enter in a line of text or on a box would submit a form; here it does nothing.
    if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
  });
  form.addEventListener("input", (event) => {
    keepExclusive(event.target);
    changed();
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-fills]");
    if (button) fill(button);
  });
  $("back").addEventListener("click", () => go(at - 1));
  $("next").addEventListener("click", next);
  $("send").addEventListener("click", submit);
  window.addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", save);
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    isSending = false; // the browser brought the page back after it was sent
    $("send").disabled = false;
    $("send").textContent = "Submit";
  });
  window.addEventListener("beforeunload", (event) => {
    if (!isPreview && !isSending && !drafts.isKept()) event.preventDefault();
  });

  if (!isPreview) restore();
  if (isPreview) {
    form.querySelectorAll(".item textarea, .item input, .item [data-fills], #comment")
      .forEach((control) => { control.disabled = true; });
  }
  $("send").disabled = !isOpen;
  if (isPreview) $("send").textContent = "Accept the HIT to submit";
  $("notice-preview").hidden = !isPreview;
  $("notice-address").hidden = isPreview || isOpen;
  refresh();
  show(at);
  save();
  $("notice-drafts").hidden = isPreview || drafts.isKept();
})();
