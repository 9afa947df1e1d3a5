// The page: login, the question, its answer, and what if.
import * as answers from "./answer.js";
import { byID, make, scrolling, table } from "./dom.js";
import * as question from "./question.js";
import * as server from "./server.js";
import * as times from "./times.js";
import * as week from "./week.js";
import { WhatIf } from "./whatif.js";

const form = byID("question");
const whatIf = new WhatIf(byID("settings-fields"), byID("records"));
/** The last answer, and the question that it is to. */
let shown;

const say = (text) => { byID("status").textContent = text; };

function complain(error) {
  const box = byID("problem");
  const where = error.line > 1 ? ` (settings, line ${error.line - 1})` : "";
  box.textContent = error.message + where;
  box.hidden = false;
  say("");
  error.field?.focus();
}

/** Runs a step with its buttons disabled; what goes wrong is said, and a session that is over asks for the key again. */
async function step(buttons, text, body) {
  byID("problem").hidden = true;
  say(text);
  for (const button of buttons) button.setAttribute("aria-disabled", "true");
  try {
    await body();
  } catch (error) {
    if (error instanceof server.Refusal && error.status === 401) begin();
    if (!(error instanceof server.Refusal) && !(error instanceof question.Unfinished)) console.error(error);
    complain(error);
  } finally {
    for (const button of buttons) button.removeAttribute("aria-disabled");
  }
}

/** Does a form's step when it is submitted, one at a time. */
function onSubmit(form, text, body) {
  const button = form.querySelector("button[type=submit]");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled") !== "true") step([button], text, body);
  });
}

function begin() {
  byID("work").hidden = true;
  byID("session").hidden = true;
  byID("login-part").hidden = false;
  for (const id of ["answer", "week", "members", "compared"]) byID(id).replaceChildren();
  byID("key").value = "";
  byID("key").focus();
}

function enter(session) {
  byID("login-part").hidden = true;
  byID("work").hidden = false;
  byID("session").hidden = false;
  byID("who").textContent = `Logged in with the key ${session.name}, app ${session.app}`;
  for (const part of document.querySelectorAll("[data-rules]")) part.hidden = part.dataset.rules !== session.rules;
  form.elements.zone.value ||= session.timeZone;
  const zones = Intl.supportedValuesOf?.("timeZone") ?? [];
  byID("zones").replaceChildren(...zones.map((zone) => make("option", { value: zone })));
  form.elements.conversation.focus();
}

const parts = ["members-part", "answer-part", "week-part", "whatif-part"];

function reveal(...names) {
  for (const part of parts) byID(part).hidden = !names.includes(part);
}

async function explain() {
  const asked = question.read(form);
  if (asked.user === "") return explainAll(asked);
  const answer = await server.inspect(asked.user, asked.line);
  shown = { answer, asked };
  byID("answer").replaceChildren(answers.decision(answer), answers.steps(answer));
  byID("week").replaceChildren(week.figure(answer, "Outcomes of the coming week"));
  byID("compared").replaceChildren();
  whatIf.take(answer);
  reveal("answer-part", "week-part", "whatif-part");
  say(`${answers.headline(answer)} ${answer.explanation.steps.length} steps.`);
  byID("answer-heading").focus();
}

async function explainAll(asked) {
  const found = await server.conversation(asked.line);
  for (const id of ["answer", "week", "compared"]) byID(id).replaceChildren();
  byID("members").replaceChildren(...answers.members(found, (user) => {
    form.elements.user.value = user;
    step([], "Asking …", explain);
  }));
  reveal("members-part");
  say(`${found.recipients} recipients.`);
  byID("members-heading").focus();
}

/** The message as it is asked now, at the instant of the answer unless another is given. */
function comparedLine() {
  const asked = question.read(form);
  const line = JSON.parse(asked.line);
  if (form.elements.line.value.trim() === "" && form.elements.at.value === "") line.at = shown.answer.explanation.at;
  return JSON.stringify(line);
}

async function compare() {
  const line = comparedLine();
  const other = await server.inspect(shown.answer.explanation.user, line, whatIf.records);
  const now = shown.answer;
  const rows = [
    ["Decision", answers.headline(now), answers.headline(other)],
    ["Outcome", answers.key(now.explanation.decision), answers.key(other.explanation.decision)],
    ["Decided by", decider(now), decider(other)],
    ["Next change", next(now), next(other)],
  ];
  const same = answers.key(now.explanation.decision) === answers.key(other.explanation.decision);
  byID("compared").replaceChildren(
    make("h3", { id: "compared-heading", tabindex: "-1" }, same ? "The same decision" : "Another decision"),
    make("div", { class: "panel-box" }, scrolling("Compared", table(
      "As it is, and what if", ["", "As it is", "What if"].map((name) => name || "Of"),
      rows.map((cells) => ({ cells }))))),
    answers.steps(other),
    week.figure(other, "What if: outcomes of the coming week"));
  say(`${same ? "The same decision" : "Another decision"}: ${answers.headline(other)}`);
  byID("compared-heading").focus();
}

const decider = (answer) => {
  const step = answer.explanation.steps.find((each) => each.decides);
  return step ? `${step.rule}, ${step.subject}: ${step.found}` : "no rule";
};

const next = (answer) => answer.timeline.length > 1
  ? `${times.text(answer.timeline[1].at, answer.timeZone)}: ${answer.timeline[1].phrase ?? "not a recipient"}`
  : "none within these days";

onSubmit(byID("login"), "Logging in …", async () => {
  enter(await server.logIn(byID("key").value, byID("app").value));
  byID("key").value = "";
  say("Logged in.");
});
onSubmit(form, "Asking …", explain);
onSubmit(byID("whatif"), "Comparing …", compare);
byID("restore").addEventListener("click", () => {
  whatIf.restore();
  byID("compared").replaceChildren();
  say("The settings are as they are stored.");
});
byID("logout").addEventListener("click", () => step([], "", async () => {
  await server.logOut();
  begin();
  say("Logged out.");
}));

try {
  enter(await server.session());
} catch (error) {
  begin();
  if (error.status !== 401) complain(error);
}
