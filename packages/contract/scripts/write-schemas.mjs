// Writes schemas/ from the built definitions: `npm run schemas`, with `-- --unreleased` while the current version is not published.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { SCHEMA_VERSION } from "../dist/index.js"
import { publishedSchemas, recordVersion, schemaDigest, schemaText } from "../dist/json-schemas.js"

const isUnreleased = process.argv.includes("--unreleased")
const folder = new URL("../schemas/", import.meta.url)
const historyFile = new URL("history.json", folder)

mkdirSync(folder, { recursive: true })

let history
try {
  history = [
    ["1.0.0", schemaDigest("first")],
    [SCHEMA_VERSION, schemaDigest("current")],
  ].reduce((known, [version, digest]) => recordVersion(known, version, digest, isUnreleased), readHistory())
} catch (error) {
  console.error(error.message)
  process.exit(1)
}

const files = new Map([...publishedSchemas()].map(([name, schema]) => [name, schemaText(schema)]))
files.set("history.json", schemaText(history))
for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(new URL(name, folder))
for (const [name, text] of files) writeFileSync(new URL(name, folder), text)
console.error(`${files.size} files in packages/contract/schemas, event schema ${SCHEMA_VERSION}`)

function readHistory() {
  try {
    return JSON.parse(readFileSync(historyFile, "utf8"))
  } catch (error) {
    if (error.code === "ENOENT") return {}
    throw error
  }
}
