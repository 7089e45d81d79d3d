// The fields of the form: their wire names, their values, and their order.
// A position is a whole number for an item, "p1" for a trial, "hit" for fields asked once.
const pieceworkFields = (form, data, assignmentId) => {
  const order = pieceworkOrder(assignmentId);
  const controls = (name) => Array.from(form.elements).filter((control) => control.name === name);
  const wire = (name, at) => {
    if (at === "hit") return `hit.${name}`;
    return /^p/.test(at) ? `practice.${name}.${at.slice(1)}` : `${name}.${at}`;
  };
  const told = (template, words) =>
    template.replace(/\{(\w+)\}/g, (_, name) => (name in words ? words[name] : ""));

  // --- values ---------------------------------------------------------------------
  const isUntouched = (control) => control.classList.contains("untouched");
  const touch = (control) => {
    control.classList.remove("untouched");
    const hint = form.querySelector(`[data-told="${control.name}"]`);
    const said = told(data.texts.chosen_value, { value: control.value });
    control.setAttribute("aria-valuetext", said);
    if (hint) hint.textContent = said;
  };
  const read = (field, name) => {
    const all = controls(name);
    if (field.kind === "text") return all.length ? all[0].value : "";
    if (all.length && all[0].type === "range") {
      return isUntouched(all[0]) ? undefined : Number(all[0].value);
    }
    const ticked = all.filter((control) => control.checked).map((control) => control.value);
    if (field.kind === "choices") return ticked;
    return field.kind === "number" && ticked.length ? Number(ticked[0]) : ticked[0];
  };
  const write = (field, name, value) => controls(name).forEach((control) => {
    if (control.type === "range") {
      control.value = value;
      touch(control);
    } else if (field.kind === "text") control.value = value;
    else control.checked = [].concat(value).map(String).includes(control.value);
  });

  // --- orders ---------------------------------------------------------------------
  const record = (name, names) => {
    const [box] = controls(name);
    if (box) box.value = names.join("|");
  };
  const shuffleOptions = (at, itemId) => data.fields.filter((field) => field.shuffled).forEach((field) => {
    const blocks = form.querySelectorAll(`[data-position="${at}"] [data-shuffles="${field.name}"]`);
    const labels = Array.from(blocks).flatMap((block) => Array.from(block.children));
    const names = order.shuffled(
      `${field.name}.${itemId}`, labels.map((label) => label.querySelector("input").value));
    blocks.forEach((block) => names.forEach((name) => {
      const label = labels.find((one) => one.parentNode === block && one.querySelector("input").value === name);
      if (label) block.append(label);
    }));
    record(`order.${field.name}.${at}`, names);
  });
  const arrange = (at, itemId) => data.arrangements.forEach(({ name, columns }) => {
    const names = order.shuffled(`${name}.${itemId}`, columns);
    form.querySelectorAll(`[data-position="${at}"] [data-arrange="${name}"]`).forEach((block) => {
      names.forEach((column, i) => {
        const part = block.querySelector(`[data-part="${column}"]`);
        const place = part.querySelector("[data-place]");
        if (place) place.textContent = i + 1;
        block.append(part);
      });
    });
    record(`order.${name}.${at}`, names);
  });
  // Puts everything into the order of this assignment; the items' positions as shown.
  const lay = () => {
    const { ids } = data;
    ids.forEach((id, i) => {
      shuffleOptions(i + 1, id);
      arrange(i + 1, id);
    });
    if (!data.shuffles) return ids.map((_, i) => i + 1);
    const positions = order.items(ids, data.groups);
    record("order.items", positions);
    return positions;
  };

  // --- small helpers ----------------------------------------------------------------
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
  // A digit chooses in the group with the focus, or in the first without an answer: a
  // scale's number, else by place.
  const chooseByKey = (step, event) => {
    if (!/^[0-9]$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("textarea, input[type=text]")) return;
    const groups = Array.from(step.querySelectorAll("[data-keys]"));
    const group = groups.find((one) => one.contains(document.activeElement)) ||
      groups.find((one) => !one.querySelector(":checked"));
    const inputs = group ? [...group.querySelectorAll("input")] : [];
    const chosen = group?.querySelector(".scale")
      ? inputs.find((input) => input.value === event.key) : inputs[event.key - 1];
    if (!chosen || chosen.disabled) return;
    event.preventDefault();
    chosen.focus();
    chosen.click();
  };
  form.addEventListener("input", (event) => {
    keepExclusive(event.target);
    if (event.target.type === "range") touch(event.target);
  });
  // To answer with the slider's current place: click it, or press Enter.
  ["click", "keydown"].forEach((kind) => form.addEventListener(kind, (event) => {
    const { target } = event;
    if (target.type !== "range" || !isUntouched(target) || target.disabled) return;
    if (kind === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    touch(target);
    target.dispatchEvent(new Event("input", { bubbles: true }));
  }));

  return { controls, wire, told, read, write, lay, isUntouched, chooseByKey };
};
