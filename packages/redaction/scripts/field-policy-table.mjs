// Puts the field policies into docs/privacy.md, between the marks. Run after a build: node packages/redaction/scripts/field-policy-table.mjs
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath, pathToFileURL } from "node:url"

export const MARKED = /<!-- field policies -->\n[\s\S]*?<!-- end -->/

/** One row per event type. Of what goes through the rules, `hashed` leaves a digest where the field must be there, and nothing else. */
export function fieldPolicyTable({ FIELD_POLICIES, effectOfDrop, refFieldsOf }) {
  const rows = Object.entries(FIELD_POLICIES).map(([type, fields]) => {
    const refs = new Set(refFieldsOf(type))
    const having = (policy, isRef) =>
      Object.keys(fields).filter((field) => fields[field] === policy && refs.has(field) === isRef)
    const inline = having("redact_required", false)
    const inHashed = inline.flatMap((field) => {
      const effect = effectOfDrop(type, field)
      return effect === "omit" ? [] : [`${code(field)} ${EFFECTS[effect]}`]
    })
    return [
      code(type),
      list(having("raw_allowed", false).map(code)),
      list(inline.map(code)),
      list([...having("redact_required", true), ...having("raw_allowed", true)].map(code)),
      list([...having("hash_only", false), ...having("drop", false)].map(code)),
      list(inHashed),
    ]
  })
  const title = ["event", "`raw_allowed`", "`redact_required`", "bodies", "`hash_only`", "left under `hashed`"]
  return [title, title.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")
}

const EFFECTS = { null: "null", empty_list: "empty", empty_record: "empty", mask: "digest", impossible: "as it is" }
const code = (name) => `\`${name}\``
const list = (items) => (items.length === 0 ? "–" : items.join(", "))

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const document = fileURLToPath(new URL("../../../docs/privacy.md", import.meta.url))
  const redaction = await import("../dist/index.js")
  const { refFieldsOf } = await import("@orangebox/contract")
  const table = fieldPolicyTable({ ...redaction, refFieldsOf })
  const text = readFileSync(document, "utf8")
  writeFileSync(document, text.replace(MARKED, `<!-- field policies -->\n\n${table}\n\n<!-- end -->`))
}
