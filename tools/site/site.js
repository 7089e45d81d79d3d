// The theme puts each copy button into a <nav>; a page would have as many landmarks as code blocks.
new MutationObserver(() => {
  for (const nav of document.querySelectorAll(".md-code__nav:not([role])")) nav.setAttribute("role", "presentation");
}).observe(document.body, { childList: true, subtree: true });
