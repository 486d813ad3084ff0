// The show: a hand counted aloud, line by line, with the cards of each line lit; or first by hand.

import { element, find, small, sentence, wait } from "./parts.js";
import { pace } from "./preferences.js";
import { score } from "./table.js";

const LINE = 850; // milliseconds
const MOST = 29; // points of a hand

const whose = (seat, names) => names[seat] === "you" ? "your" : `${names[seat]}’s`;
export const titleOf = (counted, names) => `${whose(counted.seat, names)} ${counted.crib ? "crib" : "hand"}`;

let counted = []; // hands of this show so far

// Nothing of a show stays in the page once the next deal has begun.
export function clearShow() {
  counted = [];
  find("show").replaceChildren();
}

// The line by line count; score and pegs go with it. At the end all cards are lit no more.
export async function countAloud(frame, names, say, slowness = pace()) {
  const hand = frame.counted, box = find("show"), { score: after, rear_peg: rear } = frame.sides[hand.seat];
  const start = after - hand.pegged, title = titleOf(hand, names), all = hand.items.map(item => item.said).join(", ") || "nothing";
  const total = element("strong", {}, "0"), list = element("ol", { className: hand.items.length > 5 ? "many" : "" });
  box.replaceChildren(
    element("h2", { className: `seat-${hand.seat}` }, title, " ", total), list,
    element("p", { className: "sofar" }, counted.length ? counted.join(" · ") : "\u00a0"));
  if (!hand.items.length) list.append(element("li", {}, "nothing"));
  let points = 0;
  for (const item of hand.items) {
    points += item.points;
    total.textContent = String(points);
    list.append(line(item));
    light(item.cards);
    if (slowness) score(hand.seat, rear, start + Math.min(points, hand.pegged));
    await wait(LINE * slowness);
  }
  total.textContent = String(hand.points);
  if (hand.pegged < hand.points) list.after(element("p", {}, `The game ends at 121: the peg needs only ${hand.pegged} of them.`));
  light([]);
  say(`${title}: ${all}: ${hand.points}`);
  counted.push(`${title} ${hand.points}`);
}

const line = item => element("li", {}, element("span", {}, ...item.cards.map(small)), element("span", { className: "what" }, item.said));

function light(cards) {
  const counting = cards.length > 0;
  find("table").classList.toggle("counting", counting);
  for (const card of document.querySelectorAll("#table .row .card, #starter .card")) {
    card.classList.toggle("lit", counting && cards.includes(card.dataset.card));
  }
}

let typed = "", forgets = 0; // the digits typed just now, and what forgets them

// Asks how much the person's hand is worth.
export function askPoints(hand, names, answer) {
  typed = "";
  const numbers = Array.from({ length: MOST + 1 }, (_, k) => element("button", { ariaLabel: `${k} points`, onclick: () => answer(k) }, String(k)));
  find("show").replaceChildren(
    element("h2", { className: `seat-${hand.seat}` }, titleOf(hand, names)),
    element("div", { id: "guess", role: "group", ariaLabel: "how many points" }, ...numbers));
}

// A digit goes to the number that it makes with the ones typed just before; Enter then presses it.
export function typePoints(digit) {
  clearTimeout(forgets);
  forgets = setTimeout(() => { typed = ""; }, 1200);
  typed = Number(typed + digit) <= MOST ? typed + digit : digit;
  [...find("guess").children].find(one => one.textContent === String(Number(typed)))?.focus({ preventScroll: true });
}

// What came of a count, beside the hand; nothing takes it away.
export function tellVerdict(text) {
  find("verdict")?.remove();
  if (text) find("said").before(element("p", { id: "verdict" }, sentence(text)));
}

// How a game has ended, in the place of its last hand.
export function showResult(frame, names) {
  const [own, other] = frame.sides.map(side => side.score), box = find("show"), hand = frame.counted;
  const won = own > other, title = Math.max(own, other) < 121 ? ["The deal is over ", `${own} : ${other}`] : [won && names[0] === "you" ? "You win " : `${names[won ? 0 : 1]} wins `, `${Math.max(own, other)} : ${Math.min(own, other)}`];
  const [skunk] = frame.caption.match(/(double )?skunk$/) ?? [];
  const short = hand && hand.pegged < hand.points ? `, of which the peg needed ${hand.pegged}` : "";
  const last = hand ? `${titleOf(hand, names)} was counted last: ${hand.points}${short}` : "the last points fell in the play";
  box.replaceChildren(element("div", { className: "result" },
    element("h2", { className: `seat-${won ? 0 : 1}` }, title[0], element("strong", {}, title[1])),
    skunk ? element("p", { className: "skunk" }, `${sentence(skunk).slice(0, -1)}!`) : "",
    element("p", {}, sentence(last))));
  box.hidden = false;
  find("laid").hidden = true;
  find("count").hidden = true;
}
