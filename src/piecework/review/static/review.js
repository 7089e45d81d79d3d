// Keys, zoom and sign-in. Without them, buttons and links do the same.
"use strict";

const KEYS_OFF = "review keys are off";

// The link's token is after the #: sent once, then removed from the URL.
async function enter(told) {
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  const reply = await fetch("/enter", {
    method: "POST",
    body: new URLSearchParams({ token }),
  });
  if (reply.ok) location.replace("/");
  else told.textContent = "This link is not valid, or no longer valid.";
}

function isTyping(element) {
  return element.matches("input:not([type=checkbox]), textarea, select");
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key === "Escape" && isTyping(document.activeElement)) {
    document.activeElement.blur();
    return;
  }
  const keys = document.getElementById("keys");
  if (isTyping(event.target) || (keys && !keys.checked)) return;
  const name = event.key.toLowerCase();
  const target = document.querySelector(`[data-key="${CSS.escape(name)}"]`);
  if (!target || target.disabled) return;
  // Enter already activates the element with the focus.
  if (name === "enter" && document.activeElement !== document.body) return;
  event.preventDefault();
  if (isTyping(target)) target.focus();
  else target.click();
}

function zoom(viewer) {
  const sheet = viewer.querySelector(".sheet");
  const levels = ["", "twice", "fourfold"];
  const level = levels.findIndex((name) => name && sheet.classList.contains(name));
  sheet.className = `sheet ${levels[(Math.max(level, 0) + 1) % levels.length]}`;
}

// The picture may be shown at any size; the labels stay as large as other text.
function labelMarks(drawing) {
  const scale = drawing.getScreenCTM()?.a;
  if (scale) drawing.style.fontSize = `${14 / scale}px`;
}

const told = document.getElementById("entering");
if (told) enter(told);

document.addEventListener("keydown", pressed);
for (const viewer of document.querySelectorAll("[data-viewer]")) {
  viewer.querySelector("[data-zoom]").addEventListener("click", () => zoom(viewer));
  viewer.querySelector(".sheet").addEventListener("click", () => zoom(viewer));
  viewer.querySelector("img")?.addEventListener("error", () => {
    viewer.classList.add("lost");
  });
}
for (const drawing of document.querySelectorAll(".marks")) {
  new ResizeObserver(() => labelMarks(drawing)).observe(drawing);
}
for (const box of document.querySelectorAll("[data-layer]")) {
  box.hidden = false;
  box.addEventListener("change", () => {
    for (const layer of document.querySelectorAll(`[data-layer-of="${CSS.escape(box.dataset.layer)}"]`)) {
      layer.toggleAttribute("hidden", !box.checked);
    }
  });
  // A browser that goes back keeps what was ticked, but not what was hidden.
  box.dispatchEvent(new Event("change"));
}
for (const select of document.querySelectorAll("[data-fills]")) {
  select.addEventListener("change", () => {
    document.getElementById(select.dataset.fills).value = select.value;
  });
}
// A form is sent only once, even if the key is pressed again.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form")) delete form.dataset.sent;
});
const keys = document.getElementById("keys");
if (keys) {
  keys.checked = localStorage.getItem(KEYS_OFF) === null;
  keys.addEventListener("change", () => {
    if (keys.checked) localStorage.removeItem(KEYS_OFF);
    else localStorage.setItem(KEYS_OFF, "yes");
  });
}
