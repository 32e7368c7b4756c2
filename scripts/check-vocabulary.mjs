// One word, one meaning: the aliases that docs/glossary.md tells us to avoid do not appear in our own names.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** Alias → the word we use. Only aliases that have no honest second meaning in this code base. */
export const AVOID = [
  [/\bscrub(?:s|bed|bing|ber)?\b/i, "redaction"],
  [/\bcensor(?:s|ed|ing|ship)?\b/i, "redaction"],
  [/\bcache[ _-]?reheat(?:ing)?\b|\breheat(?:s|ed|ing)?\b/i, "cache warming"],
  [/\bdebug message\b/i, "structured log"],
  [/\bturn_id\b/, "run_id"],
  [/\bspan_open\b|\bspan_close\b/, "step_started / step_ended"],
]

/** Where another vocabulary is quoted on purpose. */
const QUOTES = [/docs\/glossary\.md$/, /upgrade\/v0\.ts$/, /check-vocabulary\.mjs$/, /fixtures\//]

export function checkVocabulary(root = ".") {
  return filesOf(root).flatMap((file) => {
    const text = readFileSync(file, "utf8")
    return AVOID.flatMap(([alias, word]) => {
      const match = alias.exec(text)
      if (!match) return []
      const line = text.slice(0, match.index).split("\n").length
      return [`${file}:${line}: "${match[0]}" — we say ${word}`]
    })
  })
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
