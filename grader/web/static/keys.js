// What Tab, Enter and brackets do in a text area, as in an editor. Each change can be undone with Ctrl-Z.
const PAIRS = { "(": ")", "[": "]", "{": "}", '"': '"', "'": "'" };
const CLOSING = new Set(Object.values(PAIRS));
const INDENT = 4;

function replace(area, from, to, text) {
  area.setSelectionRange(from, to);
  if (text === "" && from === to) return;
  const command = text === "" ? "delete" : "insertText";
  if (!document.execCommand(command, false, text)) { // there is no other way that keeps what Ctrl-Z undoes
    area.setRangeText(text, from, to, "end");
    area.dispatchEvent(new Event("input"));
  }
}

function indentLines(area, out) {
  const { selectionStart: start, selectionEnd: end, value } = area;
  const first = value.lastIndexOf("\n", start - 1) + 1;
  const last = end > start && value[end - 1] === "\n" ? end - 1 : end;
  const lines = value.slice(first, last).split("\n");
  const changed = lines.map((line) => (out ? line.replace(/^ {1,4}/, "") : line && " ".repeat(INDENT) + line));
  const text = changed.join("\n");
  if (text === lines.join("\n")) return;
  replace(area, first, last, text);
  const moved = changed[0].length - lines[0].length;
  const from = Math.max(first, start + moved);
  area.setSelectionRange(start === end ? from : first, start === end ? from : first + text.length);
}

function indent(area, out) {
  const { selectionStart: start, selectionEnd: end, value } = area;
  if (out || value.slice(start, end).includes("\n")) return indentLines(area, out);
  const column = start - (value.lastIndexOf("\n", start - 1) + 1);
  return replace(area, start, end, " ".repeat(INDENT - (column % INDENT)));
}

function breakLine(area) {
  const { selectionStart: start, selectionEnd: end, value } = area;
  const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
  let spaces = line.match(/^ */)[0].length;
  if (/:\s*(#.*)?$/.test(line) || /[([{]\s*$/.test(line)) spaces += INDENT;
  else if (/^\s+(return|raise|pass|break|continue)\b/.test(line)) spaces = Math.max(0, spaces - INDENT);
  replace(area, start, end, "\n" + " ".repeat(spaces));
}

function pair(area, key) {
  const { selectionStart: start, selectionEnd: end, value } = area;
  const next = value[end] ?? "\n";
  if (start === end && CLOSING.has(key) && next === key) { area.setSelectionRange(end + 1, end + 1); return true; }
  if (!(key in PAIRS)) return false;
  const isQuote = key === PAIRS[key];
  const free = /[\s)\]},:]/.test(next) && !(isQuote && /[\w"']/.test(value[start - 1] ?? " "));
  if (start === end && !free) return false;
  replace(area, start, end, key + value.slice(start, end) + PAIRS[key]);
  area.setSelectionRange(start + 1, end + 1);
  return true;
}

function unpair(area) {
  const { selectionStart: start, selectionEnd: end, value } = area;
  if (start !== end || start === 0) return false;
  const before = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
  if (PAIRS[value[start - 1]] === value[start] && value[start]) replace(area, start - 1, start + 1, "");
  else if (before && /^ +$/.test(before)) replace(area, start - ((before.length - 1) % INDENT) - 1, start, "");
  else return false;
  return true;
}

// Take the keys of a text area; Escape, then Tab, leaves it, for who has no mouse.
export function takeKeys(area) {
  let leaves = false;
  area.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const left = leaves;
    leaves = event.key === "Escape" || (leaves && event.key === "Shift");
    let done = true;
    if (event.key === "Tab" && !left) indent(area, event.shiftKey);
    else if (event.key === "Enter") breakLine(area);
    else if (event.key === "Backspace") done = unpair(area);
    else if (event.key.length === 1) done = pair(area, event.key);
    else done = false;
    if (done) event.preventDefault();
  });
}
