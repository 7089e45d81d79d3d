// The theme puts each copy button into a <nav>; a page would have as many landmarks as code blocks.
// A table that is wider than its column can also be pushed by keys.
new MutationObserver(() => {
  for (const nav of document.querySelectorAll(".md-code__nav:not([role])")) nav.setAttribute("role", "presentation");
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    if (wrap.scrollWidth > wrap.clientWidth) wrap.tabIndex = 0;
  }
}).observe(document.body, { childList: true, subtree: true });
