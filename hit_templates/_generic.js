// Says where a picture without a viewer did not load.
document.querySelectorAll("img.shown").forEach((image) => {
  const isLost = (lost) => { image.hidden = lost; image.nextElementSibling.hidden = !lost; };
  image.addEventListener("error", () => isLost(true));
  if (pieceworkLost.has(image)) isLost(true);
});
