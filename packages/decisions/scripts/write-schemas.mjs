// Writes schemas/ from the built definition: node packages/decisions/scripts/write-schemas.mjs
import { mkdirSync, writeFileSync } from "node:fs"
import { decisionJsonSchemaText } from "../dist/decision-json-schema.js"

const folder = new URL("../schemas/", import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(new URL("decision-event.schema.json", folder), decisionJsonSchemaText())
console.error("packages/decisions/schemas/decision-event.schema.json")
