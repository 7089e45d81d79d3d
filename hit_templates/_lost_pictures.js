// Runs before the first picture is asked for: its failure would else go unheard.
const pieceworkLost = new Set();
document.addEventListener("error", (event) => {
  if (event.target instanceof HTMLImageElement) pieceworkLost.add(event.target);
}, true);
