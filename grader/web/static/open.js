// Keep an answer in one's own words as it is written.
const PAUSE_MS = 400;
const area = document.getElementById("text");
const kept = document.getElementById("kept");
let timer = 0;

async function keep() {
  try {
    const body = new URLSearchParams({ do: "keep", text: area.value });
    const answer = await fetch(area.form.action, { method: "POST", body });
    kept.textContent = answer.ok ? "Kept" : "Not kept";
  } catch {
    kept.textContent = "Not kept: `learn web` does not answer";
    timer = setTimeout(keep, 2000);
  }
}

area.addEventListener("input", () => {
  kept.textContent = "…";
  clearTimeout(timer);
  timer = setTimeout(keep, PAUSE_MS);
});
area.form.addEventListener("submit", () => clearTimeout(timer)); // which sends the text
