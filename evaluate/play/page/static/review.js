// The review of a finished game: step through it, see what each decision could have been, and share it.

import { drawLine } from "./line.js";
import { element, fault, find, sentence, withCards } from "./parts.js";
import { ask, SITE } from "./server_link.js";
import { clearShow, countAloud, tellVerdict } from "./show.js";
import { drawTable } from "./table.js";

let open = null; // { game, notes by at, frames, now, line, marks, talk }

export function closeReview() {
  open = null;
  find("steps").hidden = true;
}

// A reason in one sentence, which unfolds into its figures.
export function because({ why, figures }) {
  const said = element("p", { className: "why" }, withCards(why));
  return figures ? [said, element("details", { className: "why" }, element("summary", {}, "Why"), element("p", {}, withCards(figures)))] : [said];
}

export function told(note, game, button = false) {
  const named = game.over ? `Deal ${note.deal}. ` : "";
  return element("li", { className: `note ${note.size}` },
    element("p", {}, withCards(named + note.text)),
    ...(note.why ? because(note) : []),
    game.over && !button ? element("button", { onclick: () => goTo(note.at) }, "Show it") : null,
    button && !game.people ? element("button", { onclick: () => game.again(note.at) }, "What if … try it again") : null);
}

export async function openReview(game, said, panel, talk, at) {
  const waiting = element("p", { role: "status" }, "The coach is looking through the game …");
  panel.append(waiting);
  const found = await ask("review", { game: game.game }).catch(error => ({ error }));
  if (!panel.contains(waiting)) return;
  waiting.remove();
  if (found.error) { panel.append(element("p", {}, found.error.message)); return; }
  const errors = new Map(said.notes.filter(note => note.size !== "best").map(note => [note.at, note.size]));
  open = { game, talk, line: said.line, frames: found.frames, now: found.frames.length, notes: new Map(said.notes.map(note => [note.at, note])), marks: { luck: found.luck, errors, pick: goTo } };
  drawLine(open.line, open.marks);
  find("steps").hidden = false;
  panel.append(element("div", { id: "step" }), summary(found.rows, game),
    element("p", { className: "figures" }, "Chances are those between two equal, strong players, and errors and luck are measured by them. On the line dots are your errors, bars the luck of each deal. Click it, or use the arrows, to look at a moment."),
    element("h3", {}, found.costliest.length ? "The costliest moments" : "No decision of yours cost anything."),
    element("ol", { className: "notes" }, ...found.costliest.map(note => told(note, game, true))), sharing(game));
  if (at < found.frames.at(-1).at) goTo(at);
}

function summary(rows, { you, name }) {
  const cells = row => row.map((cell, k) => element(k ? "td" : "th", k ? {} : { scope: "row" }, cell));
  return element("table", {},
    element("thead", {}, element("tr", {}, element("td", {}), element("th", { scope: "col" }, you), element("th", { scope: "col" }, name))),
    element("tbody", {}, ...rows.map(row => element("tr", {}, ...cells(row)))));
}

// The moment before the card of this number.
function goTo(at) {
  if (open) step(open.frames.findLastIndex(frame => frame.at <= at));
}

async function step(to) {
  const review = open, { game, frames, notes } = review, k = Math.max(0, Math.min(frames.length, to)), frame = frames[k];
  review.now = k;
  if (!frame) {
    game.showEnd();
    drawLine(review.line, review.marks);
    find("step").replaceChildren();
    return;
  }
  drawTable(frame, [game.you, game.name]);
  tellVerdict("");
  clearShow();
  if (frame.counted) countAloud(frame, [game.you, game.name], () => {}, 0);
  find("said").textContent = [...frame.said.some(one => one.startsWith("deal")) ? [] : [`deal ${frame.deal}`], ...frame.said].map(sentence).join(" ");
  drawLine(review.line, { ...review.marks, at: frame.at });
  const note = frames[k + 1]?.at === frame.at ? null : notes.get(frame.at);
  find("step").replaceChildren();
  find("step").ariaBusy = String(Boolean(note));
  if (!note) return;
  review.talk(`${note.text} ${note.why}`);
  const found = await ask("choices", { game: game.game, at: frame.at }).catch(fault);
  if (open !== review || review.now !== k) return;
  find("step").ariaBusy = "false";
  if (!found) return;
  find("step").replaceChildren(element("h3", {}, "What you could do here"), choices(found), SITE ? "" : rollout({ game: game.game, at: frame.at }), element("ol", { className: "notes" }, told(note, game, true)));
}

// A button that rolls the choices out, and stops; what is known so far grows below it.
function rollout(message) {
  const table = element("div"), button = element("button", { onclick: () => { goes ? goes = false : run(); } }, "Roll out");
  let goes = false;
  async function run() {
    goes = true;
    button.textContent = "Stop";
    try {
      while (goes && button.isConnected) {
        const found = await ask("roll", { ...message, on: true });
        goes &&= found.goes_on;
        table.replaceChildren(found.rows.length ? choices(found) : element("p", { role: "status" }, "Both seats play on …"),
          element("p", { className: "figures" }, "Each choice played on by Best in both seats, with cards that your opponent may have held. Intervals are of 95 %."));
        await new Promise(done => setTimeout(done, 400));
      }
      await ask("roll", { ...message, on: false });
    } catch (error) { fault(error); }
    goes = false;
    button.textContent = "Roll out";
  }
  return element("div", { className: "rollout" }, button, table);
}

export function choices({ columns, rows }) {
  const head = element("tr", {}, element("th", { scope: "col" }, "cards"), ...columns.map(name => element("th", { scope: "col" }, name)));
  return element("table", { className: "choices" }, element("thead", {}, head), element("tbody", {}, ...rows.map(row =>
    element("tr", { className: row.chosen ? "chosen" : "" }, element("th", { scope: "row" }, withCards(row.cards.join(" ")), row.chosen ? element("span", { className: "unseen" }, " yours") : ""), ...row.cells.map(cell => element("td", {}, cell))))));
}

function sharing(game) {
  const box = element("details", { className: "share" }, element("summary", {}, "Share this game"));
  box.addEventListener("toggle", async () => {
    if (!box.open || box.children.length > 1) return;
    const found = await ask("share", { game: game.game }).catch(fault);
    if (!found) return;
    const link = SITE ? "as a link" : "as the end of a link, after the address of a table without a server";
    const shown = [["as text, for people", found.text], ["as a line, to import it", found.line], [link, found.code && `${SITE}#replay/${found.code}`]];
    box.append(...shown.filter(([, text]) => text).map(([label, text]) => field(label, text, text.includes("\n") ? Math.min(12, text.split("\n").length + 1) : 3)));
  });
  return box;
}

function field(label, text, rows) {
  const area = element("textarea", { readOnly: true, rows, value: text, spellcheck: false });
  const copy = element("button", { type: "button", onclick: () => { area.select(); navigator.clipboard?.writeText(text).then(() => { copy.textContent = "Copied"; }, fault); } }, "Copy");
  return element("div", {}, element("label", {}, label, area), copy);
}

const MOVES = { first: () => 0, back: () => open.now - 1, forth: () => open.now + 1, last: () => open.frames.length };
for (const [id, to] of Object.entries(MOVES)) find(`step-${id}`).addEventListener("click", () => open && step(to()));
document.addEventListener("keydown", event => {
  if (!open || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  const id = { ArrowLeft: "back", ArrowRight: "forth", Home: "first", End: "last" }[event.key];
  if (id) { event.preventDefault(); step(MOVES[id]()); }
});
