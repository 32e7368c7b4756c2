// Writes schemas/ from the built definitions: node packages/replay/scripts/write-schemas.mjs
import { mkdirSync, writeFileSync } from "node:fs"
import { replaySchemas } from "../dist/json-schemas.js"

const folder = new URL("../schemas/", import.meta.url)
mkdirSync(folder, { recursive: true })
for (const [name, text] of replaySchemas()) {
  writeFileSync(new URL(name, folder), text)
  console.error(`packages/replay/schemas/${name}`)
}
