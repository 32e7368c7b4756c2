// What long agent sessions take on disk: packs and chunk tables of a real store, against the bodies as they are, each gzipped alone, and
// zstd -19 --long=31 over all of them together. Every call resends its history; only new text should cost.
import { spawnSync } from "node:child_process"
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { bodyHash } from "@orangebox/contract"
import { openStore } from "@orangebox/store"
import { row, times } from "./measure.mjs"
import { generatedSession, trajectorySessions } from "./sessions.mjs"

export const title = "Stored bytes of long agent sessions"

export async function run() {
  const sets = [
    [
      "generated, Anthropic style, 300 calls",
      generatedSession({ seed: 1, calls: 300, bytesPerCall: 1300, style: "anthropic" }),
    ],
    [
      "generated, OpenAI style, 300 calls",
      generatedSession({ seed: 2, calls: 300, bytesPerCall: 1300, style: "openai" }),
    ],
    ["real trajectories", trajectorySessions("../shared/corpora/trajectories").flatMap(({ session }) => session)],
  ]
  const rows = []
  for (const [name, bodies] of sets) {
    if (bodies.length === 0) rows.push(row(name, "skipped: the corpus is not here"))
    else rows.push(...(await measure(name, bodies)))
  }
  return rows
}

async function measure(name, bodies) {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  const raw = bodies.reduce((sum, body) => sum + body.length, 0)
  const gzip = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)
  const zstd = zstdOf(bodies, folder)

  const { store } = openStore(join(folder, "store"))
  const newText = new Set()
  // Four bodies a commit: about what a busy agent gives the collector between two of its ticks.
  for (let i = 0; i < bodies.length; i += 4) {
    await store.commit({
      bodies: bodies.slice(i, i + 4).map((bytes) => {
        const hash = bodyHash(bytes)
        newText.add(hash)
        return { hash, bytes, byteSize: bytes.length, mime: "application/json" }
      }),
    })
  }
  await store.close()
  const again = openStore(join(folder, "store")).store
  const status = await again.status()
  const ours = status.bodyBytesOnDisk
  await again.close()
  rmSync(folder, { recursive: true, force: true })

  const share = ours / raw
  return [
    row(`${name}: ${bodies.length} bodies`, megabytes(raw)),
    row("  each gzipped alone", megabytes(gzip)),
    row("  zstd -19 --long=31 of all", zstd === undefined ? "skipped: no zstd here" : megabytes(zstd)),
    row("  orangebox, packs and chunk tables", megabytes(ours)),
    row("  share of raw", `${(share * 100).toFixed(2)} %`, "≤ 2 %", share <= 0.02),
    ...(zstd === undefined ? [] : [row("  orangebox : zstd", times(ours / zstd), "≤ 2 ×", ours / zstd <= 2)]),
  ]
}

function zstdOf(bodies, folder) {
  const file = join(folder, "all")
  const out = openSync(file, "w")
  for (const body of bodies) writeSync(out, body)
  closeSync(out)
  const { status } = spawnSync("zstd", ["-q", "-19", "--long=31", "-T2", file, "-o", `${file}.zst`])
  return status === 0 && existsSync(`${file}.zst`) ? statSync(`${file}.zst`).size : undefined
}

const megabytes = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`)
