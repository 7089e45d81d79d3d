// Writes the sections of a packed page (packing.py), before any other script looks.
(() => {
  const packed = JSON.parse(PACKED);
  const whole = packed.items.map((own, i) => {
    let taken = 0;
    return packed.lines
      .map((line) => (line === null ? own[taken++] : line.split("\ue000").join(i + 1)) + "\n")
      .join("");
  });
  document.getElementById("packed").insertAdjacentHTML("afterend", whole.join(""));
})();
