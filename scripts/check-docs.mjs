// Every path that the documents name exists. Paths are written in backticks or as link targets.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

export function checkDocs(root = ".") {
  return documentsOf(root).flatMap((document) => {
    const folder = dirname(document)
    return pathsIn(readFileSync(document, "utf8"))
      .filter((path) => !existsSync(join(folder, path)) && !existsSync(join(root, path)))
      .map((path) => `${document}: ${path} does not exist`)
  })
}

function documentsOf(root) {
  const pages = readdirSync(root).filter((name) => name.endsWith(".md"))
  const docs = existsSync(join(root, "docs"))
    ? readdirSync(join(root, "docs"), { recursive: true }).map((path) => join("docs", String(path)))
    : []
  const packages = readdirSync(join(root, "packages")).map((name) => join("packages", name, "README.md"))
  return [...pages, ...docs, ...packages]
    .filter((path) => path.endsWith(".md"))
    .map((path) => join(root, path))
    .filter((path) => existsSync(path))
}

export function pathsIn(markdown) {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, "")
  const quoted = [...prose.matchAll(/`((?:packages|docs|scripts|bench|examples)\/[\w./*-]+)`/g)].map(
    (match) => match[1],
  )
  const linked = [...prose.matchAll(/\]\((?!https?:|#|mailto:)([^)\s#]+)/g)].map((match) => match[1])
  return [...quoted, ...linked].filter((path) => !path.includes("*"))
}
