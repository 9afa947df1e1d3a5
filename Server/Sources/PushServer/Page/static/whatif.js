// Settings that are changed here alone: the lines are sent with the question, and are all that it is
// decided by.
import { make } from "./dom.js";
import * as times from "./times.js";

const levels = ["", "all", "mention", "none"];
const vendorLevels = ["", "all", "mention", "mentionUsers", "mentionAll", "none"];

/** A field: where its value is in the records, and how it is shown. */
function fields(rules, zone, kind) {
  const level = (record, name, label, choices) => ({
    label, choices, get: (records) => records[record]?.[name] ?? "",
    set: (records, value) => put(records[record], name, value),
  });
  const instant = (record, label) => ({
    label, type: "datetime-local",
    get: (records) => records[record]?.mutedUntil ? times.field(records[record].mutedUntil, zone) : "",
    set: (records, value) => put(records[record], "mutedUntil", value === "" ? "" : times.instant(value, zone)),
  });
  const quiet = (name, label, type) => ({
    label, type,
    get: (records) => records.user?.quietHours?.[name] ?? "",
    set(records, value) {
      const hours = { ...records.user?.quietHours };
      put(hours, name, value);
      put(records.user, "quietHours", Object.keys(hours).length === 0 ? "" : hours);
    },
  });
  const zoneField = {
    label: "User: time zone", type: "text", list: "zones",
    get: (records) => records.user?.timeZone ?? "", set: (records, value) => put(records.user, "timeZone", value),
  };
  if (rules === "easemob") {
    return [
      level("user", "level", "User: level", levels), quiet("start", "Quiet hours: start", "time"),
      quiet("end", "Quiet hours: end", "time"), instant("user", "User: muted until"), zoneField,
      level("member", "level", "In the conversation: level", levels),
      instant("member", "In the conversation: muted until"),
    ];
  }
  return [
    {
      label: `User: level in conversations of this type (${kind})`, choices: vendorLevels,
      get: (records) => records.user?.levels?.[kind] ?? "",
      set(records, value) {
        const own = { ...records.user?.levels };
        put(own, kind, value);
        put(records.user, "levels", Object.keys(own).length === 0 ? "" : own);
      },
    },
    quiet("start", "Quiet hours: start", "text"),
    {
      ...quiet("spanMinutes", "Quiet hours: minutes", "number"),
      set(records, value) {
        const hours = { ...records.user?.quietHours };
        put(hours, "spanMinutes", value === "" ? "" : Number(value));
        put(records.user, "quietHours", Object.keys(hours).length === 0 ? "" : hours);
      },
    },
    { ...quiet("level", "Quiet hours: level"), choices: ["", "none", "mention"] }, zoneField,
    level("member", "level", "In the conversation: level", vendorLevels),
    level("app", "level", "App Key: level", vendorLevels),
  ];
}

function put(record, name, value) {
  if (!record) return;
  if (value === "" || value === undefined) delete record[name];
  else record[name] = value;
}

/** The records by what they are of; the last conversation is the message's, others its parents. */
function parse(lines, user) {
  const all = lines.map((line) => JSON.parse(line));
  const last = (kind) => all.findLast((record) => record.kind === kind);
  let own = last("user");
  if (!own) all.push(own = { kind: "user", id: user });
  const conversation = last("conversation");
  return {
    all, app: last("app"), user: own,
    member: all.findLast((record) => record.kind === "member" && record.conversation === conversation?.id),
    kind: conversation?.type ?? "group",
  };
}

const lines = (text) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");

export class WhatIf {
  /** - box: where the fields go; area: has the lines. */
  constructor(box, area) {
    this.box = box;
    this.area = area;
    area.addEventListener("change", () => this.#show());
  }

  /** Takes over the settings of an answer. */
  take(answer) {
    this.answer = answer;
    this.restore();
  }

  restore() {
    this.area.value = this.answer.records.map((record) => JSON.stringify(record)).join("\n");
    this.#show();
  }

  /** The lines as they are now. */
  get records() { return lines(this.area.value); }

  get isChanged() {
    const text = (records) => JSON.stringify(records);
    return text(this.records.map((line) => JSON.parse(line))) !== text(this.answer.records);
  }

  #read() {
    try {
      return parse(this.records, this.answer.explanation.user);
    } catch {
      return undefined;
    }
  }

  #show() {
    const records = this.#read();
    const broken = records === undefined;
    this.area.setAttribute("aria-invalid", String(broken));
    if (broken) return this.box.replaceChildren(make("p", { class: "problem" }, "A line below is no JSON object."));
    const rules = records.app?.rules ?? "easemob";
    this.box.replaceChildren(...fields(rules, this.answer.timeZone, records.kind).map((field) => this.#control(field, records)));
  }

  #control(field, records) {
    const value = String(field.get(records));
    const control = field.choices
      ? make("select", {}, ...field.choices.map((choice) =>
        make("option", { value: choice, selected: choice === value }, choice === "" ? "not set" : choice)))
      : make("input", {
        type: field.type, list: field.list, value: field.type === "time" ? value.padStart(5, "0").replace(/^0+$/, "") : value,
        step: field.type === "datetime-local" ? "1" : undefined, spellcheck: "false",
      });
    control.addEventListener("change", () => {
      const now = this.#read();
      if (!now) return;
      field.set(now, control.value);
      this.area.value = now.all.map((record) => JSON.stringify(record)).join("\n");
    });
    return make("label", {}, field.label, control);
  }
}
