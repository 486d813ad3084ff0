// The show: a hand counted aloud, line by line, with the cards of each line lit; or first by the person.

import { element, find, small, wait } from "./parts.js";
import { pace } from "./preferences.js";

const LINE = 850; // milliseconds

export const titleOf = (counted, names) => counted.crib
  ? (counted.seat ? `${names[1]}’s crib` : "your crib") : (counted.seat ? `${names[1]}’s hand` : "your hand");

// The line by line count. At the end all cards are lit no more.
export async function countAloud(frame, names, say) {
  const { counted } = frame, box = find("show");
  const total = element("strong", {}, "0");
  const list = element("ol");
  box.replaceChildren(element("h2", { className: `seat-${counted.seat}` }, titleOf(counted, names), " ", total), list);
  if (!counted.items.length) list.append(element("li", {}, "nothing"));
  let points = 0;
  for (const item of counted.items) {
    points += item.points;
    total.textContent = String(points);
    list.append(line(item));
    light(item.cards);
    await wait(LINE * pace());
  }
  total.textContent = String(counted.points);
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

// Asks how much a hand is worth; what was missed, in a sentence.
export async function askCount(frame, names) {
  const { counted } = frame, box = find("show");
  const field = element("input", { type: "number", min: 0, max: 29, required: true, id: "guess", autocomplete: "off" });
  const form = element("form", { className: "guess" },
    element("h2", {}, titleOf(counted, names)),
    element("label", { htmlFor: "guess" }, "How many points?"), " ", field, " ",
    element("button", { className: "main" }, "Count"));
  box.replaceChildren(form);
  field.focus();
  const guess = await new Promise(done => form.addEventListener("submit", event => { event.preventDefault(); done(Number(field.value)); }));
  if (guess === counted.points) return `${guess} is right.`;
  if (guess > counted.points) return `${guess} is too many: it is ${counted.points}.`;
  return `Muggins! You counted ${guess} of ${counted.points} and missed ${counted.points - guess}.`;
}
