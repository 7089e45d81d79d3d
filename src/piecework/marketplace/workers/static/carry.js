"use strict";
// Sends a question's form on by itself, if this page lies in the very page of the
// assignment that the form names. Anywhere else the worker decides: see the button.
const carry = document.getElementById("carry");
// Nothing is read off the form itself: its fields have names of the question's choosing.
const title = document.getElementById("carry-title");
const isAtHome = () => {
  try {
    return window.parent !== window && window.parent.location.pathname === title.dataset.page;
  } catch {
    return false; // Framed by another origin.
  }
};
if (isAtHome()) {
  title.textContent = "Sending your work…";
  HTMLElement.prototype.setAttribute.call(carry, "hidden", "");
  HTMLFormElement.prototype.submit.call(carry);
}
