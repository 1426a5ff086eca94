"use strict";
// The page is complete without this: it adds buttons that sort a table, a field that filters it, and opens what is
// folded before printing.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const number = parseFloat(text);
    return Number.isNaN(number) || column < Number(table.dataset.words) ? text : number;
  };
  const order = (a, b, down) => {
    const words = (typeof a === "string") - (typeof b === "string"); // what has no number comes last, up and down
    const up = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
    return words || (down ? -up : up);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = [...body.rows].map((row) => [value(row, column), row]);
      keyed.sort((a, b) => order(a[0], b[0], down));
      body.append(...keyed.map((pair) => pair[1]));
    });
  });
  const label = document.createElement("label");
  const field = document.createElement("input");
  const count = document.createElement("span");
  field.type = "search";
  label.className = "filter";
  count.setAttribute("role", "status");
  label.append("Filter ", field, " ", count);
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let shown = 0;
    for (const row of body.rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    count.textContent = wanted ? `${shown} of ${body.rows.length}` : "";
  });
  table.closest(".scroll").before(label);
}
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details.print")) folded.open = true;
});
