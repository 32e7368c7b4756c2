import { readFileSync } from "node:fs"
import { isIPv6 } from "node:net"
import { newProxyToken } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { rulesModule } from "../scripts/write-rules.mjs"
import { BUILT_INS } from "../src/rules/built-ins.js"
import { isIpv6 } from "../src/rules/check-digits.js"
import type { Predicate, RuleData } from "../src/rules/rule-data.js"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")
const { rules } = JSON.parse(read("../rules.json")) as { rules: RuleData[] }

describe("[X-02] rules.json", () => {
  test("is what the package runs", () => {
    expect(read("../src/rules/rules.generated.ts"), "run: node packages/redaction/scripts/write-rules.mjs").toBe(
      rulesModule(),
    )
  })

  test("knows the form that the proxy's tokens are made in", () => {
    const rule = rules.find(({ id }) => id === "orangebox-proxy-token")
    const [pattern = "^$"] = rule === undefined ? [] : patternsOf(rule)
    expect(newProxyToken()).toMatch(new RegExp(`^(?:${pattern})$`))
  })

  test("names every rule once, and as built-in exactly what is code", () => {
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
    const builtIn = rules.filter(({ kind }) => kind === "built-in").map(({ id }) => id)
    expect(builtIn.sort()).toEqual(Object.keys(BUILT_INS).sort())
  })

  test("keeps to patterns that JavaScript and Python read alike", () => {
    for (const pattern of rules.flatMap(patternsOf)) {
      expect(() => new RegExp(pattern), pattern).not.toThrow()
      // No names or modifiers in groups, no lookbehind but of one character, no escapes that only one of them has.
      expect(pattern).not.toMatch(/\(\?(?![:=!]|<!\[)/)
      expect(pattern).not.toMatch(/\(\?<!\[(?:[^\]\\]|\\.)*\](?!\))/)
      expect(pattern).not.toMatch(/\\[pPkuzZAGQE]/)
    }
  })

  test("has every repetition end", () => {
    for (const rule of rules) {
      if (rule.kind === "built-in") continue
      expect(rule.pattern.replace(/\\.|\[(?:[^\]\\]|\\.)*\]/g, "x"), rule.id).not.toMatch(/[*+]|\{\d+,\}/)
    }
  })
})

test("an address of version 6 is one where Node says so", () => {
  const part = fc.constantFrom("", ":", "::", "0", "1f", "abcd")
  fc.assert(
    fc.property(fc.array(part, { maxLength: 18 }), (parts) => {
      const address = parts.join(parts.length % 2 === 0 ? ":" : "")
      fc.pre(/^[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7}$/.test(address))
      expect(isIpv6(address)).toBe(isIPv6(address))
    }),
  )
})

function patternsOf(rule: RuleData): string[] {
  if (rule.kind === "built-in") return []
  if (rule.kind === "named") return [rule.name, rule.pattern]
  const start = rule.kind !== "sweep" ? rule.start : undefined
  const lead = start === undefined ? [] : "behind" in start ? [start.behind] : "back" in start ? [start.back] : []
  return [...lead, rule.pattern, ...(rule.accept ?? []).flatMap(patternsOfPredicate)]
}

function patternsOfPredicate(predicate: Predicate): string[] {
  if ("any" in predicate) return predicate.any.flat().flatMap(patternsOfPredicate)
  if ("matches" in predicate) return [predicate.matches]
  if ("lacks" in predicate) return [predicate.lacks]
  return "decodes" in predicate ? [predicate.decodes] : []
}
