"use strict";
// The page around a question: shows the remaining time by the site's clock, warns when it
// is short, and moves on once the site has answered the question's form (only then can
// this page read the frame).
const byId = (id) => document.getElementById(id);
const frame = document.querySelector("iframe[data-thanks]");
const left = byId("left");
const SECOND_IN_MS = 1000;
const REPLY_MS = 3000;
const ASK_EACH_MS = "ticks" in left.dataset ? 30000 : 2000; // A rehearsal's clock jumps.
const allowed = Number(left.dataset.allowed);
const texts = JSON.parse(byId("strip").dataset.texts);
const WARNINGS = [[60, texts.left_1], [300, texts.left_5]];

let seconds = Number(left.dataset.seconds);
let readAt = Date.now();
let said = seconds; // Do not announce what was so from the start.
let isOver = false;

const words = (rest) => {
  const pad = (part) => String(part).padStart(2, "0");
  const hours = Math.floor(rest / 3600);
  const tail = `${pad(Math.floor(rest / 60) % 60)}:${pad(rest % 60)}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
};

const remaining = () => {
  const passed = "ticks" in left.dataset ? (Date.now() - readAt) / SECOND_IN_MS : 0;
  return Math.max(0, Math.round(seconds - passed));
};

const warn = (rest) => {
  const due = WARNINGS.find(([limit]) => rest <= limit && limit < said);
  if (due) {
    byId("announcement").textContent = due[1];
    [said] = due;
  }
  byId("strip").classList.toggle("short", rest <= Math.min(300, allowed / 2));
};

const end = () => {
  isOver = true;
  left.textContent = "00:00";
  byId("strip").classList.add("short");
  byId("announcement").textContent = texts.over;
  byId("over").hidden = false;
  byId("unsent").hidden = true;
  byId("below").hidden = true;
};

const show = () => {
  if (isOver) {
    return;
  }
  const rest = remaining();
  left.textContent = words(rest);
  warn(rest);
};

// Returns whether the site answered.
const ask = async () => {
  if (isOver) {
    return true;
  }
  let isAnswered = false;
  try {
    const reply = await fetch(left.dataset.ask, { headers: { Accept: "application/json" } });
    isAnswered = true;
    if (!reply.ok) {
      return isAnswered;
    }
    const found = await reply.json();
    seconds = found.seconds_left;
    readAt = Date.now();
    if (found.status === "Abandoned") {
      end();
    } else if (found.status !== "Accepted" && !isOver) {
      isOver = true;
      // It was sent or returned in another tab, unless this frame's reply is on its way.
      setTimeout(() => shown === "submitted" || window.location.reload(), REPLY_MS);
    }
  } catch {
    // No network: count on from the last answer until the next request.
  }
  show();
  return isAnswered;
};

show();
setInterval(() => {
  show();
  if (!isOver && remaining() === 0) {
    ask();
  }
}, SECOND_IN_MS);
setInterval(ask, ASK_EACH_MS);
document.addEventListener("visibilitychange", () => document.hidden || ask());
window.addEventListener("pageshow", (event) => event.persisted && window.location.reload());

for (const element of document.querySelectorAll(".scripted")) {
  element.hidden = false;
}

const answered = () => {
  try {
    return frame.contentDocument;
  } catch {
    return null; // The frame shows the question, which has another origin.
  }
};

// What the frame shows. Only replies of the site can be read; the question cannot, nor can
// the browser's own page about a lost network.
//
//   nothing -> question -> carried -> submitted
//                 ^   |       |-----> refused --.
//                 |   '-------+-----> lost -----|
//                 '------ returning <-----------'
let shown = "nothing";
// Pages in the browser's history after the question. NaN: this script missed the question.
let steps = 0;
let loads = 0; // What a slow request says about an earlier page is dropped.
const unsent = byId("unsent");
const [notice] = unsent.children;
const NOTICES = { refused: notice.textContent, lost: texts.failed };

const tellUnsent = (text) => {
  notice.textContent = text;
  unsent.hidden = isOver || !text;
  if (!unsent.hidden) {
    unsent.scrollIntoView({ block: "center" }); // The button may be pages below it.
  }
};

const moveOn = () => {
  if (byId("auto").checked) {
    byId("go-on").submit();
  } else {
    window.location.replace(frame.dataset.thanks);
  }
};

const enter = (next) => {
  if (shown === "submitted") {
    return;
  }
  if (next === "question" || next === "returning") {
    steps = 0;
  } else if (shown === "nothing") {
    steps = NaN;
  } else if (shown === "question" || (shown === "carried" && next !== "lost")) {
    steps += 1; // A browser's error page takes the place of the page that sent to its own address.
  }
  shown = next;
  tellUnsent(NOTICES[next] ?? "");
  if (next === "submitted") {
    moveOn();
  } else if (next === "refused") {
    ask(); // It may be too late; then the worker no longer has the HIT.
  }
};

const REPLIES = { carry: "carried", submitted: "submitted", "not-submitted": "refused" };
const stateOf = (reply) => {
  const mark = Object.keys(REPLIES).find((id) => reply.getElementById(id));
  return REPLIES[mark] ?? "other";
};

const heedLoad = async () => {
  loads += 1;
  const load = loads;
  const reply = answered();
  if (reply) {
    enter(stateOf(reply));
  } else if (shown === "carried" || (shown === "question" && "onePage" in frame.dataset)) {
    enter("lost");
    // A question that was loaded anew answers.
    frame.contentWindow.postMessage({ pieceworkAsk: true }, "*");
  } else if (shown !== "question") {
    enter("question");
  } else {
    // The next page of a requester's own server, or no network.
    const isReached = await ask();
    if (load === loads) {
      enter(isReached ? "question" : "lost");
    }
  }
};
frame.addEventListener("load", heedLoad);
window.addEventListener("message", ({ source, data }) => {
  if (shown === "lost" && source === frame.contentWindow && data?.pieceworkHeight) {
    enter("question");
  }
});
// A fast worker's answer may be in before this script.
if (["submitted", "refused"].includes(stateOf(answered() ?? document))) {
  heedLoad();
}
// Until then the question may have been loaded before this script, or still be loading.
window.addEventListener("load", () => {
  if (shown === "nothing" && !answered()) {
    enter("question");
  }
});

byId("again").addEventListener("click", async () => {
  const load = loads;
  const isReached = await ask();
  if (load !== loads || shown === "returning") {
    return;
  }
  if (!isReached) {
    tellUnsent(texts.failed);
    return;
  }
  const stepsBack = steps;
  enter("returning");
  if (stepsBack > 0) {
    window.history.go(-stepsBack); // Browsers fill in what was typed, which a new page would lack.
  } else {
    frame.src = frame.getAttribute("src");
  }
});

// A report is sent without leaving the page: the frame may not keep a draft.
const report = byId("report");
report.addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = byId("report-said");
  try {
    const reply = await fetch(report.action, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(new FormData(report)),
    });
    const found = await reply.json();
    said.textContent = reply.ok ? texts.saved : found.message;
    if (reply.ok) {
      report.reset();
    }
  } catch {
    said.textContent = texts.failed;
  }
});
