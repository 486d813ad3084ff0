// Messages to the server: one POST each, answered by JSON.

export const SITE = ""; // nobody else can open this page

export class Refused extends Error {
  constructor(text, status) { super(text); this.status = status; }
}

export async function ask(name, message = {}) {
  let answer;
  try {
    answer = await fetch(`do/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
    });
  } catch {
    throw new Refused("The server has ended. Your game is kept: start it again with  make play  and go on.", 0);
  }
  const found = await answer.json().catch(() => ({ error: `the server has answered ${answer.status}` }));
  if (!answer.ok) throw new Refused(found.error, answer.status);
  return found;
}
