import { existsSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { checkDependencies, compare } from "../check-dependencies.mjs"
import { checkDocs, pathsIn } from "../check-docs.mjs"
import { checkDoors, exportsOf } from "../check-doors.mjs"
import { checkImports, PACKAGE_ORDER, packagesBehind, specifiersOf } from "../check-imports.mjs"
import { checkVocabulary } from "../check-vocabulary.mjs"

const root = new URL("../..", import.meta.url).pathname

describe("the tree is the architecture", () => {
  test("imports only point up the package list, through the door, and the recorder pulls in no native module", () => {
    expect(checkImports(root)).toEqual([])
  })

  test("the check sees every form of import", () => {
    const source = `import a from "one"\nimport { type B } from 'two'\nexport { c } from "three"\nimport "four"\nconst d = await import("five")\nimport {\n  e,\n} from "six"`
    expect(specifiersOf(source)).toEqual(["one", "two", "three", "four", "five", "six"])
  })

  test("[O-13] an application that only records gets our own packages, nothing else", () => {
    const behind = [...packagesBehind(root, "@orangebox/recorder")].sort()
    expect(behind.filter((name) => !name.startsWith("@orangebox/"))).toEqual([])
  })

  test("[O-13] what a package imports is what it declares", () => {
    expect(compare({ name: "a", dependencies: { b: "1", c: "1" } }, new Set(["b", "d"]))).toEqual([
      "a imports d without declaring it",
      "a declares c and never imports it",
    ])
    expect(checkDependencies(root)).toEqual([])
  })

  test("[O-13] no door is wider than its users need", () => {
    expect(
      exportsOf('export { a, type B, c as d } from "./x.js"\nexport type { E } from "./y.js"\nexport const f = 1'),
    ).toEqual(["a", "d", "f"])
    expect(checkDoors(root)).toEqual([])
  })

  test("every path that ARCHITECTURE.md and the other documents name exists", () => {
    expect(pathsIn("see `packages/contract/src/ids.ts` and [this](docs/x.md), not `npm test`")).toEqual([
      "packages/contract/src/ids.ts",
      "docs/x.md",
    ])
    expect(checkDocs(root)).toEqual([])
  })

  test("ARCHITECTURE.md knows every package there is", () => {
    const text = readFileSync(`${root}/ARCHITECTURE.md`, "utf8")
    for (const name of PACKAGE_ORDER.filter((entry) => existsSync(`${root}/packages/${entry}`))) {
      expect(text).toContain(`packages/${name}`)
    }
  })

  test("words the glossary tells us to avoid are not used", () => {
    expect(checkVocabulary(root)).toEqual([])
  })
})
