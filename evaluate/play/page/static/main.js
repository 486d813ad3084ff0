// Which of the two the page shows: the list of games, or the game that the address names.

import { openGame, closeGame } from "./game.js";
import { openLobby } from "./lobby.js";
import { fault, find, hurry } from "./parts.js";
import { apply } from "./preferences.js";

async function route() {
  const game = location.hash.slice(1);
  find("fault").hidden = true;
  find("lobby").hidden = Boolean(game);
  find("game").hidden = !game;
  closeGame();
  try {
    if (game) await openGame(game); else await openLobby();
  } catch (error) {
    fault(error);
  }
}

apply();
addEventListener("hashchange", route);
find("table").addEventListener("click", event => { if (!event.target.closest("button, input")) hurry(); });
route();
