"use strict";
// Shows how much time a test has left, and warns when it is short. The site decides.
const left = document.getElementById("left");
const end = Date.now() + Number(left.dataset.seconds) * 1000;
const texts = JSON.parse(document.getElementById("strip").dataset.texts);
const WARNINGS = [[0, texts.over], [60, texts.left_1], [300, texts.left_5]];
let said = Number(left.dataset.seconds) + 1;

const show = () => {
  const rest = Math.max(0, Math.round((end - Date.now()) / 1000));
  const parts = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60];
  left.textContent = parts.map((part) => String(part).padStart(2, "0")).join(":");
  document.getElementById("strip").classList.toggle("short", rest <= 300);
  const due = WARNINGS.find(([limit]) => rest <= limit && limit < said);
  if (due) {
    [said] = due;
    document.getElementById("announcement").textContent = due[1];
  }
};

if ("ticks" in left.dataset) {
  show();
  setInterval(show, 1000);
}
