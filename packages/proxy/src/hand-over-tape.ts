import { randomBytes } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { type Event, payloadRefs } from "@orangebox/contract"
import { TAPE_VARIABLE } from "@orangebox/recorder"
import {
  bodyFileName,
  readCutOffReplay,
  readSavedReplay,
  type SavedReplay,
  type Tape,
  type TapeSettings,
} from "@orangebox/replay"

// A program loads it without waiting, so it is the one module here that is not of the module system of today.
const DOOR = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../bundle/tape-door.cjs" : "./tape-door.cjs", import.meta.url),
)

export interface TapeToHandOver extends Pick<TapeSettings, "data" | "policy" | "fork" | "key"> {
  readonly tape: Tape
  readonly sourceEvents: readonly Event[]
  /** A call of the agent is about to be answered, and waits for this. */
  asked(call: { readonly stepId: string; readonly isForkReached: boolean }): Promise<void>
}

/** A tape that processes of a command find in their environment. */
export interface HandedTape {
  readonly variables: Readonly<Record<string, string>>
  /** What each process left that opened a recorder. */
  results(): readonly SavedReplay[]
  close(): void
}

/** Lays a tape out in a folder of its own for programs that record themselves: their `Recorder.open` answers from it. */
export async function handOverTape({ tape, sourceEvents, asked, ...how }: TapeToHandOver): Promise<HandedTape> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "orangebox-tape-"))
  const at = (name: string): string => join(folder, name)
  for (const name of ["bodies", "results"]) mkdirSync(at(name), { mode: 0o700 })
  writeFileSync(at("events.json"), JSON.stringify(sourceEvents), { mode: 0o600 })
  for (const hash of hashesIn(sourceEvents)) {
    const bytes = tape.bodies.get(hash)
    if (bytes !== undefined) writeFileSync(join(at("bodies"), bodyFileName(hash)), bytes, { mode: 0o600 })
  }
  const hook = await listenForCalls(asked)
  const settings: TapeSettings = {
    ...how,
    door: DOOR,
    runId: tape.runId,
    tape: folder,
    beforeAnswer: hook.url,
    results: at("results"),
  }
  writeFileSync(at("settings.json"), JSON.stringify(settings), { mode: 0o600 })
  return {
    variables: { [TAPE_VARIABLE]: at("settings.json") },
    results: () => resultsIn(at("results"), tape),
    close() {
      hook.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** What each process left at its end, or had recorded when it was killed. */
function resultsIn(folder: string, tape: Tape): SavedReplay[] {
  const names = readdirSync(folder).sort()
  const textOf = (name: string): string => readFileSync(join(folder, name), "utf8")
  return names.flatMap((name) => {
    if (name.endsWith(".json")) return [readSavedReplay(textOf(name))]
    const process = name.replace(/\.\w+$/, "")
    if (!name.endsWith(".records") || names.includes(`${process}.json`)) return []
    return [readCutOffReplay(textOf(name), tape, `process ${process.split("-")[0]} of the command`)]
  })
}

function hashesIn(events: readonly Event[]): ReadonlySet<string> {
  return new Set(
    events.flatMap((event) => [
      ...event.artifact_refs.map(({ artifact_hash }) => artifact_hash),
      ...payloadRefs(event.event_type, event.payload).map(({ hash }) => hash),
    ]),
  )
}

async function listenForCalls(asked: TapeToHandOver["asked"]): Promise<{ readonly url: string; close(): void }> {
  const token = randomBytes(16).toString("hex")
  const server = createServer((request, response) => {
    if (request.url !== `/${token}` || request.method !== "POST") {
      response.writeHead(404).end()
      return
    }
    void text(request)
      .then((said) => asked(JSON.parse(said) as Parameters<typeof asked>[0]))
      // Whatever went wrong here, the agent gets its answer.
      .catch(() => undefined)
      .finally(() => response.writeHead(204).end())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/${token}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
