// What a reader prefers, on every game: kept in a cookie, as the server's port changes from day to day.

const DEFAULTS = { pace: "calm", four: false, keys: true, forced: true, count: false, level: "" };
const PACES = { calm: 1, brisk: 0.45, instant: 0 };

function read() {
  const found = document.cookie.match(/(?:^|; )crib_preferences=([^;]*)/);
  try { return { ...DEFAULTS, ...JSON.parse(decodeURIComponent(found[1])) }; } catch { return { ...DEFAULTS }; }
}

export const preferences = read();

export function prefer(changes) {
  Object.assign(preferences, changes);
  const text = encodeURIComponent(JSON.stringify(preferences));
  document.cookie = `crib_preferences=${text}; max-age=31536000; path=/; SameSite=Strict`;
  apply();
}

export function apply() {
  document.documentElement.classList.toggle("four", preferences.four === true);
}

export const moves = () => !matchMedia("(prefers-reduced-motion: reduce)").matches && pace() > 0;
export const pace = () => PACES[preferences.pace] ?? 1;
