// How the text in each text box came about, without its content: kinds of input events,
// the characters that each brought, pauses, and the rhythm of keys. What was copied on
// this page stays in memory, to recognise it when it is pasted; it is not stored or sent.
window.pieceworkTyping = () => {
  const TOGETHER_MS = 10; // events this close are one burst
  const LONG_BURST = 20; // characters: more than a word that a phone completes
  const SPEECH_MS = 40; // per character; people speak at half this speed
  const MOST_INTERVALS = 300;
  const MOST_FIELDS = 8; // of an item
  const MOST_SENT = 12000; // characters: a whole answer has room for 65,535 bytes
  const KINDS = new Set(["insertText", "insertLineBreak", "insertCompositionText",
    "insertFromComposition", "insertReplacementText", "insertTranspose", "insertFromPaste",
    "insertFromDrop", "insertFromYank", "deleteContentBackward", "deleteContentForward",
    "deleteWordBackward", "deleteByCut", "deleteByDrag", "historyUndo", "historyRedo"]);
  const MOVES = new Set(["insertFromPaste", "insertFromDrop", "insertFromYank"]);
  const REPLACES = new Set(["insertCompositionText", "insertFromComposition", "insertReplacementText"]);
  const MODIFIERS = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "Dead"]);
  const NAME = /^([a-z]\w*)\.(\d+)$/; // a field of an item, not of a trial or of the HIT
  const records = {}; // by wire name
  const texts = {}; // the text of each box as last seen
  const live = {}; // moments, and the burst that is not over
  let copied = null;
  let isCopyOfOurs = false; // of the paste that comes next
  let isOurDrag = false;

  const isText = (box) => box.matches && box.matches(".item :is(textarea, input[type=text], input:not([type]))")
    && NAME.test(box.name);
  const plain = (text) => text.replace(/\s+/g, " ").trim();
  const recordOf = (box) => (records[box.name] = records[box.name] || {
    kinds: {}, untrusted: [0, 0], outside: 0, inside: 0, unseen: 0, bursts: [0, 0], quick: 0,
    pauses: [0, 0], intervals: [], corrections: 0, removed: 0, start: box.value.length,
  });
  const liveOf = (box) => (live[box.name] = live[box.name] || { active: 0, input: 0, key: 0, burst: null });
  // Where two texts differ between a common beginning and a common end.
  const change = (before, after) => {
    const least = Math.min(before.length, after.length);
    let head = 0;
    while (head < least && before[head] === after[head]) head += 1;
    let tail = 0;
    while (tail < least - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
    return { added: after.length - head - tail, removed: before.length - head - tail };
  };
  const closeBurst = (record, moments) => {
    const { burst } = moments;
    moments.burst = null;
    if (!burst || burst.characters < 2) return;
    record.bursts[0] += 1;
    record.bursts[1] += burst.characters;
    if (burst.characters >= LONG_BURST && burst.rest < burst.characters * SPEECH_MS) record.quick += burst.characters;
  };
  const pause = (record, moments, now) => {
    const gap = moments.active ? now - moments.active : 0;
    if (gap > 1000) record.pauses[0] += 1;
    if (gap > 2000) record.pauses[1] += 1;
    moments.active = now;
  };
  // Counts what changed without an event.
  const settle = (box) => {
    const record = recordOf(box);
    record.unseen += change(texts[box.name] || "", box.value).added;
    texts[box.name] = box.value;
    return record;
  };
  const boxes = () => Array.from(document.querySelectorAll("textarea, input")).filter(isText);
  const wrote = (box) => {
    if (isText(box)) texts[box.name] = box.value;
  };

  document.addEventListener("focusin", ({ target, timeStamp }) => {
    if (isText(target)) Object.assign(liveOf(target), { active: timeStamp, input: timeStamp, key: 0 });
  });
  document.addEventListener("beforeinput", ({ target }) => {
    if (isText(target)) settle(target);
  }, true);
  document.addEventListener("input", (event) => {
    const box = event.target;
    if (!isText(box)) return;
    const [record, moments, now] = [recordOf(box), liveOf(box), event.timeStamp];
    const { added, removed } = change(texts[box.name] || "", box.value);
    texts[box.name] = box.value;
    const kind = KINDS.has(event.inputType) ? event.inputType : "other";
    const counts = (record.kinds[kind] = record.kinds[kind] || [0, 0]);
    counts[0] += 1;
    counts[1] += added;
    record.removed += removed;
    if (/^delete|^historyUndo|^insertReplacement/.test(kind)) record.corrections += 1;
    if (!event.isTrusted) {
      record.untrusted[0] += 1;
      record.untrusted[1] += added;
    }
    if (MOVES.has(kind)) {
      const isOurs = kind === "insertFromDrop" ? isOurDrag : isCopyOfOurs;
      record[isOurs ? "inside" : "outside"] += added;
      isCopyOfOurs = false;
    } else {
      if (now - moments.input > TOGETHER_MS) closeBurst(record, moments);
      moments.burst = moments.burst || { characters: 0, rest: now - moments.input };
      moments.burst.characters += REPLACES.has(kind) ? Math.max(0, added - removed) : added;
    }
    moments.input = now;
    pause(record, moments, now);
  }, true);
  document.addEventListener("keydown", (event) => {
    const box = event.target;
    if (!isText(box) || event.repeat || MODIFIERS.has(event.key)) return;
    const [record, moments, now] = [recordOf(box), liveOf(box), event.timeStamp];
    pause(record, moments, now);
    if (!event.isTrusted) {
      record.untrusted[0] += 1;
      return;
    }
    const interval = moments.key ? now - moments.key : 0;
    if (interval > TOGETHER_MS && interval <= 1000 && record.intervals.length < MOST_INTERVALS) {
      record.intervals.push(Math.round(interval));
    }
    moments.key = now;
  }, true);
  ["copy", "cut"].forEach((kind) => document.addEventListener(kind, ({ target }) => {
    const selected = isText(target)
      ? target.value.slice(target.selectionStart, target.selectionEnd) : String(window.getSelection());
    copied = plain(selected);
  }, true));
  document.addEventListener("paste", ({ clipboardData }) => {
    isCopyOfOurs = Boolean(copied && clipboardData && plain(clipboardData.getData("text/plain")) === copied);
  }, true);
  document.addEventListener("dragstart", () => { isOurDrag = true; });
  document.addEventListener("dragend", () => { isOurDrag = false; });

  const quantile = (sorted, part) => sorted[Math.floor((sorted.length - 1) * part)] || 0;
  const summary = ({ intervals, ...record }, box) => {
    const sorted = [...intervals].sort((a, b) => a - b);
    return {
      ...record,
      intervals: sorted.length,
      median: quantile(sorted, .5),
      spread: quantile(sorted, .75) - quantile(sorted, .25),
      length: box.value.length,
    };
  };
  const read = () => {
    boxes().forEach(settle);
    return records;
  };
  // What is sent for an item: a summary by field; boxes that stayed empty are left out.
  const sent = (n) => JSON.stringify(Object.fromEntries(boxes()
    .filter((box) => NAME.exec(box.name)[2] === n)
    .filter((box) => box.value || Object.keys(records[box.name].kinds).length)
    .slice(0, MOST_FIELDS)
    .map((box) => [NAME.exec(box.name)[1], summary(records[box.name], box)])));
  return {
    wrote,
    read,
    restore: (stored) => Object.assign(records, stored),
    // The boxes hold what the worker begins with, or what a draft restored.
    begin: () => boxes().forEach((box) => {
      recordOf(box);
      wrote(box);
    }),
    send: (form) => {
      boxes().forEach((box) => closeBurst(settle(box), liveOf(box)));
      let room = MOST_SENT;
      form.querySelectorAll("[name^='typing.']").forEach((field) => {
        const text = sent(field.name.slice("typing.".length));
        field.value = text.length <= room ? text : "";
        room -= field.value.length;
      });
    },
  };
};
