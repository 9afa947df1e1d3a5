// The form of the question as a line of messages.ndjson.
import * as times from "./times.js";

/** A question that cannot be asked: what is wrong, and the field. */
export class Unfinished extends Error {
  constructor(message, field) {
    super(message);
    this.field = field;
  }
}

export function read(form) {
  const fields = form.elements;
  const user = fields.user.value;
  const line = fields.line.value.trim();
  if (line !== "") {
    if (line.includes("\n")) throw new Unfinished("One line is one message: remove the others.", fields.line);
    return { user, line };
  }
  const conversation = fields.conversation.value;
  if (conversation === "") throw new Unfinished("Name the conversation.", fields.conversation);
  const zone = fields.zone.value || "UTC";
  if (!times.knows(zone)) throw new Unfinished(`There is no time zone ${zone}.`, fields.zone);
  const message = {
    id: "question", conversation,
    at: fields.at.value === "" ? Date.now() : times.instant(fields.at.value, zone),
  };
  if (fields.sender.value !== "") message.sender = fields.sender.value;
  const mentions = fields.mentions.value.split("\n").map((id) => id.trim()).filter((id) => id !== "");
  if (mentions.length > 0) message.mentions = mentions;
  if (fields.body.value !== "text") message.body = fields.body.value;
  for (const name of ["mentionsAll", "silent", "force", "onlineOnly"])
    if (fields[name].checked) message[name] = true;
  for (const name of ["channel", "pushContent"])
    if (fields[name].value !== "") message[name] = fields[name].value;
  return { user, line: JSON.stringify(message) };
}
