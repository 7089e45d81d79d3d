// Counts for each item: how long it was on screen in a visible tab, key presses and
// pastes in its text boxes, and how often the worker left the page while it was shown.
let pieceworkMeasures = (names, inside = ".item") => {
  const counts = {};
  let at = 0;
  let since = null;
  let isAway = false;

  const of = (n) => (counts[n] = counts[n] || Object.fromEntries(names.map((name) => [name, 0])));
  const settle = () => {
    const now = performance.now();
    if (at && since !== null) of(at).shown_ms += now - since;
    since = document.visibilityState === "visible" ? now : null;
  };
  const leave = () => {
    settle();
    if (at && !isAway) of(at).focus_losses += 1;
    isAway = true;
  };
  const comeBack = () => {
    settle();
    isAway = false;
  };

  addEventListener("pagehide", () => {
    settle();
    isAway = true; // a reload hides the page, but the worker has not left
  });
  addEventListener("pageshow", comeBack);
  addEventListener("blur", leave);
  addEventListener("focus", comeBack);
  document.addEventListener("visibilitychange", () =>
    document.visibilityState === "visible" ? comeBack() : leave());
  const isText = (target) => target.matches("textarea, input[type=text], input:not([type])") && target.closest(inside);
  document.addEventListener("keydown", (event) => {
    if (at && isText(event.target) && !event.repeat) of(at).keystrokes += 1;
  });
  document.addEventListener("paste", (event) => {
    if (at && isText(event.target)) of(at).pastes += 1;
  });

  return {
    show: (n) => {
      settle();
      at = n;
    },
    restore: (stored) => Object.assign(counts, stored),
    // The current counts by position, as whole numbers.
    read: () => {
      settle();
      return Object.fromEntries(Object.entries(counts).map(([n, measured]) =>
        [n, Object.fromEntries(names.map((name) => [name, Math.round(measured[name])]))]));
    },
  };
};
