"use strict";
// Keeps what a worker ticked, chose or wrote in a form of the site, in this tab, so that a
// reload, a fault or a new sign-in takes nothing away. `data-kept` names the worker and the
// text: what a person ticked below another text does not count.
for (const form of document.querySelectorAll("form[data-kept]")) {
  const key = `kept ${form.dataset.kept}`;
  const guarded = (access) => {
    try {
      return access();
    } catch {
      return null; // Storage may be refused.
    }
  };
  const controls = [...form.elements]
    .filter((control) => control.name && !["hidden", "submit"].includes(control.type));
  const held = (control) => {
    if ("checked" in control && /checkbox|radio/.test(control.type)) {
      return control.checked;
    }
    return control.multiple ? [...control.options].map((option) => option.selected) : control.value;
  };
  const put = (control, value) => {
    if (typeof value === "boolean") {
      control.checked = value;
    } else if (Array.isArray(value)) {
      [...control.options].forEach((option, n) => { option.selected = value[n]; });
    } else {
      control.value = value;
    }
  };
  // What a worker entered before this script came counts more than what was stored.
  const isChanged = (control) => !control.matches("select")
    && (control.checked !== control.defaultChecked || control.value !== control.defaultValue);
  const stored = guarded(() => JSON.parse(window.sessionStorage.getItem(key)));
  if (stored && stored.length === controls.length && !controls.some(isChanged)) {
    controls.forEach((control, n) => put(control, stored[n]));
  }
  const save = () => guarded(
    () => window.sessionStorage.setItem(key, JSON.stringify(controls.map(held))));
  form.addEventListener("input", save);
  form.addEventListener("change", save);
}
