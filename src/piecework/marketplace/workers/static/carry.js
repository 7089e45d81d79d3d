"use strict";
// Sends a question's form on automatically if this page is inside the page of the
// assignment in the form. Anywhere else the worker decides with the button.
const carry = document.getElementById("carry");
// Do not read properties of the form itself: the question chooses its field names.
const title = document.getElementById("carry-title");
const isAtHome = () => {
  try {
    return window.parent !== window && window.parent.location.pathname === title.dataset.page;
  } catch {
    return false; // Framed by another origin.
  }
};
if (isAtHome()) {
  title.textContent = title.dataset.sending;
  HTMLElement.prototype.setAttribute.call(carry, "hidden", "");
  // Not before the page is loaded, or some browsers let the reply take its place in the
  // history: the page around counts the steps back to the question.
  window.addEventListener("load", () => setTimeout(() => HTMLFormElement.prototype.submit.call(carry)));
}
