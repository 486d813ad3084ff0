// Small pieces of the page: elements, faults, cards, waiting.

export const find = id => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

export function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Shows an error at the top of the page; what is none is not shown.
export function fault(error) {
  if (!(error instanceof Error)) return;
  find("fault").textContent = error.message;
  find("fault").hidden = false;
}

const RANKS = { A: "ace", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", T: "ten", J: "jack", Q: "queen", K: "king" };
const SUITS = { C: ["clubs", "♣"], D: ["diamonds", "♦"], H: ["hearts", "♥"], S: ["spades", "♠"] };

export const nameOf = card => card ? `${RANKS[card[0]]} of ${SUITS[card[1]][0]}` : "face-down card";

// "5♥": short, with the name for those who have the page read to them.
export function small(card) {
  const rank = card[0] === "T" ? "10" : card[0];
  const sign = element("span", { ariaHidden: "true" }, rank + SUITS[card[1]][1] + "\uFE0E");
  return element("span", { className: `small ${SUITS[card[1]][0]}` }, sign, element("span", { className: "unseen" }, nameOf(card)));
}

// Cards within a sentence: "5H" and "TD" become small cards.
export function withCards(text) {
  const line = document.createDocumentFragment();
  for (const part of text.split(/\b([A2-9TJQK][CDHS])\b/)) line.append(/^[A2-9TJQK][CDHS]$/.test(part) ? small(part) : part);
  return line;
}

export function face(card) {
  return drawn("svg", { viewBox: "0 0 84 118", "aria-hidden": "true" }, drawn("use", { href: `#${card || "back"}` }));
}

export function picture(card, classes = "", label = nameOf(card)) {
  const made = element("span", { className: `card ${classes}`, role: "img", ariaLabel: label }, face(card));
  if (card) made.dataset.card = card;
  return made;
}

// Chooses a value of a list, which has it from now on.
export function offer(list, value) {
  if (![...list.options].some(option => option.value === value)) list.append(new Option(NAMED[value] ?? value, value));
  list.value = value;
}
const NAMED = { before: "before each card too", deal: "at the end of the deal" }; // of the command line

export const sentence = text => text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "";

// Waiting, until somebody is in a hurry.
let hurried = () => {};
export const hurry = () => hurried();
export const wait = milliseconds => milliseconds <= 0 ? Promise.resolve() : new Promise(done => {
  const timer = setTimeout(done, milliseconds);
  hurried = () => { clearTimeout(timer); done(); };
});
