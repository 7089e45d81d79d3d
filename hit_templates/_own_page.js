// On a user's own page: sends its form to the marketplace, as MTurk did, and adds the
// measures of every page.
(() => {
  const NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE";
  const query = new URLSearchParams(window.location.search);
  const assignmentId = query.get("assignmentId") || NOT_ACCEPTED;
  const isPreview = assignmentId === NOT_ACCEPTED;
  const host = query.get("turkSubmitTo") || "";
  const address = /^https?:\/\//.test(host) ? `${host.replace(/\/+$/, "")}/mturk/externalSubmit` : "";
  const ours = document.getElementById("piecework-item");
  const texts = JSON.parse(ours.dataset.texts);
  const told = (text, slot, value) => text.replace(`{${slot}}`, () => value);
  const measured = ["shown_ms", "pastes", "keystrokes", "focus_losses"];
  const measures = pieceworkMeasures(measured, "body");
  measures.show(isPreview ? 0 : 1);

  // Crowd forms set their own address. Leave a form with another address alone.
  const isSent = (form) => form !== ours && !form.closest("crowd-form")
    && (!form.getAttribute("action") || /\/mturk\/externalSubmit/.test(form.getAttribute("action")));
  const lead = (form) => {
    let field = form.querySelector("input[name=assignmentId]");
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = "assignmentId";
      form.append(field);
    }
    field.value = assignmentId;
    form.setAttribute("method", "post");
    if (address) form.setAttribute("action", address);
    if (isPreview || !address) {
      form.querySelectorAll("[type=submit], button:not([type])").forEach((button) => {
        button.disabled = true;
        button.title = texts.accept;
      });
    }
  };
  const leadAll = () => Array.from(document.forms).filter(isSent).forEach(lead);
  leadAll();
  window.addEventListener("load", leadAll);

  // A script may change the form's address as it sends it: to the still encoded
  // `turkSubmitTo` of the page's address, or to Amazon's host.
  const leadAgain = (form) => isSent(form) && lead(form);
  window.addEventListener("submit", (event) => leadAgain(event.target));
  const send = HTMLFormElement.prototype.submit;
  HTMLFormElement.prototype.submit = function submit() {
    leadAgain(this);
    send.call(this);
  };

  // A page without its library may look complete but not send the answers.
  window.addEventListener("load", () => {
    const hosts = new Set(window.pieceworkLosses.map((source) => new URL(source).host));
    if (!hosts.size) return;
    const lost = document.createElement("p");
    lost.setAttribute("role", "alert");
    lost.style.cssText = "color: #a3201d; background: #fff; padding: .5rem; margin: 0; font: 1rem/1.5 system-ui, sans-serif";
    lost.textContent = told(texts.lost, "hosts", [...hosts].join(", "));
    document.body.prepend(lost);
  });

  // Answers that the campaign requires but the page does not.
  const required = Object.entries(JSON.parse(ours.dataset.required));
  const notice = document.createElement("p");
  notice.setAttribute("role", "alert");
  notice.style.color = "#a3201d";
  window.addEventListener("submit", (event) => {
    if (!isSent(event.target)) return;
    const data = new FormData(event.target);
    const missing = required.filter(([name]) => !data.getAll(name).some((value) => value !== ""));
    if (!missing.length) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    notice.textContent = told(texts.missing, "labels", missing.map(([, label]) => label).join("; "));
    event.target.append(notice);
    notice.scrollIntoView();
  }, true);

  window.addEventListener("formdata", (event) => {
    if (event.target === ours || !/\/mturk\/externalSubmit/.test(event.target.getAttribute("action") || "")) return;
    const counts = measures.read()[1] || {};
    Array.from(ours.elements).forEach((input) => {
      const [name] = input.name.split(".");
      event.formData.set(input.name, name in counts ? counts[name] : input.value);
    });
  });
})();
