// Keeps what the worker judges (`.left`: the picture and its texts) in the visible part of
// the window while they answer. Beside the answers it moves along. Where it stands above them,
// it stays there in a wide window; on a phone a small copy of it stays at the top. An item
// begins in one screen: pictures are lower and long texts scroll, as far as that needs.
(() => {
  const root = document.documentElement;
  const isNarrow = matchMedia("(max-width: 860px)");
  const isHigh = 450; // less than this is left above a keyboard
  const LEAST_SHARE = .4; // of a picture's usual height
  const LEAST_TEXT = 90; // pixels of a text that scrolls
  const ENOUGH = .7; // of a picture's usual height, to have the button below it in view
  const TEXTS = ".quoted, .card .prose, .options label > input + span";
  // Top and height of the visible part, as seen from the top of this page's window.
  const view = () => pieceworkFrame.view
    || { top: visualViewport.offsetTop, seen: visualViewport.height };
  const box = (part) => part.getBoundingClientRect();
  const setPixels = (name, number) => root.style.setProperty(name, `${number}px`);
  const clamped = (value, most) => Math.max(0, Math.min(value, most));
  const typed = () => {
    const at = document.activeElement;
    return at.matches(".step textarea, .step input[type=text]") ? at : null;
  };
  const holder = document.createElement("div"); // keeps the place of what is moved
  let kept = null;
  let pictureEnds = 0; // from the top of what is kept
  let pictureHeight = 0;

  // A text that is cut must be reachable by keyboard.
  const reach = (part) => part.querySelectorAll(TEXTS).forEach((text) => {
    if (text.scrollHeight > text.clientHeight + 1) text.tabIndex = 0;
    else text.removeAttribute("tabindex");
  });
  // Not every browser lets a click on a text that has the focus choose its option.
  document.addEventListener("click", (event) => {
    const control = event.target.closest(`:is(${TEXTS})[tabindex]`)?.closest("label")?.control;
    if (!control) return;
    event.preventDefault();
    control.click();
  });
  const free = () => {
    if (!kept) return;
    kept.classList.remove("pinned");
    kept.style.top = "";
    kept.style.transform = "";
    reach(kept);
    holder.remove();
    kept = null;
  };
  const pin = (item) => {
    if (kept) return;
    holder.style.height = `${item.offsetHeight}px`;
    item.before(holder);
    item.classList.add("pinned");
    reach(item);
    kept = item;
  };
  const layNarrow = (item) => {
    const { top, seen } = view();
    setPixels("--seen", seen);
    const place = box(kept ? holder : item);
    if (!kept) {
      const picture = item.querySelector(".frame");
      pictureEnds = (picture && !picture.closest("[hidden]") ? box(picture).bottom : place.bottom)
        - place.top;
      pictureHeight = picture ? picture.offsetHeight : 0;
    }
    const isPassed = place.top + pictureEnds < top + clamped(seen * .3, 220);
    // Above the keyboard of a phone held sideways there is no room for a copy.
    if ((!isPassed && !typed()) || seen < 220) {
      free();
      return;
    }
    pin(item);
    const columns = box(item.parentElement);
    item.classList.toggle("low", seen < isHigh);
    // The copy is larger while the place that it leaves empty is still in view.
    setPixels("--room", 0);
    setPixels("--more", 0);
    item.classList.add("roomy");
    const empty = () => place.bottom - top - item.offsetHeight;
    if (empty() < 0) item.classList.remove("roomy");
    const small = item.querySelector(".frame")?.offsetHeight ?? 0;
    const room = clamped(empty(), Math.max(pictureHeight - small, 0));
    setPixels("--room", room);
    setPixels("--more", Math.max(empty(), 0));
    item.style.top = `${clamped(top - columns.top, columns.height - item.offsetHeight)}px`;
  };
  const lay = () => {
    const item = document.querySelector(".step:not([hidden]) > .columns > .left");
    if (item !== kept) free();
    if (!item) return;
    if (isNarrow.matches) {
      layNarrow(item);
      return;
    }
    free();
    if (!pieceworkFrame.view) return; // the style alone keeps it
    const columns = box(item.parentElement);
    // What stands below it would be covered.
    const isAbove = item.parentElement.lastElementChild.offsetTop > item.offsetHeight;
    const down = isAbove ? 0
      : clamped(view().top + 8 - columns.top, columns.height - item.offsetHeight);
    item.style.transform = down ? `translateY(${down}px)` : "";
  };
  // What has the focus is neither behind the small copy nor outside the window. A button
  // that the mouse presses stays where it is, or the mouse would be released beside it.
  const show = (isFault = false) => {
    const field = document.activeElement;
    if (!isFault && (!pieceworkFrame.view || !field.matches(":focus-visible"))) return;
    if (!field.matches(".step :is(textarea, input, button, summary)")) return;
    if (field.closest(".left")) return;
    const { top, bottom } = box(field);
    const asked = isFault ? top - box(field.closest(".field")).top : 0;
    const first = top - Math.max(asked, 40) - (kept ? box(kept).height : 0);
    if (pieceworkFrame.view) pieceworkFrame.post({ pieceworkShow: { top: first, bottom: bottom + 8 } });
    else scrollBy(0, Math.min(first, 0));
  };
  const largest = (least, most, fits) => {
    const finest = (most - least) / 64;
    for (let step = (most - least) / 2; step > finest; step /= 2) {
      if (fits(least + step)) least += step;
    }
    fits(least);
    return least;
  };
  // The item, what is asked and the first control are in the first screen; in a wide window all
  // controls too, if that costs little. Where nothing helps (a phone held sideways), all of it
  // has its usual size.
  const [LOOSE, TIGHT, ASIDE, CUT] = [0, 1, 2, 3]; // aside: the buttons of a picture
  const fit = () => {
    const step = document.querySelector(".step.item:not([hidden]) > :is(.columns, .beside, .sheet)");
    if (!step || kept || typed()) return;
    const buttons = document.querySelector(".steps");
    const parts = [step.querySelector("label:has(input), textarea, input[type=range]"),
      ...step.querySelectorAll(".viewer, .shown, .quoted, .points, .card, audio, video")];
    const fits = (room, level, share = 1, most = 0) => {
      ["tight", "aside", "cut"].forEach((name, n) => root.classList.toggle(name, level > n));
      root.style.setProperty("--share", share);
      setPixels("--most", most);
      const end = room + box(root).top;
      return parts.every((part) => box(part).bottom <= end);
    };
    const fitIn = (room) => {
      const lower = (level, most, least = LEAST_SHARE) =>
        largest(least, 1, (share) => fits(room, level, share, most));
      parts.push(buttons);
      const isWhole = !isNarrow.matches && (fits(room, LOOSE)
        || (fits(room, TIGHT, ENOUGH) && lower(TIGHT, 0, ENOUGH)));
      parts.pop();
      if (isWhole) return true;
      if ([LOOSE, TIGHT, ASIDE].some((level) => fits(room, level))) return true;
      if (fits(room, ASIDE, LEAST_SHARE)) return lower(ASIDE);
      return fits(room, CUT, LEAST_SHARE, LEAST_TEXT)
        && lower(CUT, largest(LEAST_TEXT, room, (most) => fits(room, CUT, LEAST_SHARE, most)));
    };
    const left = step.querySelector(".left");
    if (left) left.style = "position: static"; // measured where it begins, not where it moved to
    const { top, bottom, seen } = pieceworkFrame.view || { seen: root.clientHeight };
    // On the page around, the title may have to be scrolled away first.
    (top === 0 && fitIn(bottom)) || fitIn(seen) || fits(0, LOOSE);
    if (left) left.style = "";
    reach(step);
  };
  // Fingers change the height alone, with a keyboard or by zooming.
  const windowSize = () => [
    innerWidth,
    !!pieceworkFrame.view,
    matchMedia("(pointer: fine)").matches && (pieceworkFrame.view?.seen ?? innerHeight),
  ].join();
  let fitted = "";
  const refit = () => {
    if (fitted === windowSize()) return;
    fitted = windowSize();
    free();
    fit();
    lay();
  };
  let seen = 0;
  addEventListener("message", () => {
    refit();
    lay();
    const now = pieceworkFrame.view ? pieceworkFrame.view.seen : 0;
    if (typed() && now !== seen) show(); // a keyboard appeared or disappeared
    seen = now;
  });
  document.addEventListener("focusin", () => { lay(); show(); });
  document.addEventListener("focusout", () => setTimeout(lay));
  document.addEventListener("input", () => typed() && show());
  document.addEventListener("piecework-fault", () => { lay(); show(true); });
  document.addEventListener("piecework-step", () => { free(); fit(); lay(); });
  document.addEventListener("load", ({ target }) => { // a picture
    if (target.closest?.(".step:not([hidden])")) requestAnimationFrame(() => { fit(); lay(); });
  }, true);
  addEventListener("resize", refit);
  addEventListener("scroll", () => requestAnimationFrame(lay), { passive: true });
  lay();
})();
