// Writes the sections of a compressed page (page_compression.py), before any other script runs.
(() => {
  const compressed = COMPRESSED;
  const whole = compressed.items.map((own, i) => {
    let taken = 0;
    return compressed.lines
      .map((line) => (typeof line === "string" ? line : line.join(own[taken++])))
      .map((line) => line.split("\ue000").join(i + 1) + "\n")
      .join("");
  });
  document.currentScript.insertAdjacentHTML("afterend", whole.join(""));
})();
