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
  const image = viewer.querySelector("img");
  const levels = ["", "twice", "fourfold"];
  const level = levels[(levels.indexOf(image.className) + 1) % levels.length];
  image.className = level;
}

const told = document.getElementById("entering");
if (told) enter(told);

document.addEventListener("keydown", pressed);
for (const viewer of document.querySelectorAll("[data-viewer]")) {
  viewer.querySelector("[data-zoom]").addEventListener("click", () => zoom(viewer));
  viewer.querySelector("img").addEventListener("click", () => zoom(viewer));
  viewer.querySelector("img").addEventListener("error", () => {
    viewer.classList.add("lost");
  });
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
