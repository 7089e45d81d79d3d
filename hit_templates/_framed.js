// A page in the frame of a marketplace's page. There the frame is as high as this page, so
// that only the page around it scrolls and reports which part is visible. Without reports
// (at another host), this page scrolls as usual.
const pieceworkFrame = {
  // Top and bottom of the visible part, from the top of this page.
  view: null,
  post: (message) => window.parent.postMessage(message, "*"),
  toTop: () => {
    if (pieceworkFrame.view) pieceworkFrame.post({ pieceworkShow: { top: 0, bottom: 1 } });
    else scrollTo(0, 0);
  },
};
if (window.parent !== window) {
  const root = document.documentElement;
  root.classList.add("framed");
  const say = () =>
    pieceworkFrame.post({ pieceworkHeight: Math.ceil(root.getBoundingClientRect().height) });
  new ResizeObserver(say).observe(root);
  addEventListener("load", say);
  addEventListener("message", ({ source, data }) => {
    if (source !== window.parent || !data) return;
    // The page around may start to listen only after this one has loaded.
    if (data.pieceworkAsk) say();
    if (!data.pieceworkView) return;
    const view = data.pieceworkView;
    if (![view.top, view.bottom, view.seen].every(Number.isFinite)) return;
    pieceworkFrame.view = view;
    root.classList.add("grown");
    root.style.setProperty("--seen", `${view.seen}px`);
  });
}
