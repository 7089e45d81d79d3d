// Shows what a worker changed in a text: removed and inserted words, marked by strokes and
// by words for screen readers, not only by colour.
document.querySelectorAll("[data-difference]").forEach((block) => {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const { runs } = pieceworkRules(data.characters);
  const box = document.getElementsByName(block.dataset.difference)[0];
  const shown = block.querySelector("[data-shown]");
  const wordsOf = (text) => text.split(/\s+/).filter(Boolean);
  const marked = (kind, told, some) => {
    const mark = document.createElement(kind);
    const unseen = document.createElement("span");
    unseen.className = "unseen";
    unseen.textContent = `${told} `;
    mark.append(unseen, some.join(" "));
    return mark;
  };
  const draw = () => {
    const [before, after] = [wordsOf(block.dataset.before), wordsOf(box.value)];
    shown.replaceChildren();
    runs(before, after).forEach((run) => {
      if (run.kept) shown.append(after[run.kept[1]]);
      else {
        if (run.removed.length) shown.append(marked("del", block.dataset.removed, run.removed.map((i) => before[i])));
        if (run.removed.length && run.inserted.length) shown.append(" ");
        if (run.inserted.length) shown.append(marked("ins", block.dataset.inserted, run.inserted.map((j) => after[j])));
      }
      shown.append(" ");
    });
    block.hidden = before.join(" ") === after.join(" ");
  };
  box.form.addEventListener("input", draw);
  // A button that fills the text sends no event; it has done so by now.
  box.form.addEventListener("click", () => setTimeout(draw));
  draw();
});
