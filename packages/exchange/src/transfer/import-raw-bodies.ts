import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { type RawCall, tellRawBodies } from "../formats/raw-bodies.js"
import type { SessionPlaces } from "../formats/session-file.js"
import { recordOf, wordOf } from "../formats/told-values.js"
import { readLines } from "./read-lines.js"

const LARGEST_BODY = 256 * 1024 * 1024

/** A folder of raw request and response bodies, with or without its index. */
export async function importRawBodies(
  folder: string,
  places: SessionPlaces & { readonly session: string },
): Promise<void> {
  const names = new Set(readdirSync(folder))
  const calls = names.has("index.jsonl")
    ? await indexedCalls(folder, names, places)
    : pairedCalls(folder, names, places)
  tellRawBodies(calls, places)
}

async function indexedCalls(folder: string, names: ReadonlySet<string>, places: SessionPlaces): Promise<RawCall[]> {
  const calls: RawCall[] = []
  for await (const { lines } of readLines(join(folder, "index.jsonl"))) {
    for (const line of lines) {
      if (!("value" in line)) {
        places.problem({ line: line.lineNo, reason: `index.jsonl: ${line.problem}` })
        continue
      }
      const entry = recordOf(line.value)
      const requestFile = fileIn(entry["request_file"], names)
      const responseFile = fileIn(entry["response_file"], names)
      if (requestFile === undefined) {
        places.problem({ line: line.lineNo, reason: "index.jsonl names a request that is not in the folder" })
        continue
      }
      calls.push({
        entry,
        key: requestFile,
        request: bytesOf(join(folder, requestFile)),
        response: responseFile === undefined ? undefined : bytesOf(join(folder, responseFile)),
        fileAtMs: statSync(join(folder, requestFile)).mtimeMs,
      })
    }
  }
  return calls
}

/** Without an index nothing says which answer belongs to which request. */
function pairedCalls(folder: string, names: ReadonlySet<string>, places: SessionPlaces): RawCall[] {
  const requests = [...names].filter((name) => name.endsWith(".request.json")).sort()
  const responses = [...names].filter((name) => name.endsWith(".response.json"))
  if (responses.length > 0)
    places.problem({
      line: undefined,
      reason: `there is no index.jsonl, so nothing says which of ${responses.length} answers belongs to which request: the answers are left out`,
    })
  return requests.map((name) => ({
    entry: {},
    key: name,
    request: bytesOf(join(folder, name)),
    response: undefined,
    fileAtMs: statSync(join(folder, name)).mtimeMs,
  }))
}

/** Only a name of the folder itself: an index may name any path. */
function fileIn(value: unknown, names: ReadonlySet<string>): string | undefined {
  const name = wordOf(value)?.split(/[\\/]/).at(-1)
  return name !== undefined && names.has(name) ? name : undefined
}

const bytesOf = (path: string): Uint8Array | undefined =>
  statSync(path).size > LARGEST_BODY ? undefined : readFileSync(path)
