import { readFileSync } from "node:fs"
import { EVENT_TYPES, refFieldsOf } from "@orangebox/contract"
import { expect, test } from "vitest"
import { fieldPolicyTable, MARKED } from "../scripts/field-policy-table.mjs"
import { effectOfDrop, FIELD_POLICIES } from "../src/index.js"

const privacy = readFileSync(new URL("../../../docs/privacy.md", import.meta.url), "utf8")

test("[X-02] docs/privacy.md lists the policy of every field of every event type, as the code has it", () => {
  const [listed] = MARKED.exec(privacy)!
  expect(Object.keys(FIELD_POLICIES)).toEqual([...EVENT_TYPES])
  expect(listed, "run: node packages/redaction/scripts/field-policy-table.mjs").toContain(
    fieldPolicyTable({ FIELD_POLICIES, effectOfDrop, refFieldsOf }),
  )
})
