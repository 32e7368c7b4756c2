import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { brotliDecompressSync } from "node:zlib"
import { rebuildStore } from "@orangebox/collector"
import { afterEach, expect, test } from "vitest"
import { findRun, readStore } from "../src/index.js"

/** A data folder that an earlier build recorded and collected: one run that ended, one whose process was killed in an answer. */
const FIXTURE = new URL("fixtures/data-folder-of-schema-2.json.br", import.meta.url)

/** What that build said of it. */
const SAID = {
  run_01M7JQ1SW11FWHF42HSPJY8GRM: {
    status: "completed",
    digest: "sha256:ad33b7ef99488e657e6ccffcc832e3af9093722e265b09aa84c237a65c269349",
    steps: ["1 run fix", "2 step plan", "3 model claude-x", "4 tool read_file", "5 step test", "6 tool run_tests"],
  },
  run_01M7JQ1SXTB0KA4JHQPGQTZWKA: {
    status: "crashed",
    digest: "sha256:bdf950b13dbc187ab16637444e4c91b790a7bb137a809379b30eb4947dc8ec0c",
    steps: ["1 run cut", "2 step turn", "3 model claude-x"],
  },
} as const

let folder: string | undefined
afterEach(() => folder && rmSync(folder, { recursive: true }))

function unpack(): string {
  folder = mkdtempSync(join(tmpdir(), "orangebox-older-"))
  const files = JSON.parse(brotliDecompressSync(readFileSync(FIXTURE)).toString()) as Record<string, string>
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, path), Buffer.from(content, "base64"), { mode: 0o600 })
  }
  return folder
}

async function readAll(data: string): Promise<unknown> {
  return readStore({ data }, async ({ store }) => {
    const { rows } = await store.listRuns({})
    const read = await Promise.all(
      rows.map(async ({ runId }) => {
        const { row, view, digest } = await findRun(store, runId)
        const steps = view.steps.map(({ n, kind, name }) => `${n} ${kind} ${name}`)
        return [runId, { status: row.status, digest, steps }]
      }),
    )
    return Object.fromEntries(read)
  })
}

test("[S-05] a store of the build before opens, and its runs read the same: numbers, statuses, digests", async () => {
  expect(await readAll(unpack())).toEqual(SAID)
})

test("[S-05] it can be rebuilt from its events, and reads the same again", async () => {
  const data = unpack()
  await rebuildStore({ dataFolder: data })
  expect(await readAll(data)).toEqual(SAID)
})
