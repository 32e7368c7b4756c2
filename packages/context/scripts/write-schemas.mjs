// Writes schemas/ from the built definition: node packages/context/scripts/write-schemas.mjs
import { mkdirSync, writeFileSync } from "node:fs"
import { manifestJsonSchemaText } from "../dist/manifest-json-schema.js"

const folder = new URL("../schemas/", import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(new URL("context-manifest.schema.json", folder), manifestJsonSchemaText())
console.error("packages/context/schemas/context-manifest.schema.json")
