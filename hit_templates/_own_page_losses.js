// At the head of a user's own page: remembers scripts that did not load, so that
// `_own_page.js` can tell the worker.
window.pieceworkLosses = [];
window.addEventListener("error", ({ target }) => {
  if (target instanceof HTMLScriptElement && target.src && !target.async) {
    window.pieceworkLosses.push(target.src);
  }
}, true);
