import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = new URL("../../../", import.meta.url).pathname
const DOORS = ["recorder.ts", "run.ts", "step.ts", "logger.ts"]

/** What the examples take as given. */
const GIVEN = `
import { readFile } from "node:fs/promises"
import { Recorder, type CompiledPrompt, type Run, type Step } from "@orangebox/recorder"
declare const recorder: Recorder
declare const run: Run
declare const step: Step
declare const request: { model: string }
declare const path: string
declare const compiled: CompiledPrompt
declare const client: { create(request: object, options: object): Promise<{ text: string }> }
declare function answer(run: Run): Promise<string>
`

test("every example at a door of the recorder compiles", () => {
  const examples = DOORS.flatMap((file) => {
    const source = readFileSync(join(root, "packages/recorder/src", file), "utf8")
    return [...source.matchAll(/^ *\* ```ts\n([\s\S]*?)^ *\* ```/gm)].map(([, code]) => code!.replace(/^ *\* ?/gm, ""))
  })
  expect(examples.length).toBeGreaterThan(12)
  const imports = /^import .*\n/gm
  const bodies = examples.map((code, i) => `export async function example${i}() {\n${code.replace(imports, "")}}\n`)

  const folder = mkdtempSync(join(root, "node_modules/.cache-door-examples-"))
  try {
    const file = join(folder, "examples.ts")
    writeFileSync(file, GIVEN + bodies.join("\n"))
    const options = [
      "--ignoreConfig",
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--target",
      "es2023",
    ]
    const tsc = join(root, "node_modules/typescript/bin/tsc")
    const { stdout } = spawnSync(process.execPath, [tsc, ...options, "--types", "node", file], { encoding: "utf8" })
    expect(stdout).toBe("")
  } finally {
    rmSync(folder, { recursive: true })
  }
})
