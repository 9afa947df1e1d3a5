// What the page asks the server. The session is a cookie that no script can read; the token, which
// only this page has, goes with each question, so that no other site can ask in its name.

let token;

/** What the server refused, in its words. */
export class Refusal extends Error {
  constructor(status, error) {
    super(error?.message ?? `The server answered with status ${status}.`);
    this.status = status;
    this.line = error?.line;
  }
}

async function ask(method, path, body, type) {
  const headers = { Accept: "application/json" };
  if (token) headers["Push-Fanout-CSRF"] = token;
  if (body !== undefined) headers["Content-Type"] = type;
  let response;
  try {
    response = await fetch(path, {
      method, headers, body, credentials: "same-origin", cache: "no-store", redirect: "error",
    });
  } catch {
    throw new Refusal(0, { message: "The server does not answer. Check that it runs, and try again." });
  }
  const text = await response.text();
  let answer;
  try {
    answer = text === "" ? undefined : JSON.parse(text);
  } catch {
    throw new Refusal(response.status);
  }
  if (!response.ok) throw new Refusal(response.status, answer?.error);
  return answer;
}

function begun(session) {
  token = session.csrf;
  return session;
}

export const session = async () => begun(await ask("GET", "/page/session"));

export const logIn = async (key, app) =>
  begun(await ask("POST", "/page/session", JSON.stringify({ app, key }), "application/json"));

export async function logOut() {
  await ask("DELETE", "/page/session");
  token = undefined;
}

/** The answer for a user; by other settings where lines of them are given. */
export const inspect = (user, message, records = []) =>
  ask("POST", `/page/inspect?user=${encodeURIComponent(user)}`,
    [message, ...records].join("\n"), "application/x-ndjson");

/** How many members have which outcome, and the first of them. */
export const conversation = (message) =>
  ask("POST", "/page/conversation", message, "application/x-ndjson");
