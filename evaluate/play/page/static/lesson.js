// Lessons: positions of today, of a theme, or of a rush against the clock, each with its answer.

import { element, face, fault, find, nameOf, picture, withCards } from "./parts.js";
import { choices, told } from "./review.js";
import { ask } from "./server_link.js";

let lesson = null; // what the server said
let now = 0; // the position that is shown
let chosen = [];

export async function openLesson(theme = "") {
  find("against").textContent = theme === "rush" ? "a rush of discards" : theme || "lesson of the day";
  document.title = `Cribbage: ${find("against").textContent}`;
  find("lesson").replaceChildren(element("p", { role: "status" }, "The positions are being set …"));
  lesson = { theme, ...await ask("lesson", { theme }) };
  lesson.ends = Date.now() + 1000 * lesson.seconds;
  if (!lesson.positions.length) find("lesson").replaceChildren(element("p", {}, "Nothing of this theme is due today."), themes());
  else show(Math.max(0, lesson.positions.findIndex(one => !one.given)));
  if (lesson.seconds) tick(lesson);
}

// The clock of a rush, and its end.
function tick(of) {
  if (lesson !== of || !of.seconds) return;
  const left = Math.ceil((of.ends - Date.now()) / 1000);
  if (left <= 0) { endRush(); return; }
  find("clock").textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} · ${score(of.positions.filter(one => one.given))} right`;
  setTimeout(tick, 200, of);
}

function endRush() {
  const answered = lesson.positions.filter(one => one.given);
  Object.assign(lesson, { seconds: 0, positions: answered });
  now = -1;
  find("lesson").replaceChildren(steps(), element("div", { className: "felt", role: "status" }, element("h2", {}, "Time."),
    element("p", {}, `${score(answered)} right. Your best rush has ${lesson.best ?? 0}.`),
    element("button", { className: "main", onclick: () => openLesson("rush") }, "Once more")));
}

const score = positions => `${positions.filter(one => one.given?.right).length} of ${positions.length}`;

// What the person's own errors were about, as far as they are due.
function themes() {
  const due = Object.entries(lesson.due).filter(([, n]) => n);
  return due.length ? element("nav", { className: "positions", ariaLabel: "lessons by theme" }, "Of your own errors: ",
    ...due.map(([name, n]) => element("a", { className: "button", href: `#lesson/${encodeURIComponent(name)}` }, `${name}, ${n}`))) : "";
}

export function closeLesson() {
  lesson = null;
}

function show(k) {
  now = k;
  chosen = [];
  const one = lesson.positions[k], [own, other] = one.frame.sides;
  const hand = element("div", { className: "hand", role: "group", ariaLabel: "your hand" }, ...own.hand.map(card => element("button", {
    className: "card", type: "button", ariaLabel: nameOf(card), ariaPressed: "false", disabled: !own.legal.includes(card), "data-card": card, onclick: () => choose(card),
  }, face(card))));
  const send = element("button", { id: "send", className: "main", disabled: true, onclick: answer }, "Answer");
  find("lesson").replaceChildren(lesson.seconds ? "" : steps(),
    element("div", { className: "felt" },
      lesson.seconds ? element("h2", { id: "clock" }, find("clock")?.textContent) : element("h2", {}, `Position ${k + 1} of ${lesson.positions.length}`),
      element("p", {}, `${one.title}${lesson.theme === "rush" ? "" : ` You have ${own.score}, your opponent ${other.score}. `}${own.is_dealer ? "You deal: the crib is yours." : "Your opponent deals: the crib is theirs."}`),
      one.frame.laid.length || one.choose === 1 ? play(one.frame) : null,
      hand,
      element("p", { className: "ask" }, one.choose === 2 ? "Which two cards go to the crib?" : `Which card do you lay${one.frame.count ? ` on ${one.frame.count}` : ""}?`),
      send),
    element("div", { id: "answer", ariaLive: "polite" }, one.given ? element("p", {}, withCards(`Today you answered ${one.given.cards.join(" ")}: ${one.given.right ? "right" : "not the best"}. You may try again.`)) : null),
    lesson.seconds ? "" : themes());
  hand.querySelector("button:not(:disabled)")?.focus({ preventScroll: true });
}

// A button for each position, with what came of it.
function steps() {
  const mark = one => !one.given ? "" : one.given.right ? " ✓" : " ✗";
  const says = one => !one.given ? "" : one.given.right ? ", answered right" : ", not answered best";
  return element("nav", { className: "positions", ariaLabel: "positions" }, ...lesson.positions.map((one, k) =>
    element("button", { ariaLabel: `position ${k + 1}${says(one)}`, ...(k === now ? { "aria-current": "step" } : {}), className: one.given ? (one.given.right ? "right" : "wrong") : "", onclick: () => show(k) }, `${k + 1}${mark(one)}`)));
}

function play(frame) {
  const cards = frame.laid.map(one => element("li", { className: one.is_past ? "past" : "" },
    picture(one.card, "", `${nameOf(one.card)} by ${one.seat ? "your opponent" : "you"}, count ${one.count}`),
    element("span", {}, one.seat ? "they" : "you")));
  return element("div", { className: "before" },
    frame.starter ? element("div", {}, picture(frame.starter, "", `starter: ${nameOf(frame.starter)}`), element("span", {}, "starter")) : null,
    element("ol", { ariaLabel: "the play" }, ...cards), element("p", {}, `They hold ${frame.sides[1].hand.length}.`));
}

function choose(card) {
  const { choose: n } = lesson.positions[now];
  chosen = chosen.includes(card) ? chosen.filter(one => one !== card) : [...chosen, card].slice(-n);
  for (const made of document.querySelectorAll("#lesson .hand button")) made.ariaPressed = String(chosen.includes(made.dataset.card));
  const send = find("send");
  send.disabled = chosen.length !== n;
  send.replaceChildren(withCards(chosen.length === n ? `Answer ${chosen.join(" ")}` : "Answer"));
}

async function answer() {
  const of = lesson, one = of.positions[now], send = find("send");
  send.disabled = true;
  find("fault").hidden = true;
  try {
    const found = await ask("answer", { theme: of.theme, position: one.id, cards: chosen });
    if (lesson !== of || of.positions[now] !== one) return;
    one.given ||= { cards: chosen, right: found.right };
    of.best = found.best;
    if (of.seconds) {
      if (now + 1 < of.positions.length) show(now + 1); else endRush();
      return;
    }
    find("lesson").querySelector(".positions").replaceWith(steps());
    find("answer").replaceChildren(...answered(found, one));
    find("answer").firstChild.scrollIntoView({ block: "nearest" });
  } catch (error) {
    fault(error);
  } finally {
    send.disabled = false;
  }
}

function answered({ right, note, choices: found, published }, one) {
  const next = of => of.positions.findIndex((other, k) => k > now && !other.given);
  const then = next(lesson) < 0 ? lesson.positions.findIndex(other => !other.given) : next(lesson);
  return [
    element("h2", {}, right ? "Right." : "Not the best."),
    element("ol", { className: "notes" }, told(note, { over: false })),
    published.length ? element("p", {}, "Published answers: ", ...published.flatMap(([ranks, people], k) => [k ? "; " : "", element("strong", {}, ranks), ` by ${people.join(", ")}`]), ".") : null,
    then >= 0 ? element("button", { id: "next", className: "main", onclick: () => show(then) }, "Next position")
      : element("p", {}, `You have answered ${score(lesson.positions)} as well as can be.${lesson.theme ? "" : " There are new positions tomorrow."}`),
    choices(found),
  ].filter(Boolean);
}
