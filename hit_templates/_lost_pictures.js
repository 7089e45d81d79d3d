// Runs before the first picture is requested, to hear of its failure.
const pieceworkLost = new Set();
document.addEventListener("error", (event) => {
  if (event.target instanceof HTMLImageElement) pieceworkLost.add(event.target);
}, true);
