// The outcomes of a week: a bar a day in the user's time zone, and the same as a table.
import { colorOf, drawn, make, scrolling, table } from "./dom.js";
import * as times from "./times.js";

const narrow = window.matchMedia("(max-width: 700px)");

/** Parts with their ends: from, until, and what holds in between. */
function spans(answer) {
  return answer.timeline.map((part, index) => ({
    from: part.at, until: answer.timeline[index + 1]?.at ?? answer.until,
    phrase: part.phrase ?? "Not a recipient", family: part.family ?? "no recipient",
  }));
}

function days(from, until, zone) {
  const found = [];
  for (let start = from; start < until && found.length < 40;) {
    const end = times.nextMidnight(start, zone);
    const at = times.clock(start, zone);
    const passed = found.length === 0 ? ((at.hour * 60 + at.minute) * 60 + at.second) * 1000 : 0;
    found.push({ start, end: Math.min(end, until), zero: start - passed, whole: end - start + passed });
    start = end;
  }
  return found;
}

function draw(answer, name) {
  const zone = answer.timeZone;
  const parts = spans(answer);
  const list = days(parts[0].from, answer.until, zone);
  const width = narrow.matches ? 340 : 760;
  const left = narrow.matches ? 76 : 96;
  const inner = width - left - 14;
  const row = 26;
  const height = list.length * row + 24;
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name, class: "week" });
  const hours = narrow.matches ? [0, 6, 12, 18, 24] : [0, 3, 6, 9, 12, 15, 18, 21, 24];
  for (const hour of hours) {
    const x = left + inner * hour / 24;
    picture.append(
      drawn("line", { class: "grid", x1: x, x2: x, y1: 20, y2: height }),
      drawn("text", { x, y: 13, "text-anchor": "middle" }, String(hour).padStart(2, "0")));
  }
  list.forEach((day, index) => {
    const y = 24 + index * row;
    picture.append(drawn("text", { x: 2, y: y + 15, class: "panel" }, times.dayText(day.start, zone)));
    for (const part of parts) {
      const from = Math.max(part.from, day.start);
      const until = Math.min(part.until, day.end);
      if (from >= until) continue;
      const x = left + inner * (from - day.zero) / day.whole;
      const wide = Math.max(inner * (until - from) / day.whole, 0.5);
      picture.append(drawn(
        "rect", { x, y, width: wide, height: row - 6, class: `part ${colorOf(part.family)}` },
        drawn("title", {}, `${times.text(part.from, zone)}: ${part.phrase}`)));
    }
  });
  return picture;
}

/** The figure of an answer; nothing for a user who is no member. */
export function figure(answer, title) {
  if (answer.timeline.length === 0)
    return make("p", { class: "panel-box" }, "The user is no member of the conversation, so there is no timeline.");
  const parts = spans(answer);
  const zone = answer.timeZone;
  const next = parts.length > 1
    ? `The next change is in ${times.length(parts[1].from - parts[0].from)}, on ${times.text(parts[1].from, zone)}: ${parts[1].phrase}.`
    : "Nothing changes within these days.";
  const families = [...new Set(parts.map((part) => part.family))];
  const holder = make("div", {}, draw(answer, `${title}. ${next} The table has every change.`));
  narrow.addEventListener("change", () => {
    if (holder.isConnected) holder.replaceChildren(draw(answer, `${title}. ${next} The table has every change.`));
  });
  return make(
    "figure", {},
    make("figcaption", {}, title),
    make("p", { class: "next" }, next),
    make("ul", { class: "legend" }, ...families.map((family) =>
      make("li", {}, make("span", { class: `swatch ${colorOf(family)}` }), family))),
    holder,
    make("p", { class: "remark" }, `Hours are those of ${zone}.`),
    make(
      "details", {}, make("summary", {}, "As a table"),
      scrolling(title, table(`${title} (${zone})`, ["From", "Until", "Outcome"], parts.map((part) => ({
        cells: [times.text(part.from, zone), times.text(part.until, zone), part.phrase],
      }))))));
}
