// Doors are narrow: of values, a package exports what another package, an example or a benchmark imports, or what a document names. Types
// come along with the values that take or give them.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"

const IMPORT =
  /\b(?:import|export)(?: type)?\s*\{([^}]*)\}\s*from\s*"@orangebox\/([\w-]+)"|\{([^}=]*)\}\s*=\s*await import\("@orangebox\/([\w-]+)"\)/g

export function checkDoors(root = ".") {
  const documents = filesIn(root, ["docs", "README.md", "packages"], /\.md$/)
    .map(({ text }) => text)
    .join("\n")
  const imported = new Set()
  for (const { path, text } of filesIn(root, ["packages", "examples", "bench", "scripts"], /\.(ts|mjs)$/)) {
    const home = /^packages\/([^/]+)\//.exec(path)?.[1]
    for (const [, names, door, lazyNames, lazyDoor] of text.matchAll(IMPORT)) {
      const from = door ?? lazyDoor
      if (from !== home) for (const name of namesIn(names ?? lazyNames)) imported.add(`${from}:${name}`)
    }
  }
  return readdirSync(join(root, "packages")).flatMap((name) => {
    const door = join(root, "packages", name, "src/index.ts")
    if (name === "cli" || !existsSync(door)) return []
    return exportsOf(readFileSync(door, "utf8"))
      .filter((exported) => !imported.has(`${name}:${exported}`) && !new RegExp(`\\b${exported}\\b`).test(documents))
      .map((exported) => `@orangebox/${name} exports ${exported}, which nothing outside uses and no document names`)
  })
}

/** Values that a door exports, by the names the outside knows them by. */
export function exportsOf(source) {
  const listed = [...source.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, names]) =>
    names.split(",").flatMap((entry) => (/^\s*type\b/.test(entry) ? [] : (/(\w+)\s*$/.exec(entry)?.[1] ?? []))),
  )
  const own = [...source.matchAll(/^export (?:async )?(?:const|function|class) (\w+)/gm)].map(([, name]) => name)
  return [...listed, ...own]
}

const namesIn = (list) => list.split(",").flatMap((entry) => /^\s*(?:type )?(\w+)/.exec(entry)?.[1] ?? [])

function filesIn(root, places, pattern) {
  return places.flatMap((place) => {
    const path = join(root, place)
    if (!existsSync(path)) return []
    if (pattern.test(place)) return [{ path: place, text: readFileSync(path, "utf8") }]
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && pattern.test(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .filter((file) => !/node_modules|\/(?:dist|bundle)\//.test(file))
      .map((file) => ({ path: relative(root, file), text: readFileSync(file, "utf8") }))
  })
}
