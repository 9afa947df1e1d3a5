// A decision and its steps.
import { colorOf, make, scrolling, table } from "./dom.js";
import * as times from "./times.js";

/** The outcome as files have it. */
export function key(decision) {
  if (!decision) return "";
  return [decision.action, decision.reason, decision.scope].filter((each) => each).join("/");
}

/** The decision in one line, as text. */
export const headline = (answer) =>
  answer.explanation.answer;

export function decision(answer) {
  const { decision, user, conversation, at } = answer.explanation;
  const where = `${user} in ${conversation}, ${times.text(at, answer.timeZone)} (${answer.timeZone})`;
  const devices = decision?.devices?.length ? `To the devices ${decision.devices.join(", ")}.` : undefined;
  return make(
    "div", { class: "panel-box decision" },
    make("p", { class: "headline" },
      make("span", { class: `swatch ${colorOf(answer.family)}` }), headline(answer)),
    make("p", { class: "remark" }, where),
    decision ? make("p", { class: "remark" }, "Outcome: ", make("code", {}, key(decision))) : undefined,
    devices ? make("p", { class: "remark" }, devices) : undefined,
    make("p", { class: "remark" },
      `Settings ${answer.settings}${answer.explanation.settings ? `, ${answer.explanation.settings}` : ""}`));
}

export function steps(answer) {
  const rows = answer.explanation.steps.map((step) => ({
    decides: step.decides,
    cells: [
      step.stops ? make("strong", {}, "STOP") : "ok",
      step.scope ? `${step.subject} (${step.scope})` : step.subject,
      step.found,
      step.rule,
    ],
  }));
  return make("div", { class: "panel-box" },
    scrolling("Steps", table("What was examined, in order, up to what decided", ["", "Examined", "Found", "Rule"], rows)),
    // What would lead to a push.
    ...answer.explanation.advice.map((text) => make("p", { class: "remark" }, text)));
}

/** How many members have which outcome, and the first of them, each with a button. */
export function members(found, choose) {
  const counts = Object.entries(found.counts).sort((a, b) => b[1].count - a[1].count);
  const outcome = (entry) => [
    make("span", { class: `swatch ${colorOf(entry.family)}` }), entry.phrase,
  ];
  const all = make("div", { class: "panel-box" }, scrolling("Outcomes", table(
    `${found.recipients.toLocaleString("en")} recipients by outcome`, ["Outcome", "Members"],
    counts.map(([, entry]) => ({ cells: [outcome(entry), entry.count.toLocaleString("en")] })))));
  const first = make("div", { class: "panel-box" }, scrolling("Members", table(
    found.members.length < found.recipients ? `The first ${found.members.length} of them` : "Each of them",
    ["User", "Outcome", "Why"],
    found.members.map((member) => {
      const button = make("button", { type: "button", class: "plain" }, "Explain", make("span", { class: "unseen" }, ` ${member.user}`));
      button.addEventListener("click", () => choose(member.user));
      return { cells: [member.user, outcome(member), button] };
    }))));
  return [all, first];
}
