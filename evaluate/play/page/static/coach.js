// The coach: the line of the chance to win, notes on decisions, hints, and the review of a finished game.

import { drawLine, percent } from "./line.js";
import { element, find, withCards } from "./parts.js";
import { because, closeReview, openReview, told } from "./review.js";
import { ask } from "./server_link.js";

let open = null; // the game, as it was when the coach was asked
const SPEAKS = {
  on: "After each of your decisions you read here what it cost, and what was best.",
  before: "Before each of your decisions you read what the coach would do.",
  blunders: "The coach speaks up when a decision costs you 2 % points to win or more.",
  deal: "The coach speaks at the end of the deal.",
  off: "The coach is silent until the end of the game.",
};

export function closeCoach() {
  open = null;
  closeReview();
  find("notes").replaceChildren();
  find("line").replaceChildren();
  talk("Coach");
  find("talk").setAttribute("aria-expanded", "false");
}

// The line of the coach that shows while its sheet is down, on a phone.
function talk(text) {
  find("talk").replaceChildren(element("span", {}, withCards(text)));
}
find("talk").addEventListener("click", () => {
  const made = find("talk");
  made.setAttribute("aria-expanded", String(made.getAttribute("aria-expanded") !== "true"));
});

// Asks the coach about a game, and shows what it says.
export async function openCoach(game) {
  open = game;
  const found = await ask("notes", { game: game.game }).catch(() => null);
  if (!found || open !== game) return;
  drawLine(found.line);
  const panel = find("notes");
  panel.replaceChildren(element("h2", {}, "Coach"));
  if (!found.warm) {
    panel.append(element("p", {}, "The coach is getting ready: on the first start, and after an update, this can take a minute."));
    setTimeout(() => { if (open === game) openCoach(game); }, 1500);
    return;
  }
  if (game.over) await openReview(game, found, panel, talk, game.at);
  else if (!found.notes.length) panel.append(element("p", {}, SPEAKS[game.coach]));
  if (open !== game) return;
  const notes = game.over ? found.notes.filter(note => note.why) : found.notes.slice(-12);
  talk(game.over ? "Look through the game with the coach" : notes.length ? `${notes.at(-1).text} ${notes.at(-1).why}` : panel.lastChild.textContent);
  if (game.coach === "before" && game.choose) ask("hint", { game: game.game, at: game.at }).then(hint => open === game && showHint(hint), () => {});
  if (game.over && notes.length) panel.append(element("h3", {}, "All that cost anything"));
  panel.append(element("ol", { className: "notes", ariaLive: game.over ? "off" : "polite" }, ...(game.over ? notes : notes.reverse()).map(note => told(note, game))));
  panel.append(element("p", { className: "judge" }, found.how));
}

export function showHint(hint) {
  const panel = find("notes");
  panel.querySelector(".hint")?.remove();
  const box = element("div", { className: "note hint", role: "status" },
    element("p", {}, withCards(`Hint: ${hint.cards.join(" ")}, ${percent(hint.chance)} to win.`)),
    ...because(hint));
  panel.querySelector("h2")?.after(box);
  talk(`${box.firstChild.textContent} ${hint.why}`);
  box.scrollIntoView({ block: "nearest" });
  for (const card of document.querySelectorAll("#mine .hand [data-card]")) card.classList.toggle("hinted", hint.cards.includes(card.dataset.card));
}
