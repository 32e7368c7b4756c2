import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { parseRule } from "../../src/checks/parse-rule.js"
import { RULES } from "../../src/index.js"

const page = readFileSync(new URL("../../../../docs/checks.md", import.meta.url), "utf8")
const rows = page.split("\n").filter((line) => /^\| `[a-z]+[.:]/.test(line))

describe("docs/checks.md", () => {
  test.each(RULES.map((rule) => [rule.name, rule] as const))(
    "[E-01] %s stands there as it is, with an example that can be read",
    (_, rule) => {
      expect(rows).toHaveLength(RULES.length)
      const row = rows.find((line) => line.replaceAll("\\|", "|").startsWith(`| \`${rule.form}\` |`))
      expect(row, rule.form).toBeDefined()
      expect(row).toContain(`\`${rule.example}\``)
      expect(row).toContain(`| ${rule.judged} | ${rule.concerns.join(", ")} |`)
      expect(parseRule(rule.example)).toHaveProperty("rule")
    },
  )

  test("every rule of the example configuration can be read", () => {
    const config = JSON.parse(/```json\n(\{\s*"checks"[\s\S]*?)```/.exec(page)![1]!) as { checks: { rule: string }[] }
    for (const { rule } of config.checks) expect(parseRule(rule), rule).toHaveProperty("rule")
  })
})
