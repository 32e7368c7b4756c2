// One word, one meaning: the aliases that docs/glossary.md tells us to avoid do not appear in our own names.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const GLOSSARY = "docs/glossary.md"

/** Where another vocabulary is quoted on purpose; design notes quote what they depart from. */
const QUOTES = [
  /docs\/design\//,
  /docs\/glossary\.md$/,
  /upgrade\/v0\.ts$/,
  /record-v0\.ts$/,
  /src\/generated\.ts$/,
  /vocabulary\.test\.ts$/,
  // What clients call things in their requests.
  /client-masks(?:\.test)?\.ts$/,
  /fixtures\//,
]

export function checkVocabulary(root = ".") {
  const avoided = aliasesIn(readFileSync(join(root, GLOSSARY), "utf8"))
  if (avoided.length === 0) return [`${GLOSSARY}: no aliases to avoid were found; has the table changed its form?`]
  return filesOf(root).flatMap((file) => aliasesUsed(readFileSync(file, "utf8"), avoided, file))
}

/** The glossary's table: what stands in code in its last column is an alias of the word in the first. */
export function aliasesIn(glossary) {
  return glossary.split("\n").flatMap((line) => {
    const cells = line.split("|").map((cell) => cell.trim())
    if (cells.length !== 5 || cells[1] === "word" || /^-+$/.test(cells[1])) return []
    return [...cells[3].matchAll(/`([^`]+)`/g)].map(([, alias]) => ({ alias, word: cells[1] }))
  })
}

export function aliasesUsed(text, avoided, file) {
  return avoided.flatMap(({ alias, word }) => {
    const match = patternOf(alias).exec(text)
    if (!match) return []
    const line = text.slice(0, match.index).split("\n").length
    return [`${file}:${line}: "${match[0]}" — we say ${word}`]
  })
}

const patterns = new Map()

/** As words of their own, whether a space, a hyphen or an underscore stands between them. */
function patternOf(alias) {
  let pattern = patterns.get(alias)
  if (!pattern) {
    pattern = new RegExp(`\\b${alias.split(/[ _-]/).join("[ _-]")}\\b`, "i")
    patterns.set(alias, pattern)
  }
  return pattern
}

function filesOf(root) {
  const files = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map((name) => join(root, name))
  for (const top of ["packages", "docs", "scripts", "examples", "bench"]) {
    if (!existsSync(join(root, top))) continue
    for (const entry of readdirSync(join(root, top), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath ?? entry.path, entry.name)
      if (entry.isFile() && /\.(ts|tsx|mjs|md)$/.test(entry.name) && !/node_modules|\bdist\b/.test(path))
        files.push(path)
    }
  }
  return files.filter((file) => existsSync(file) && !QUOTES.some((quote) => quote.test(file)))
}
