// Runs the script of a page that would otherwise be too large (page_compression.py).
(async ({ dataset }) => {
  const packed = Uint8Array.from(atob(dataset.packed), (sign) => sign.charCodeAt(0));
  const whole = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const script = document.createElement("script");
  script.textContent = await new Response(whole).text();
  document.body.append(script);
})(document.currentScript);
