import { readFileSync } from "node:fs"
import { isIPv6 } from "node:net"
import { newProxyToken } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { checkRules, patternsIn } from "../scripts/check-rules.mjs"
import { BUILT_INS } from "../src/rules/built-ins.js"
import { isIpv6 } from "../src/rules/check-digits.js"
import type { RuleData } from "../src/rules/rule-data.js"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")
const { rules } = JSON.parse(read("../rules.json")) as { rules: RuleData[] }

describe("[X-02] rules.json", () => {
  test("is what the package runs, in patterns that JavaScript and Python read alike and that all end", () => {
    expect(checkRules()).toEqual([])
  })

  test("has a pattern in every place that the check knows", () => {
    const places = patternsIn(JSON.parse(read("../rules.json"))).map(({ place }) => place)
    for (const part of ["normalise", "names.words", "values", "programs", "rules"]) {
      expect(places.filter((place) => place.startsWith(`rules.json.${part}.`)).length, part).toBeGreaterThan(0)
    }
  })

  test("knows the form that the proxy's tokens are made in", () => {
    const rule = rules.find(({ id }) => id === "orangebox-proxy-token")
    expect(newProxyToken()).toMatch(new RegExp(`^(?:${rule?.kind === "form" ? rule.pattern : "$"})$`))
  })

  test("names every rule once, and as built-in exactly what is code", () => {
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
    const builtIn = rules.filter(({ kind }) => kind === "built-in").map(({ id }) => id)
    expect(builtIn.sort()).toEqual(Object.keys(BUILT_INS).sort())
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
