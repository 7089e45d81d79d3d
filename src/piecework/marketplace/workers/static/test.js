"use strict";
// Shows how much time a test has left, and warns when it is short; the site decides. Shows one
// question at a time, with the instructions of its section; without this, all stand in a row.
const left = document.getElementById("left");
const end = Date.now() + Number(left.dataset.seconds) * 1000;
const texts = JSON.parse(document.getElementById("strip").dataset.texts);
const WARNINGS = [[0, texts.over], [60, texts.left_1], [300, texts.left_5]];
let said = Number(left.dataset.seconds) + 1;

const show = () => {
  const rest = Math.max(0, Math.round((end - Date.now()) / 1000));
  const parts = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60];
  left.textContent = parts.map((part) => String(part).padStart(2, "0")).join(":");
  document.getElementById("strip").classList.toggle("short", rest <= 300);
  const due = WARNINGS.find(([limit]) => rest <= limit && limit < said);
  if (due) {
    [said] = due;
    document.getElementById("announcement").textContent = due[1];
  }
};

if ("ticks" in left.dataset) {
  show();
  setInterval(show, 1000);
}

const form = document.querySelector(".form form");
const cards = [...form.querySelectorAll(":scope > .part")];
const [back, next, send] = ["back", "next", "send"].map((id) => document.getElementById(id));
const progress = document.getElementById("progress");
const sections = new Map(); // the instructions of each question
let at = 0;

// The overviews before a question are a section's instructions, which fold after it.
const gather = () => {
  let section = null;
  let isOpen = false;
  for (const part of [...form.querySelectorAll(":scope > :is(.part, .overview)")]) {
    if (part.matches(".part")) {
      sections.set(part, section);
      isOpen = false;
    } else {
      if (!isOpen) {
        section = document.createElement("details");
        section.open = isOpen = true;
        const summary = document.createElement("summary");
        const title = part.querySelector("h2");
        summary.textContent = title?.textContent || texts.instructions;
        title?.remove();
        part.before(section);
        section.append(summary);
      }
      section.append(part);
    }
  }
};

const lay = (number) => {
  const passed = sections.get(cards[at]);
  if (passed && number > at) {
    passed.open = false;
  }
  at = number;
  cards.forEach((card, n) => { card.hidden = n !== at; });
  new Set(sections.values()).forEach((section) => {
    if (section) {
      section.hidden = section !== sections.get(cards[at]);
    }
  });
  const place = texts.place.replace("{number}", at + 1).replace("{total}", cards.length);
  progress.querySelector("span").textContent = place;
  progress.querySelector("progress").max = cards.length;
  progress.querySelector("progress").value = at + 1;
  back.disabled = at === 0;
  next.hidden = at === cards.length - 1;
  send.hidden = !next.hidden;
};

const go = (number) => {
  lay(number);
  window.scrollTo(0, 0);
  cards[at].focus({ preventScroll: true });
};
const firstInvalid = (among) => among.findIndex((card) => card.querySelector(":invalid"));
const complain = (number) => {
  if (number !== at) {
    lay(number);
  }
  cards[at].querySelector(":is(input, textarea, select):invalid").reportValidity();
};
const goOn = () => (cards[at].querySelector(":invalid") ? complain(at) : go(at + 1));

if (cards.length > 1) {
  gather();
  cards.forEach((card) => { card.tabIndex = -1; });
  progress.hidden = back.hidden = false;
  form.noValidate = true; // The browser cannot show what it complains about on a hidden card.
  next.addEventListener("click", goOn);
  back.addEventListener("click", () => go(at - 1));
  form.addEventListener("submit", (event) => {
    if (at < cards.length - 1) {
      event.preventDefault(); // Enter in a field goes on, too.
      goOn();
    } else if (firstInvalid(cards) >= 0) {
      event.preventDefault();
      complain(firstInvalid(cards));
    }
  });
  for (const link of document.querySelectorAll('.note a[href^="#"]')) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      go(cards.findIndex((card) => `#${card.id}` === link.hash));
    });
  }
  const wrong = cards.findIndex((card) => card.querySelector(".complaint"));
  const open = firstInvalid(cards);
  // After a reload, what was kept stands there again: go on at the first open question.
  lay(Math.max(0, wrong >= 0 ? wrong : open));
}
