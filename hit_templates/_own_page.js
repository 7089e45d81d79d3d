// At the head of a user's own page: sends its forms to the marketplace, as MTurk did, and
// adds the measures of every page. MTurk put a page into its own form, and browsers ignore
// a form inside a form. So the address of the page's form counts for nothing, and whatever
// form is submitted, the answers outside of it are sent too.
(() => {
  const NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE";
  const query = new URLSearchParams(window.location.search);
  const assignmentId = query.get("assignmentId") || NOT_ACCEPTED;
  const host = query.get("turkSubmitTo") || "";
  const address = /^https?:\/\//.test(host) ? `${host.replace(/\/+$/, "")}/mturk/externalSubmit` : "";
  const isPreview = assignmentId === NOT_ACCEPTED || !address;
  const ours = JSON.parse(document.getElementById("piecework-item").textContent);
  const filled = (text, slot, value) => text.replace(`{${slot}}`, () => value);
  const measures = pieceworkMeasures(ours.measures, "body");
  measures.show(isPreview ? 0 : 1);
  // Keys and pastes belong to the item of the control. All items are in view at once, so
  // each gets an equal part of the time.
  document.addEventListener("focusin", ({ target }) => {
    const position = ours.positions[target.name];
    if (position && !isPreview) measures.show(position);
  });

  // A control may be called "action" or "closest", so a form is asked through its class.
  // Old libraries replace `Array.from`.
  const of = (form, method, ...values) => Element.prototype[method].apply(form, values);
  const all = (selector, node = document) =>
    [...(node === document ? node.querySelectorAll(selector) : of(node, "querySelectorAll", selector))];
  // Crowd forms set their own address.
  const isSent = (form) => !of(form, "closest", "crowd-form")
    && (of(form, "getAttribute", "method") || "").toLowerCase() !== "dialog";
  const BUTTONS = "[type=submit], [type=image], button:not([type])";
  const { get: elements } = Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, "elements");
  const lead = (form) => {
    // Browsers also send fields that are tied to the form from elsewhere, but not disabled ones.
    const fields = [...elements.call(form)]
      .filter((control) => control.matches("input[name=assignmentId]:enabled"));
    if (!fields.length) {
      const field = document.createElement("input");
      field.type = "hidden";
      field.name = "assignmentId";
      of(form, "append", field);
      fields.push(field);
    }
    fields.forEach((field) => { field.value = assignmentId; });
    const kind = { method: "post", target: "_self", enctype: "application/x-www-form-urlencoded", "accept-charset": "UTF-8" };
    Object.entries(kind).forEach(([name, value]) => of(form, "setAttribute", name, value));
    if (address) of(form, "setAttribute", "action", address);
    if (isPreview) {
      all(BUTTONS, form).forEach((button) => {
        button.disabled = true;
        button.title = ours.texts.accept;
      });
    }
  };
  const forms = () => all("form").filter(isSent);
  const CONTROLS = "input:not([type=button]):not([type=reset]):not([type=file]), select, textarea, button[type=submit]";
  // A crowd form sends its own controls as JSON.
  const outside = (form) => all(CONTROLS)
    .filter((control) => control.form !== form && !control.closest("crowd-form, crowd-entity-annotation"));
  // A form that ends too early on the page still has the rest of its controls.
  const adopt = () => {
    const [form, ...others] = forms();
    if (!form || others.length) return;
    if (!of(form, "hasAttribute", "id")) {
      of(form, "setAttribute", "id", document.getElementById("mturk_form") ? "piecework_form" : "mturk_form");
    }
    outside(form).filter((control) => !control.form)
      .forEach((control) => control.setAttribute("form", of(form, "getAttribute", "id")));
  };
  const addButton = () => {
    const last = forms().pop();
    if (!last || !ours.adds_button || document.querySelector(BUTTONS)) return;
    const button = document.createElement("input");
    button.type = "submit";
    of(last, "append", button);
  };
  window.addEventListener("DOMContentLoaded", () => {
    adopt();
    addButton();
    forms().forEach(lead);
  });
  window.addEventListener("load", () => forms().forEach(lead));

  // A script may change the form's address as it sends it: to the still encoded
  // `turkSubmitTo` of the page's address, or to Amazon's host.
  const leadAgain = (event) => {
    if (!isSent(event.target)) return;
    if (isPreview) event.preventDefault();
    ["formaction", "formmethod", "formtarget", "formenctype"].forEach((name) =>
      event.submitter && event.submitter.removeAttribute(name));
    lead(event.target);
  };

  // A page without its library may look complete but not send the answers.
  window.addEventListener("load", () => {
    const hosts = new Set(window.pieceworkLosses.map((source) => new URL(source).host));
    if (!hosts.size) return;
    const lost = document.createElement("p");
    lost.setAttribute("role", "alert");
    lost.style.cssText = "color: #a3201d; background: #fff; padding: .5rem; margin: 0; font: 1rem/1.5 system-ui, sans-serif";
    lost.textContent = filled(ours.texts.lost, "hosts", [...hosts].join(", "));
    document.body.prepend(lost);
  });

  // Answers that the campaign requires but the page does not, or no longer: a script of the
  // page may lift what its markup requires.
  const required = Object.entries(ours.required);
  const isLifted = (name) => ours.page_requires.includes(name)
    && !all("[required]").some((control) => control.name === name && !control.matches(":disabled"));
  // Without anything required, pages come without these signs.
  const blank = new RegExp(`^[${ours.blank}]*$`, "u");
  const isEmpty = (value) => {
    if (value instanceof Object) return Object.values(value).every(isEmpty);
    return typeof value === "string" ? blank.test(value) : !value && value !== 0;
  };
  const notice = document.createElement("p");
  notice.setAttribute("role", "alert");
  notice.style.color = "#a3201d";
  let [pressed, enabled] = [null, []];
  const lacks = (form, valueOf, isAsked = (name) => !isLifted(name)) => {
    const missing = required.filter(([name]) => isEmpty(valueOf(name)) && isAsked(name));
    if (!missing.length || isPreview) return false;
    notice.textContent = filled(ours.texts.missing, "labels", missing.map(([, label]) => label).join("; "));
    of(form, "append", notice);
    if (!notice.getClientRects().length) document.body.append(notice); // A script sends a hidden form.
    notice.scrollIntoView();
    // The page's script may switch off what it thinks is sent.
    setTimeout(() => enabled.forEach((control) => { control.disabled = false; }));
    return true;
  };
  // Crowd forms ask before they send an object.
  window.pieceworkLacks = (form, answers) =>
    lacks(form, (name) => [name, ...name.split("|")].map((part) => answers[part]));
  const valuesOf = (form) => {
    let data;
    return (name) => [...(data ??= new FormData(form)).getAll(name), pressed && pressed.name === name && pressed.value];
  };
  // Last, because the page's listeners may fill in inputs, prevent sending or stop the event.
  // Where it is stopped, the node's other listeners of the same phase still hear it.
  const checkLast = (event) => {
    const isAtEnd = event.currentTarget === window && event.eventPhase !== Event.CAPTURING_PHASE;
    if (!isAtEnd && !event.cancelBubble) return;
    leadAgain(event);
    if (isSent(event.target) && !event.defaultPrevented && lacks(event.target, valuesOf(event.target))) event.preventDefault();
  };
  let underway = null;
  const checkAfterOthers = (node, isCapturing) => {
    // What is moved while the node's listeners run would not hear their event.
    if (!underway?.eventPhase) of(node, "removeEventListener", "submit", checkLast, isCapturing);
    of(node, "addEventListener", "submit", checkLast, isCapturing);
  };
  window.addEventListener("submit", (event) => {
    pressed = event.submitter;
    leadAgain(event);
    checkAfterOthers(window, false);
    event.composedPath().filter((node) => node !== window)
      .forEach((node) => [true, false].forEach((isCapturing) => checkAfterOthers(node, isCapturing)));
    if (!underway?.eventPhase) underway = event;
  }, true);
  // The window is the first to hear the event, and what is added then does not hear it.
  ["click", "keydown"].forEach((type) => window.addEventListener(type, () => checkAfterOthers(window, true), true));
  // What keeps the event from all other listeners is followed by the check when that listener
  // returns: before the browser sends what a worker pressed. What a script sends by
  // `requestSubmit` is gone by then; the pass finds what lacks in it.
  const { stopImmediatePropagation: stop } = Event.prototype;
  if (required.length) Event.prototype.stopImmediatePropagation = function stopImmediatePropagation() {
    stop.call(this);
    if (this.type === "submit") queueMicrotask(() => this.eventPhase && checkLast(this));
  };
  if (required.length) window.addEventListener("click", () => {
    enabled = all("button, input, select, textarea, crowd-button").filter((control) => !control.disabled);
  }, true);
  const send = HTMLFormElement.prototype.submit;
  HTMLFormElement.prototype.submit = function submit() {
    if (!isSent(this)) return send.call(this);
    lead(this);
    // A crowd form has asked. Else browsers send it even if it lacks what the markup requires.
    const isAsked = (name) => !of(this, "matches", ".crowd-answers") && !ours.page_requires.includes(name);
    return isPreview || lacks(this, valuesOf(this), isAsked) ? undefined : send.call(this);
  };

  const values = (control) => {
    if (control.matches(":disabled, [type=submit], [type=image]")) return [];
    if (control instanceof HTMLSelectElement) return [...control.selectedOptions].map((option) => option.value);
    return control.matches("[type=radio], [type=checkbox]") && !control.checked ? [] : [control.value];
  };
  // Of these, the form that is sent has the last word, or else the first that is filled in.
  const ONE_VALUE = "[type=radio], [type=hidden], select:not([multiple])";
  window.addEventListener("formdata", ({ target, formData }) => {
    if (!isSent(target)) return;
    const isFilled = (texts) => texts.some((value) => value !== "");
    const rest = outside(target).filter(({ name }) => name && name !== "assignmentId");
    // Within a form all values are sent, as browsers do it. Of what another form has too, an
    // empty text says nothing, and the same value says nothing more: scripts copy values.
    new Set(rest.map(({ form }) => form)).forEach((form) => {
      const before = new Map([...formData.keys()].map((name) => [name, formData.getAll(name)]));
      rest.filter((control) => control.form === form).forEach((control) => {
        const { name } = control;
        const earlier = before.get(name) || [];
        if (isFilled(earlier) && control.matches(ONE_VALUE)) return;
        values(control).filter((value) => !earlier.length || (value && !earlier.includes(value))).forEach((value) => {
          if (earlier.length && !isFilled(formData.getAll(name))) formData.delete(name);
          formData.append(name, value);
        });
      });
    });
    const counts = measures.read();
    const shown = Object.values(counts).reduce((sum, each) => sum + (each.shown_ms || 0), 0);
    ours.items.forEach((item, index) => {
      const n = index + 1;
      const own = { ...counts[0], ...counts[n], shown_ms: Math.round(shown / ours.items.length) };
      formData.append(`item.${n}`, item);
      ours.measures.forEach((name) => {
        const value = name in own ? own[name] : 0;
        if (value !== undefined) formData.append(`${name}.${n}`, value); // Else it is not known.
      });
    });
  });
})();
