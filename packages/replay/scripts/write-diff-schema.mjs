// Writes schemas/run-diff.schema.json from the built definition: node packages/replay/scripts/write-diff-schema.mjs
import { mkdirSync, writeFileSync } from "node:fs"
import { runDiffJsonSchemaText } from "../dist/diff/diff-json-schema.js"

const folder = new URL("../schemas/", import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(new URL("run-diff.schema.json", folder), runDiffJsonSchemaText())
console.error("packages/replay/schemas/run-diff.schema.json")
