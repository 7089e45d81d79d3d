// Refuses pastes and drops of text from elsewhere, until the worker turns pasting on.
// Other ways to enter a text send no paste: keys, dictation, completions, and
// assistive technology that fills a box in. Text of this page may be moved.
(() => {
  const button = document.getElementById("let-paste");
  const notice = document.getElementById("notice-paste");
  const plain = (text) => text.replace(/\s+/g, " ").trim();
  const isText = (box) => box.matches?.(".item :is(textarea, input[type=text], input:not([type]))");
  const say = (text) => { document.getElementById("said").textContent = text; };
  let isOff = true;
  let copied = null;
  let isOurDrag = false;

  ["copy", "cut"].forEach((kind) => document.addEventListener(kind, ({ target }) => {
    copied = plain(isText(target)
      ? target.value.slice(target.selectionStart, target.selectionEnd) : String(window.getSelection()));
  }, true));
  document.addEventListener("dragstart", () => { isOurDrag = true; });
  document.addEventListener("dragend", () => { isOurDrag = false; });
  const refuse = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation(); // an attempt is no paste, and is not counted
    notice.classList.add("warning");
    say(notice.dataset.refused);
  };
  document.addEventListener("paste", (event) => {
    const text = plain(event.clipboardData?.getData("text/plain") || "");
    if (isOff && isText(event.target) && !(copied && text === copied)) refuse(event);
  }, true);
  document.addEventListener("drop", (event) => {
    if (isOff && isText(event.target) && !isOurDrag) refuse(event);
  }, true);
  button.addEventListener("click", () => {
    isOff = false;
    button.disabled = true;
    notice.classList.remove("warning");
    say(notice.dataset.let);
  });
})();
