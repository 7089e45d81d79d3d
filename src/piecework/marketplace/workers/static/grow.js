"use strict";
// On a phone, a page that reports its height gets a frame of that height, so that only one
// thing scrolls. The page is told which part of it is visible, and may ask to show another
// part while the worker uses it.
const grown = document.querySelector("iframe");
const strip = document.getElementById("strip"); // none around a preview
const isNarrow = window.matchMedia("(max-width: 860px)");
const LEAST_HEIGHT = 200;
const MOST_HEIGHT = 30000;
let height = 0;

const sight = () => {
  const { top, bottom } = strip ? strip.getBoundingClientRect() : { top: 0, bottom: 0 };
  const seen = window.visualViewport;
  const isStuck = top < 1;
  return [
    Math.max(seen.offsetTop, isStuck ? bottom : 0),
    seen.offsetTop + seen.height,
  ];
};

const tellSight = () => {
  if (!height || !isNarrow.matches) {
    return;
  }
  const [from, to] = sight();
  const at = grown.getBoundingClientRect().top;
  const view = { top: Math.max(0, from - at), bottom: to - at, seen: Math.round(to - from) };
  grown.contentWindow.postMessage({ pieceworkView: view }, "*");
};

const grow = () => {
  const isGrown = height > 0 && isNarrow.matches;
  const border = grown.offsetHeight - grown.clientHeight;
  grown.style.height = isGrown ? `${height + border}px` : "";
  tellSight();
};

const showPart = ({ top, bottom }) => {
  if (document.activeElement !== grown || !Number.isFinite(top) || !Number.isFinite(bottom)) {
    return;
  }
  const [from, to] = sight();
  const at = grown.getBoundingClientRect().top;
  const first = at + Math.min(Math.max(top, 0), height);
  const last = at + Math.min(Math.max(bottom, 0), height);
  if (first < from) {
    window.scrollBy(0, first - from);
  } else if (last > to) {
    window.scrollBy(0, Math.min(last - to, first - from));
  }
};

window.addEventListener("message", ({ source, data }) => {
  if (source !== grown.contentWindow || !data) {
    return;
  }
  if (Number.isFinite(data.pieceworkHeight)) {
    height = Math.min(Math.max(data.pieceworkHeight, LEAST_HEIGHT), MOST_HEIGHT);
    grow();
  }
  if (data.pieceworkShow && height && isNarrow.matches) {
    showPart(data.pieceworkShow);
  }
});
grown.addEventListener("load", () => {
  if (grown.contentDocument) {
    height = 0; // The site's own reply, which this page can read.
    grow();
  }
});
for (const [target, kind] of [
  [window, "scroll"],
  [window.visualViewport, "scroll"],
  [window.visualViewport, "resize"],
]) {
  target.addEventListener(kind, () => requestAnimationFrame(tellSight), { passive: true });
}
isNarrow.addEventListener("change", grow);
// A page that loaded before this script has not been heard yet.
grown.contentWindow.postMessage({ pieceworkAsk: true }, "*");
