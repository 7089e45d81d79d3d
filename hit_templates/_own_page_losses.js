// At the head of a page of somebody's own: remembers the scripts that it waits for and that
// did not come, so that `_own_page.js`, at its end, can tell the worker.
window.pieceworkLosses = [];
window.addEventListener("error", ({ target }) => {
  if (target instanceof HTMLScriptElement && target.src && !target.async) {
    window.pieceworkLosses.push(target.src);
  }
}, true);
