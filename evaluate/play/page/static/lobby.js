// The first screen: the levels, the choices for a new game, and the games that there are.

import { element, fault, find, offer } from "./parts.js";
import { prefer, preferences } from "./preferences.js";
import { closeProgress } from "./progress.js";
import { ask } from "./server_link.js";

let filled = false;

export async function openLobby() {
  find("against").textContent = "";
  document.title = "Cribbage";
  closeProgress();
  const lobby = await ask("lobby");
  if (lobby.resume && !filled) { filled = true; location.hash = lobby.resume; return; }
  if (!filled) fill(lobby);
  filled = true;
  find("new").hidden = false;
  find("lists").replaceChildren(...games("Go on with", lobby.waiting), ...games("Look again at", lobby.finished));
  warming(lobby.warm);
}

function fill({ levels, agents, offered }) {
  const form = find("new"), board = find("board").cloneNode(true);
  board.removeAttribute("id");
  board.querySelector("#pegs").remove();
  board.removeAttribute("role");
  board.setAttribute("aria-hidden", "true");
  find("lobby-board").replaceChildren(board);
  find("agents").replaceChildren(...agents.map(name => element("option", { value: name })));
  find("levels").append(...levels.map(level => element("label", { className: "level" },
    element("input", { type: "radio", name: "level", value: level.agent }),
    element("strong", {}, level.name), element("span", {}, level.says))));
  const isLevel = agent => levels.some(level => level.agent === agent);
  form.coach.replaceChildren(...[...find("settings").coach.options].map(one => one.cloneNode(true)));
  form.level.value = isLevel(preferences.level) && offered.first ? preferences.level : isLevel(offered.agent) ? offered.agent : levels.at(-1).agent;
  form.agent.value = isLevel(offered.agent) ? "" : offered.agent;
  form.dealer.value = offered.dealer;
  [form.own.value, form.theirs.value] = offered.scores;
  form.seed.value = offered.seed ?? "";
  offer(form.coach, offered.coach);
  form.practice.checked = offered.practice;
  find("more").open = Boolean(form.agent.value);
}

function games(title, list) {
  if (!list.length) return [];
  return [element("h2", {}, title), element("ul", { className: "games" }, ...list.map(row))];
}

function row(one) {
  const [own, other] = one.scores;
  return element("li", {},
    element("a", { href: `#${one.game}` },
      element("span", {}, element("strong", {}, one.name), ` ${own} : ${other}, deal ${one.deal}${one.day ? ` of ${one.day}` : one.imported ? ", imported" : one.practice ? ", practice" : ""}`),
      element("span", { className: "when" }, when(one.game))),
    deleting(one));
}

// Asks once more before it deletes.
function deleting(one) {
  const label = `delete the game against ${one.name} of ${when(one.game)}`;
  const made = element("button", { className: "delete", ariaLabel: label, onclick: async () => {
    if (made.textContent !== "Delete?") {
      made.textContent = "Delete?";
      made.ariaLabel = `really ${label}?`;
      return;
    }
    try {
      await ask("delete", { game: one.game });
      made.closest("li").remove();
    } catch (error) {
      fault(error);
    }
  } }, "×");
  made.addEventListener("blur", () => { made.textContent = "×"; made.ariaLabel = label; });
  return made;
}

// 20250131-201500 as people write it.
function when(game) {
  const [, year, month, day, hour, minute] = game.match(/(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)/);
  return new Date(year, month - 1, day, hour, minute).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

function warming(warm) {
  const says = `getting ${warm} ready. On the first start, and after an update, this can take a minute.`;
  find("warming").textContent = warm && (warm === "your opponent" ? says : `You can play; ${says}`);
  if (warm) setTimeout(async () => {
    if (!find("lobby").hidden) warming((await ask("lobby").catch(() => ({ warm: "" }))).warm);
  }, 1000);
}

// Sends what a form says, and goes to the game that comes of it.
async function begin(event, name, fields) {
  event.preventDefault();
  const button = event.target.querySelector("button");
  button.disabled = true;
  find("fault").hidden = true;
  try {
    location.hash = (await ask(name, fields)).game;
  } catch (error) {
    fault(error);
  } finally {
    button.disabled = false;
  }
}

find("import").addEventListener("submit", event => begin(event, "bring", { line: event.target.line.value.trim() }));
find("pair").addEventListener("submit", event => begin(event, "pair", { people: [event.target.first.value, event.target.second.value] }));
find("levels").addEventListener("change", () => { find("new").agent.value = ""; });
find("new").addEventListener("submit", event => {
  const form = event.target, seed = form.seed.value.trim();
  prefer({ level: form.level.value });
  begin(event, "new", {
    agent: form.agent.value.trim() || form.level.value, dealer: form.dealer.value, scores: [Number(form.own.value), Number(form.theirs.value)],
    seed: seed ? Number(seed) : null, practice: form.practice.checked, coach: form.coach.value,
  });
});
