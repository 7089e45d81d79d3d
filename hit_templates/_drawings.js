// The pictures of examples, which a page carries compressed.
document.querySelectorAll("img[data-deflated]").forEach(async (image) => {
  const packed = Uint8Array.from(atob(image.dataset.deflated), (sign) => sign.charCodeAt(0));
  const whole = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const drawing = await new Response(whole).blob();
  image.src = URL.createObjectURL(drawing.slice(0, drawing.size, "image/svg+xml"));
});
