// The games that there are, and the form for a new one.

import { element, fault, find } from "./parts.js";
import { ask } from "./server_link.js";

let filled = false;

export async function openLobby() {
  find("against").textContent = "";
  document.title = "Cribbage";
  const lobby = await ask("lobby");
  if (lobby.resume && !filled) { filled = true; location.hash = lobby.resume; return; }
  const form = find("new");
  find("agents").replaceChildren(...lobby.agents.map(name => element("option", { value: name })));
  if (!filled) {
    const offered = lobby.offered;
    form.agent.value = offered.agent;
    form.dealer.value = offered.dealer;
    [form.own.value, form.theirs.value] = offered.scores;
    form.seed.value = offered.seed ?? "";
    form.coach.value = offered.coach;
    form.counts.checked = offered.counts;
    form.practice.checked = offered.practice;
    filled = true;
    form.hidden = false;
  }
  find("lists").replaceChildren(...games("Go on with", lobby.waiting), ...games("Look again at", lobby.finished));
  warming(lobby.warm);
}

function games(title, list) {
  if (!list.length) return [];
  return [
    element("h2", {}, title),
    element("ul", { className: "games" }, ...list.map(one => element("li", {}, element("a", { href: `#${one.game}` },
      element("strong", {}, one.agent), ` ${when(one.game)}, ${one.cards} cards${one.practice ? ", practice" : ""}`)))),
  ];
}

// 20250131-201500 as people write it.
function when(game) {
  const [, year, month, day, hour, minute] = game.match(/(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)/);
  return new Date(year, month - 1, day, hour, minute).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

function warming(isWarm) {
  find("warming").textContent = isWarm ? "" : "Getting ready: on the first start, and after an update, this can take a minute.";
  if (!isWarm) setTimeout(async () => {
    if (!find("lobby").hidden) warming((await ask("lobby").catch(() => ({ warm: true }))).warm);
  }, 1000);
}

find("new").addEventListener("submit", async event => {
  event.preventDefault();
  const form = event.target, button = form.querySelector("button");
  button.disabled = true;
  find("fault").hidden = true;
  try {
    const seed = form.seed.value.trim();
    const begun = await ask("new", {
      agent: form.agent.value.trim(), dealer: form.dealer.value, scores: [Number(form.own.value), Number(form.theirs.value)],
      seed: seed ? Number(seed) : null, practice: form.practice.checked, coach: form.coach.value, counts: form.counts.checked,
    });
    location.hash = begun.game;
  } catch (error) {
    fault(error);
  } finally {
    button.disabled = false;
  }
});
