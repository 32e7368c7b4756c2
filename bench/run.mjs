// `npm run bench [-- name …]`: every scenario in this folder, one table each, with machine and date. `--write` keeps the tables in docs.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"

const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"))
const files = readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".bench.mjs"))

const machine = `${cpus().length} × ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform}`
console.log(`${machine}, ${new Date().toISOString().slice(0, 10)}`)

let missed = 0
for (const file of files.sort()) {
  const name = file.replace(".bench.mjs", "")
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const scenario = await import(new URL(file, import.meta.url).href)
  console.log(`\n${scenario.title}`)
  const rows = await scenario.run()
  console.log(table(rows))
  missed += rows.filter((entry) => entry.holds === false).length
  if (process.argv.includes("--write")) keep(name, scenario.title, rows)
}
console.log(missed === 0 ? "\nevery bound is held" : `\n${missed} bound(s) missed`)

function table(rows) {
  const cells = [
    ["what", "measured", "bound", ""],
    ...rows.map(({ what, value, bound, holds }) => [what, value, bound, verdict(holds)]),
  ]
  const widths = cells[0].map((_, column) => Math.max(...cells.map((line) => line[column].length)))
  return cells
    .map((line) => `  ${line.map((cell, column) => cell.padEnd(widths[column])).join("  ")}`.trimEnd())
    .join("\n")
}

function verdict(holds) {
  return holds === undefined ? "" : holds ? "held" : "MISSED"
}

/** Replaces the scenario's section of docs/benchmarks.md. */
function keep(name, title, rows) {
  const path = "docs/benchmarks.md"
  const section = [
    `<!-- ${name} -->`,
    `## ${title}`,
    "",
    `${machine}, ${new Date().toISOString().slice(0, 10)}`,
    "",
    "| what | measured | bound | |",
    "|---|---|---|---|",
    ...rows.map(({ what, value, bound, holds }) => `| ${what} | ${value} | ${bound} | ${verdict(holds)} |`),
    `<!-- /${name} -->`,
  ].join("\n")
  const text = readFileSync(path, "utf8")
  const old = new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- /${name} -->`)
  writeFileSync(path, old.test(text) ? text.replace(old, () => section) : `${text.trimEnd()}\n\n${section}\n`)
}
