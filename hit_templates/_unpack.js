// Writes the sections of a packed page (packing.py), before any other script looks.
(() => {
  const packed = PACKED;
  const whole = packed.items.map((own, i) => {
    let taken = 0;
    return packed.lines
      .map((line) => (typeof line === "string" ? line : line.join(own[taken++])))
      .map((line) => line.split("\ue000").join(i + 1) + "\n")
      .join("");
  });
  document.currentScript.insertAdjacentHTML("afterend", whole.join(""));
})();
