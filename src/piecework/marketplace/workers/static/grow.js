"use strict";
// A page that reports its height gets a frame of that height, so that only one thing
// scrolls. The page is told which part of it is visible, and may ask to show another part
// while the worker uses it. The page is a stranger's: its numbers are checked, and a page
// that grows with its own frame keeps a height after some changes.
const grown = document.querySelector("iframe");
const strip = document.getElementById("strip"); // none around a preview
const LEAST_HEIGHT = 200;
const MOST_HEIGHT = 30000;
const MOST_CHANGES = 40; // of the height, within
const CHANGES_MS = 4000;
let height = 0;
let changedAt = [];

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
  if (!height) {
    return;
  }
  const [from, to] = sight();
  const at = grown.getBoundingClientRect().top;
  const view = { top: Math.max(0, from - at), bottom: to - at, seen: Math.round(to - from) };
  grown.contentWindow.postMessage({ pieceworkView: view }, "*");
};

const grow = () => {
  const border = grown.offsetHeight - grown.clientHeight;
  grown.style.height = height ? `${height + border}px` : "";
  tellSight();
};

const isSteady = () => {
  const now = performance.now();
  changedAt = changedAt.filter((at) => now - at < CHANGES_MS);
  return changedAt.length < MOST_CHANGES;
};

const heed = (reported) => {
  const wanted = Math.ceil(Math.min(Math.max(reported, LEAST_HEIGHT), MOST_HEIGHT));
  if (wanted === height) {
    tellSight();
  } else if (isSteady()) {
    changedAt.push(performance.now());
    height = wanted;
    grow();
  }
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
    heed(data.pieceworkHeight);
  }
  if (data.pieceworkShow && height) {
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
  [window, "resize"],
  [window.visualViewport, "resize"],
]) {
  target.addEventListener(kind, () => requestAnimationFrame(tellSight), { passive: true });
}
// A page that loaded before this script has not been heard yet.
grown.contentWindow.postMessage({ pieceworkAsk: true }, "*");
