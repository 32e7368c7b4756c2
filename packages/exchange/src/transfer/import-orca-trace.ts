import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { OrcaTrace } from "../formats/orca-trace.js"
import type { SessionPlaces } from "../formats/session-file.js"
import { recordOf } from "../formats/told-values.js"
import { readLines } from "./read-lines.js"

const LARGEST_BLOB = 64 * 1024 * 1024

/** A folder with a manifest, its events and their blobs. */
export async function importOrcaTrace(
  folder: string,
  places: SessionPlaces & { readonly session: string },
): Promise<void> {
  const reader = new OrcaTrace({
    ...places,
    manifest: manifestIn(folder, places),
    blob: (hash) => blobIn(folder, hash),
  })
  for await (const { lines } of readLines(join(folder, "events.jsonl"))) {
    for (const line of lines) {
      if ("value" in line) reader.take(line.value, line.lineNo)
      else places.problem({ line: line.lineNo, reason: line.problem })
    }
  }
  reader.finish()
}

function manifestIn(folder: string, places: SessionPlaces) {
  try {
    return recordOf(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")))
  } catch {
    places.problem({ line: undefined, reason: "manifest.json is not JSON; the trace is read without it" })
    return {}
  }
}

function blobIn(folder: string, hash: string): string | undefined {
  // A hash names a file of the folder; anything else could name any file.
  if (!/^[0-9a-f]{64}$/.test(hash)) return undefined
  const path = join(folder, "blobs", hash.slice(0, 2), hash)
  try {
    return statSync(path).size > LARGEST_BLOB ? undefined : readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
