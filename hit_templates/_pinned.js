// On a phone, while the worker types, the picture stays at the top of the visible part and
// the text box below it, above the keyboard.
(() => {
  const typed = () => {
    const at = document.activeElement;
    return pieceworkFrame.view && at.matches(".step textarea, .step input[type=text]") ? at : null;
  };
  const unpin = () => document.querySelectorAll(".viewer.pinned").forEach((viewer) => {
    viewer.classList.remove("pinned");
    viewer.style.top = "";
    viewer.parentElement.style.height = "";
  });
  const pin = () => {
    const field = typed();
    const viewer = field && field.closest(".step").querySelector(".viewer");
    if (!viewer) {
      unpin();
      return;
    }
    const place = viewer.parentElement;
    const { top, height } = place.getBoundingClientRect();
    if (!viewer.classList.contains("pinned")) {
      place.style.height = `${height}px`; // keep what follows in place
      viewer.classList.add("pinned");
    }
    viewer.style.top = `${Math.max(0, pieceworkFrame.view.top - top)}px`;
  };
  const show = () => {
    const field = typed();
    if (!field) return;
    const pinned = field.closest(".step").querySelector(".viewer.pinned");
    const above = pinned ? pinned.getBoundingClientRect().height + 48 : 40; // and the label
    const { top, bottom } = field.getBoundingClientRect();
    pieceworkFrame.post({ pieceworkShow: { top: top - above, bottom: bottom + 8 } });
  };
  let seen = 0;
  window.addEventListener("message", () => {
    pin();
    const { view } = pieceworkFrame;
    if (view && view.seen !== seen) show(); // a keyboard appeared or disappeared
    seen = view ? view.seen : 0;
  });
  document.addEventListener("focusin", () => { pin(); show(); });
  document.addEventListener("focusout", () => setTimeout(pin));
  document.addEventListener("input", show);
})();
