"use strict";
// The page around a question: keeps the time, and takes the worker on once the
// question's form was answered by the site (only then can the frame be looked into).
const left = document.getElementById("left");
if (left && "ticks" in left.dataset) {
  const end = Date.now() + Number(left.dataset.seconds) * 1000;
  const show = () => {
    const seconds = Math.max(0, Math.round((end - Date.now()) / 1000));
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    left.textContent = parts.map((part) => String(part).padStart(2, "0")).join(":");
  };
  show();
  setInterval(show, 1000);
}
const frame = document.querySelector("iframe[data-thanks]");
if (frame) {
  frame.addEventListener("load", () => {
    let isSubmitted = false;
    try {
      isSubmitted = frame.contentDocument.getElementById("submitted") !== null;
    } catch {
      return; // The frame shows the question, which is another origin's.
    }
    if (isSubmitted) {
      window.location.assign(frame.dataset.thanks);
    }
  });
}
