// Draws one moment of a game. It knows no rules: all that it shows is in the frame that the server has sent.

import { drawn, element, face, find, nameOf, picture } from "./parts.js";
import { moves, pace } from "./preferences.js";

const WIN = 121, HOP = 70; // milliseconds from one hole to the next

export function drawTable(frame, names, chosen = null) {
  const before = places();
  const holder = document.activeElement?.closest?.("#mine .hand") ? document.activeElement.dataset.card : null;
  side(find("theirs"), frame, 1, names, null);
  side(find("mine"), frame, 0, names, chosen);
  find("board").setAttribute("aria-label", `the board: ${names[0]} ${frame.sides[0].score}, ${names[1]} ${frame.sides[1].score}, to ${WIN}`);
  laid(frame, names);
  count(frame);
  starter(frame);
  find("show").hidden = !frame.counted;
  find("laid").hidden = !find("show").hidden;
  if (holder !== null) focusHand(holder);
  move(before, frame);
}

// The hand's button of a card, or else its first that may be chosen.
export function focusHand(card) {
  const buttons = [...document.querySelectorAll("#mine .hand button:not(:disabled)")];
  (buttons.find(button => button.dataset.card === card) ?? buttons[0])?.focus({ preventScroll: true });
}

// Where each hole is, from -1 to the last, of the upper lane and then of the lower one.
let holes = null;
function placeOf(seat, hole) {
  holes ??= [...find("board").querySelector(".holes").getAttribute("d").matchAll(/M(\S+) (\S+)h0/g)].map(([, x, y]) => `translate(${x}px, ${y}px)`);
  return holes[(seat ? 0 : WIN + 2) + hole + 1];
}

// Score and pegs of a seat. A peg that is to be the rear one stays where it is, and the other walks.
export function score(seat, rear, now) {
  const group = find("pegs"), plate = find(seat ? "theirs" : "mine").querySelector(".plate");
  if (!group.childElementCount) for (const k of [1, 1, 0, 0]) group.append(drawn("circle", { r: 8.5, class: `peg seat-${k}` }));
  const pegs = [...group.querySelectorAll(`.seat-${seat}`)], at = peg => Number(peg.dataset.hole);
  const stays = pegs.find(peg => at(peg) === rear) ?? pegs[0], walks = pegs.find(peg => peg !== stays), from = at(walks);
  stays.style.transform = placeOf(seat, stays.dataset.hole = rear);
  walks.style.transform = placeOf(seat, walks.dataset.hole = now);
  if (moves() && now > from && at(stays) === rear) {
    const steps = Array.from({ length: now - from + 1 }, (_, k) => ({ transform: placeOf(seat, from + k) }));
    walks.animate(steps, { duration: Math.min(900, HOP * steps.length) * pace() });
  }
  const old = Number(plate.dataset.score ?? now), points = plate.querySelector(".score");
  plate.dataset.score = now;
  if (points) points.textContent = String(now);
  if (now > old) {
    plate.querySelector(".gain")?.remove();
    plate.append(element("span", { className: "gain", ariaHidden: "true" }, `+${now - old}`));
  }
}

function side(row, frame, seat, names, chosen) {
  const one = frame.sides[seat];
  const [plate, hand, crib] = row.children;
  const shown = frame.counted?.crib && one.is_dealer ? frame.crib : one.hand; // the crib is counted in the dealer's hand
  // What the player says with a card: the count, and what it scores.
  const last = frame.mover === seat && frame.laid.at(-1)?.seat === seat ? frame.said.find(line => line.startsWith(`${names[seat]}: `)) : null;
  const says = one.says_go ? "go" : last ? last.split(", ").slice(1).join(", ").replace(/^(31|15), (?=thirty|fifteen)/, "") : "";
  plate.className = `plate seat-${seat}${one.acts ? " acts" : ""}`;
  plate.replaceChildren(
    element("span", { className: "name" }, names[seat]),
    element("span", { className: "score" }),
    element("span", { className: "pills" }, one.is_dealer ? element("span", { className: "pill" }, "dealer") : ""),
    says ? element("span", { className: "speech", ariaHidden: "true" }, says) : "");
  score(seat, one.rear_peg, one.score);
  if (seat === 0 && chosen) {
    hand.replaceChildren(...one.hand.map(card => element("button", {
      className: "card", type: "button", ariaLabel: nameOf(card), disabled: !one.legal.includes(card),
      ...(chosen.many ? { ariaPressed: String(chosen.cards.includes(card)) } : {}), "data-card": card,
    }, face(card))));
  } else {
    hand.replaceChildren(...shown.map(card => picture(card)));
  }
  if (seat === 1) hand.setAttribute("aria-label", `${names[1]} holds ${shown.length} cards`);
  if (seat === 1) hand.setAttribute("role", "group");
  const cards = one.is_dealer && !frame.counted?.crib ? frame.crib : [];
  crib.hidden = !cards.length;
  crib.replaceChildren(...cards.map(card => picture(card)), ...(cards.length ? [element("span", { className: "pill" }, "crib")] : []));
}

function laid(frame, names) {
  find("laid").replaceChildren(...frame.laid.map(one => {
    const points = one.points ? `, ${one.points} points` : "";
    const said = element("span", { className: "counted", ariaHidden: "true" }, String(one.count), one.points ? element("b", {}, ` +${one.points}`) : null);
    return element("li", { className: `seat-${one.seat}${one.is_past ? " past" : ""}` },
      picture(one.card, "", `${nameOf(one.card)} by ${names[one.seat]}, count ${one.count}${points}`), said);
  }));
}

function count(frame) {
  find("count").hidden = Boolean(frame.counted);
  find("count").replaceChildren(...frame.count === null ? [] : [element("span", { className: "label" }, "count"), element("strong", {}, String(frame.count))]);
}

function starter(frame) {
  const place = find("starter");
  place.hidden = frame.starter === null;
  if (frame.starter === null) return;
  const label = frame.starter ? `starter: ${nameOf(frame.starter)}` : "the deck, before the starter is cut";
  place.replaceChildren(element("span", { className: "deck" }, picture(frame.starter, "", label)), element("span", { className: "label" }, "starter"));
}

// Cards go from where they were to where they are.

function places() {
  const found = new Map();
  for (const card of document.querySelectorAll("#table [data-card]")) {
    if (!card.closest("[hidden]")) found.set(card.dataset.card, card.getBoundingClientRect());
  }
  const backs = [...document.querySelectorAll("#theirs .hand .card:not([data-card])")];
  if (backs.length) found.set("theirs", backs.at(-1).getBoundingClientRect());
  const deck = document.querySelector("#starter .card");
  if (deck) found.set("deck", deck.getBoundingClientRect());
  return found;
}

function move(before, frame) {
  if (!moves() || !before.size) return;
  const last = frame.laid.at(-1);
  for (const card of document.querySelectorAll("#table [data-card]")) {
    const now = card.getBoundingClientRect();
    let from = before.get(card.dataset.card);
    if (!from && card.closest("#laid") && last?.card === card.dataset.card) from = before.get("theirs");
    if (!from && card.closest("#mine .hand")) from = before.get("deck");
    if (!from || !now.width || (Math.abs(from.x - now.x) < 1 && Math.abs(from.y - now.y) < 1)) continue;
    card.animate([
      { transform: `translate(${from.x - now.x}px, ${from.y - now.y}px) scale(${from.width / now.width})`, transformOrigin: "0 0", zIndex: 5 },
      { transform: "none", transformOrigin: "0 0", zIndex: 5 },
    ], { duration: 320, easing: "cubic-bezier(.2,.7,.2,1)" });
  }
}
