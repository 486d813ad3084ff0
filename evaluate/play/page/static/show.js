// The show: a hand counted aloud, line by line, with the cards of each line lit; or first by hand.

import { element, find, small, wait } from "./parts.js";
import { pace } from "./preferences.js";

const LINE = 850; // milliseconds

const whose = (seat, names) => names[seat] === "you" ? "your" : `${names[seat]}’s`;
export const titleOf = (counted, names) => `${whose(counted.seat, names)} ${counted.crib ? "crib" : "hand"}`;

// The line by line count. At the end all cards are lit no more.
export async function countAloud(frame, names, say, slowness = pace()) {
  const { counted } = frame, box = find("show");
  const total = element("strong", {}, "0");
  const list = element("ol", { className: counted.items.length > 5 ? "many" : "" });
  box.replaceChildren(element("h2", { className: `seat-${counted.seat}` }, titleOf(counted, names), " ", total), list);
  if (!counted.items.length) list.append(element("li", {}, "nothing"));
  let points = 0;
  for (const item of counted.items) {
    points += item.points;
    total.textContent = String(points);
    list.append(line(item));
    light(item.cards);
    await wait(LINE * slowness);
  }
  total.textContent = String(counted.points);
  if (counted.pegged < counted.points - counted.missed) list.after(element("p", {}, `The game ends at 121: the peg needs only ${counted.pegged} of them.`));
  light([]);
  const all = counted.items.map(item => item.said).join(", ") || "nothing";
  say(`${titleOf(counted, names)}: ${all}: ${counted.points}`);
}

const line = item => element("li", {}, element("span", {}, ...item.cards.map(small)), element("span", { className: "what" }, item.said));

function light(cards) {
  const counting = cards.length > 0;
  find("table").classList.toggle("counting", counting);
  for (const card of document.querySelectorAll("#table .row .card, #starter .card")) {
    card.classList.toggle("lit", counting && cards.includes(card.dataset.card));
  }
}

// Asks how much the person's hand is worth; or, after the other has counted its own, how much of it was missed.
export function askPoints(asks, names, say) {
  const isOwn = asks.said === null, name = names[asks.seat];
  const field = element("input", { type: "number", min: isOwn ? 0 : 1, max: 29, required: true, id: "guess", autocomplete: "off" });
  const form = element("form", { className: "guess" },
    element("h2", { className: `seat-${asks.seat}` }, ...isOwn ? [titleOf(asks, names)] : [`${name} counts the ${asks.crib ? "crib" : "hand"}: `, element("strong", {}, String(asks.said))]),
    element("label", { htmlFor: "guess" }, isOwn ? "How many points?" : "Missed:"), field,
    element("button", { className: isOwn ? "main" : "" }, isOwn ? "Count" : "Muggins!"));
  form.addEventListener("submit", event => { event.preventDefault(); say(Number(field.value)); });
  find("show").replaceChildren(form);
  if (isOwn) field.focus({ preventScroll: true });
}

// What came of a count, beside the hand; nothing takes it away.
export function tellVerdict(text) {
  find("verdict")?.remove();
  if (text) find("said").before(element("p", { id: "verdict" }, `${text[0].toUpperCase()}${text.slice(1)}.`));
}

// How a game has ended, in the place of its last hand.
export function showResult(frame, names) {
  const [own, other] = frame.sides.map(side => side.score), box = find("show"), { counted } = frame;
  const won = own > other, [skunk] = frame.caption.match(/a (double )?skunk$/) ?? [];
  const short = counted && counted.pegged < counted.points - counted.missed ? `, of which the peg needed ${counted.pegged}` : "";
  const last = counted ? `${titleOf(counted, names)} was counted last: ${counted.points}${short}.` : "The last points fell in the play.";
  box.replaceChildren(
    element("h2", { className: `seat-${won ? 0 : 1}` }, won && names[0] === "you" ? "You win " : `${names[won ? 0 : 1]} wins `, element("strong", {}, `${Math.max(own, other)} : ${Math.min(own, other)}`)),
    element("p", {}, `${skunk ? `A${skunk.slice(1)}. ` : ""}${last[0].toUpperCase()}${last.slice(1)}`));
  tellVerdict(counted?.told);
  box.hidden = false;
  find("laid").hidden = true;
}
