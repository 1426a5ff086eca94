// Colour Python as the pages do: one expression, one pass, any text.
const KEYWORDS = "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield";
const TOKEN = new RegExp([
  String.raw`(?<comment>#[^\n]*)`,
  String.raw`(?<string>(?<![\w])[rbfuRBFU]{0,2}(?:"""(?:[^\\"]|\\[^]?|"(?!""))*(?:""")?|'''(?:[^\\']|\\[^]?|'(?!''))*(?:''')?|"(?:[^"\\\n]|\\[^\n]?)*"?|'(?:[^'\\\n]|\\[^\n]?)*'?))`,
  String.raw`\b(?<keyword>${KEYWORDS.replaceAll(" ", "|")})\b`,
  String.raw`\b(?<number>\d[\w.]*)`,
  String.raw`(?<=def )(?<name>\w+)|(?<=class )(?<type>\w+)`,
].join("|"), "g");

export const escape = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

// The lines of a source, as HTML.
export function colour(source) {
  const pieces = [];
  let end = 0;
  for (const token of source.matchAll(TOKEN)) {
    const kind = Object.keys(token.groups).find((name) => token.groups[name] !== undefined);
    const open = `<span class="${kind}">`;
    pieces.push(escape(source.slice(end, token.index)), open, escape(token[0]).replaceAll("\n", `</span>\n${open}`), "</span>");
    end = token.index + token[0].length;
  }
  return (pieces.join("") + escape(source.slice(end))).split("\n");
}
