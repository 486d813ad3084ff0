// The lesson of a day: ten positions, each with its answer.

import { element, face, fault, find, nameOf, picture, withCards } from "./parts.js";
import { choices, told } from "./review.js";
import { ask } from "./server_link.js";

let lesson = null; // what the server said
let now = 0; // the position that is shown
let chosen = [];

export async function openLesson() {
  find("against").textContent = "lesson of the day";
  document.title = "Cribbage: lesson of the day";
  const box = find("lesson");
  box.replaceChildren(element("p", { role: "status" }, "The positions are being set …"));
  lesson = await ask("lesson");
  show(Math.max(0, lesson.positions.findIndex(one => !one.given)));
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
  find("lesson").replaceChildren(steps(),
    element("div", { className: "felt" },
      element("h2", {}, `Position ${k + 1} of ${lesson.positions.length}`),
      element("p", {}, `${one.title}. You have ${own.score}, your opponent ${other.score}. ${own.is_dealer ? "You deal: the crib is yours." : "Your opponent deals: the crib is theirs."}`),
      one.frame.laid.length || one.choose === 1 ? play(one.frame) : null,
      hand,
      element("p", { className: "ask" }, one.choose === 2 ? "Which two cards go to the crib?" : `Which card do you lay${one.frame.count ? ` on ${one.frame.count}` : ""}?`),
      send),
    element("div", { id: "answer", ariaLive: "polite" }, one.given ? element("p", {}, withCards(`Today you answered ${one.given.cards.join(" ")}: ${one.given.right ? "right" : "not the best"}. You may try again.`)) : null));
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
    const found = await ask("answer", { position: one.id, cards: chosen });
    if (lesson !== of || of.positions[now] !== one) return;
    one.given ||= { cards: chosen, right: found.right };
    find("lesson").firstChild.replaceWith(steps());
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
  const score = `${lesson.positions.filter(other => other.given?.right).length} of ${lesson.positions.length}`;
  return [
    element("h2", {}, right ? "Right." : "Not the best."),
    element("ol", { className: "notes" }, told(note, { over: false })),
    published.length ? element("p", {}, "Published answers: ", ...published.flatMap(([ranks, people], k) => [k ? "; " : "", element("strong", {}, ranks), ` by ${people.join(", ")}`]), ".") : null,
    then >= 0 ? element("button", { id: "next", className: "main", onclick: () => show(then) }, "Next position")
      : element("p", {}, `You have answered ${score} as well as can be. There are new positions tomorrow.`),
    choices(found),
  ].filter(Boolean);
}
