// The coach: the line of the chance to win, notes on decisions, hints, and the review of a finished game.

import { drawn, element, find, withCards } from "./parts.js";
import { ask } from "./server_link.js";

let open = null; // the game, as it was when the coach was asked
const SPEAKS = {
  on: "After each of your decisions you read here what it cost, and what was best.",
  before: "Before each of your decisions the coach says what it would do, and afterwards what yours cost.",
  blunders: "The coach speaks up when a decision costs you 2 % points to win or more.",
  deal: "The coach speaks at the end of the deal.",
  off: "The coach is silent until the end of the game.",
};
const percent = chance => `${(100 * chance).toFixed(1)} %`;

export function closeCoach() {
  open = null;
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
  if (game.over) await review(game, panel);
  else if (!found.notes.length) panel.append(element("p", {}, SPEAKS[game.coach]));
  if (open !== game) return;
  const notes = game.over ? found.notes.filter(note => note.why) : found.notes.slice(-12);
  talk(game.over ? "Look through the game with the coach" : notes.length ? `${notes.at(-1).text} ${notes.at(-1).why}` : panel.lastChild.textContent);
  if (game.coach === "before" && game.choose) ask("hint", { game: game.game, at: game.at }).then(hint => open === game && showHint(hint), () => {});
  if (game.over && notes.length) panel.append(element("h3", {}, "All that cost anything"));
  panel.append(element("ol", { className: "notes", ariaLive: game.over ? "off" : "polite" }, ...(game.over ? notes : notes.reverse()).map(note => told(note, game))));
  panel.append(element("p", { className: "judge" }, found.how));
}

function told(note, game, button = false) {
  return element("li", { className: `note ${note.size}` },
    element("p", {}, withCards(game.over || button ? `Deal ${note.deal}. ${note.text}` : note.text)),
    note.why ? element("p", { className: "why" }, withCards(note.why)) : null,
    button ? element("button", { onclick: () => game.again(note.at) }, "What if … try it again") : null);
}

async function review(game, panel) {
  panel.append(element("p", { role: "status" }, "The coach is looking through the game …"));
  const found = await ask("review", { game: game.game }).catch(error => ({ error }));
  if (open !== game) return;
  panel.lastChild.remove();
  if (found.error) { panel.append(element("p", {}, found.error.message)); return; }
  const cells = (tag, row) => row.map((cell, k) => element(k ? tag : "th", k ? {} : { scope: "row" }, cell));
  panel.append(element("table", {},
    element("thead", {}, element("tr", {}, element("td", {}), element("th", { scope: "col" }, "you"), element("th", { scope: "col" }, game.name))),
    element("tbody", {}, ...found.rows.map(row => element("tr", {}, ...cells("td", row))))));
  panel.append(element("h3", {}, found.costliest.length ? "The costliest moments" : "No decision of yours cost anything."));
  panel.append(element("ol", { className: "notes" }, ...found.costliest.map(note => told(note, game, true))));
}

export function showHint(hint) {
  const panel = find("notes");
  panel.querySelector(".hint")?.remove();
  const box = element("div", { className: "note hint", role: "status" },
    element("p", {}, withCards(`Hint: ${hint.cards.join(" ")}, ${percent(hint.chance)} to win.`)),
    element("p", { className: "why" }, withCards(hint.why)));
  panel.querySelector("h2")?.after(box);
  talk(box.textContent);
  box.scrollIntoView({ block: "nearest" });
  for (const card of document.querySelectorAll("#mine .hand [data-card]")) card.classList.toggle("hinted", hint.cards.includes(card.dataset.card));
}

const WIDTH = 960, HEIGHT = 64, LEFT = 40, RIGHT = 900;

function drawLine(points) {
  const box = find("line");
  box.replaceChildren();
  if (points.length < 1) return;
  const deals = Math.max(4, Math.ceil(points.at(-1)[0] + 0.01));
  const x = deal => LEFT + (RIGHT - LEFT) * deal / deals, y = chance => 6 + (HEIGHT - 12) * (1 - chance);
  const last = points.at(-1), path = points.map(([deal, chance]) => `${x(deal).toFixed(1)} ${y(chance).toFixed(1)}`).join("L");
  const marks = [];
  for (let deal = 1; deal < deals; deal++) marks.push(`M${x(deal)} 6V${HEIGHT - 6}`);
  box.append(drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `your chance to win: ${percent(last[1])}` },
    drawn("path", { class: "marks", d: marks.join("") }),
    drawn("path", { class: "half", d: `M${LEFT} ${y(0.5)}H${RIGHT}` }),
    drawn("path", { class: "under", d: `M${x(points[0][0])} ${y(0)}L${path}L${x(last[0])} ${y(0)}Z` }),
    drawn("path", { class: "chance", d: `M${path}` }),
    drawn("path", { class: "dot", d: `M${x(last[0])} ${y(last[1])}h0` })),
  element("span", { className: "now", ariaHidden: "true" }, "chance to win ", element("strong", {}, percent(last[1]))));
}
