import { expect, test } from "vitest"
import { datedChangelog, withVersion } from "../release.mjs"

test("a release sets the version of a package and of ours that it needs, and no other", () => {
  const manifest = { name: "@orangebox/x", version: "0.1.0", dependencies: { "@orangebox/y": "0.1.0", fzstd: "0.1.1" } }
  expect(withVersion(manifest, "0.2.0")).toEqual({
    ...{ name: "@orangebox/x", version: "0.2.0" },
    dependencies: { "@orangebox/y": "0.2.0", fzstd: "0.1.1" },
  })
})

test("a release dates what was unreleased, and is refused where nothing is", () => {
  const before = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.1.0 (2026-10-01)\n\n- old\n"
  expect(datedChangelog(before, "0.2.0", "2026-11-18")).toBe(
    "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-18)\n\n- new\n\n## 0.1.0 (2026-10-01)\n\n- old\n",
  )
  expect(datedChangelog("# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- old\n", "0.2.0", "2026-11-18")).toBeUndefined()
})
