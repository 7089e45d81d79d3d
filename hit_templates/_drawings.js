// Shows the pictures of examples, which a page carries packed together.
(async () => {
  const { deflated } = document.getElementById("drawings").dataset;
  const packed = Uint8Array.from(atob(deflated), (sign) => sign.charCodeAt(0));
  const whole = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const drawings = await new Response(whole).json();
  document.querySelectorAll("img[data-drawing]").forEach((image) => {
    const drawing = new Blob([drawings[image.dataset.drawing]], { type: "image/svg+xml" });
    image.src = URL.createObjectURL(drawing);
  });
})();
