// Elements are made, never parsed: nothing that an answer contains becomes markup.

export const byID = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null));
  return node;
}

export const make = (name, attributes, ...children) =>
  fill(document.createElement(name), attributes, children);

export const drawn = (name, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

/** The class of a family's colour. */
export const colorOf = (family) => `family-${(family ?? "no recipient").replaceAll(" ", "-")}`;

/** A table: a caption, the names of its columns, and rows whose first cell is a heading. */
export function table(caption, columns, rows) {
  const cell = (name, content, attributes) =>
    make(name, attributes, ...(Array.isArray(content) ? content : [content]));
  return make(
    "table", {},
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...columns.map((name) => cell("th", name, { scope: "col" })))),
    make("tbody", {}, ...rows.map((row) =>
      make("tr", row.decides ? { class: "decides" } : {}, ...row.cells.map((content, index) =>
        index === 0 ? cell("th", content, { scope: "row" }) : cell("td", content))))));
}

/** A table that may be wider than its place, which scrolls by keys too. */
export const scrolling = (name, content) =>
  make("div", { class: "figures", tabindex: "0", role: "region", "aria-label": name }, content);
