// Instants are milliseconds since 1970, as in the files; clocks are those of a named zone.

const formats = new Map();

function format(zone) {
  if (!formats.has(zone)) {
    formats.set(zone, new Intl.DateTimeFormat("en-GB", {
      timeZone: zone, weekday: "short", year: "numeric", month: "short", day: "numeric",
      hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
    }));
  }
  return formats.get(zone);
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec"];

/** The parts of a zone's clock at an instant. */
export function clock(instant, zone) {
  const parts = Object.fromEntries(format(zone).formatToParts(instant).map((part) => [part.type, part.value]));
  return {
    weekday: parts.weekday, month: parts.month, year: Number(parts.year), day: Number(parts.day),
    hour: Number(parts.hour), minute: Number(parts.minute), second: Number(parts.second),
  };
}

/** Whether the browser knows a zone of this name. */
export function knows(zone) {
  try {
    format(zone);
    return true;
  } catch {
    return false;
  }
}

const two = (number) => String(number).padStart(2, "0");

export const dayText = (instant, zone) => {
  const at = clock(instant, zone);
  return `${at.weekday} ${at.day} ${at.month}`;
};

export const text = (instant, zone) => {
  const at = clock(instant, zone);
  const seconds = at.second ? `:${two(at.second)}` : "";
  return `${at.weekday} ${at.day} ${at.month} ${at.year}, ${two(at.hour)}:${two(at.minute)}${seconds}`;
};

const asUTC = (at) => {
  const month = months.findIndex((name) => name.startsWith(at.month.slice(0, 3)));
  return Date.UTC(at.year, month, at.day, at.hour, at.minute, at.second);
};

/** The instant at which a zone's clock shows a time like 2024-06-03T22:00:00. */
export function instant(local, zone) {
  const wanted = Date.parse(`${local.length === 16 ? `${local}:00` : local}Z`);
  let found = wanted;
  // The offset may change between the guess and the instant; a time that a clock skips is taken
  // with the offset before.
  for (let round = 0; round < 3; round++) found += wanted - asUTC(clock(found, zone));
  return found;
}

/** A zone's clock as a value of a field for date and time. */
export function field(instant, zone) {
  return new Date(asUTC(clock(instant, zone))).toISOString().slice(0, 19);
}

/** The first instant of the day after the one that an instant is in. */
export function nextMidnight(now, zone) {
  const at = clock(now, zone);
  const date = new Date(Date.UTC(at.year, months.findIndex((name) => name.startsWith(at.month.slice(0, 3))), at.day + 1));
  return instant(date.toISOString().slice(0, 19), zone);
}

/** A length of time in words, in its two largest units. */
export function length(milliseconds) {
  const minutes = Math.round(milliseconds / 60000);
  if (minutes < 1) return `${Math.round(milliseconds / 1000)} s`;
  const parts = [[Math.floor(minutes / 1440), "d"], [Math.floor(minutes / 60) % 24, "h"], [minutes % 60, "min"]];
  return parts.filter(([count]) => count > 0).slice(0, 2).map(([count, unit]) => `${count} ${unit}`).join(" ");
}
