import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { KEYS, keyOf } from "../src/keys.js"
import { type Colours, DARK, LIGHT } from "../src/tokens.js"

const css = readFileSync(new URL("../src/theme.css", import.meta.url), "utf8")
const block = (selector: string): string =>
  css.slice(css.indexOf(`${selector} {`), css.indexOf("}", css.indexOf(`${selector} {`)))
const GROUNDS = ["bg0", "bg1", "bg2", "sel"] as const
const NOT_TEXT = [...GROUNDS, "line", "edge"] as const

/** Relative luminance and contrast as WCAG 2 has them. */
function contrast(one: string, other: string): number {
  const light = (colour: string): number => {
    const [r, g, b] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
  }
  const [high, low] = [light(one), light(other)].sort((a, b) => b - a)
  return (high! + 0.05) / (low! + 0.05)
}

describe.each([
  ["dark", DARK, ":root"],
  ["light", LIGHT, ':root[data-theme="light"]'],
] as const)("the %s colours", (_, colours: Colours, selector) => {
  test("[O-05] the style sheet and the canvas use the same ones", () => {
    for (const [name, colour] of Object.entries(colours)) expect(block(selector)).toContain(`--${name}: ${colour};`)
  })

  test("[O-05] every text colour is read with a contrast of at least 4.5 on all four grounds", () => {
    for (const [name, colour] of Object.entries(colours)) {
      if ((NOT_TEXT as readonly string[]).includes(name)) continue
      for (const ground of GROUNDS)
        expect(contrast(colour, colours[ground]), `${name} on ${ground}`).toBeGreaterThanOrEqual(4.5)
    }
  })

  test("[O-05] edges of controls stand out from the panel", () => {
    expect(contrast(colours.edge, colours.bg1)).toBeGreaterThanOrEqual(3)
  })
})

describe("keys", () => {
  const press = (key: string, more = {}) => ({
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    isComposing: false,
    ...more,
  })

  test("[O-05] no key does two things in one place", () => {
    for (const place of ["runs", "run", "diff"] as const) {
      const keys = KEYS.filter(({ where }) => where === place || where === "everywhere").flatMap((one) => one.keys)
      expect(new Set(keys).size).toBe(keys.length)
    }
  })

  test("[O-05] letters are the field's own while somebody types, and can be switched off", () => {
    expect(keyOf(press("j"), false, false)).toBe("j")
    expect(keyOf(press("j"), true, false)).toBeNull()
    expect(keyOf(press("Escape"), true, false)).toBe("Escape")
    expect(keyOf(press("j", { ctrlKey: true }), false, false)).toBeNull()
    expect(keyOf(press("j"), false, true)).toBeNull()
    expect(keyOf(press("ArrowDown"), false, true)).toBe("ArrowDown")
    expect(keyOf(press("q"), false, false)).toBeNull()
  })
})
