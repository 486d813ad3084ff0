// What the page shows: the list of games, the lesson, or the game that the address names.

import { closeGame, goOn, openGame } from "./game.js";
import { closeLesson, openLesson } from "./lesson.js";
import { openLobby } from "./lobby.js";
import { fault, find } from "./parts.js";
import { apply } from "./preferences.js";
import { ask } from "./server_link.js";

const LESSON = "lesson";
const BEGUN = { today: () => ask("today"), replay: line => ask("bring", { line }) }; // what the address may name in place of a game

async function route() {
  const [game, ...rest] = location.hash.slice(1).split("/"); // of a game, the moment to look at, and the game it comes from; of a lesson, its theme
  find("fault").hidden = true;
  const begins = Object.hasOwn(BEGUN, game);
  find("lobby").hidden = Boolean(game) && !begins;
  find("lesson").hidden = game !== LESSON;
  find("game").hidden = !game || game === LESSON || begins;
  closeGame();
  closeLesson();
  try {
    if (begins) await BEGUN[game](...rest).then(found => location.replace(`#${found.game}`), async error => { await openLobby(); throw error; });
    else if (game === LESSON) await openLesson(...rest.map(decodeURIComponent)); else if (game) await openGame(game, ...rest); else await openLobby();
  } catch (error) {
    fault(error);
  }
}

apply();
addEventListener("hashchange", route);
find("table").addEventListener("click", event => { if (!event.target.closest("button, a, #line")) goOn(); });
route();
