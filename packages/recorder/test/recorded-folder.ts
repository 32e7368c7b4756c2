import { spawn } from "node:child_process"
import { join } from "node:path"
import { type Event, validate, validateRun } from "@orangebox/contract"
import { listJournals, readJournalBody, tailJournal } from "@orangebox/journal"

export { scratchFolder } from "../../decisions/test/scratch-folder.js"

/** Everything that can be read from the journals of a data folder, as a reader without a store would. */
export function readFolder(dataFolder: string) {
  const events: Event[] = []
  const bodies = new Map<string, Uint8Array>()
  const problems: string[] = []
  const kinds: string[] = []
  let tornTails = 0
  for (const file of listJournals(join(dataFolder, "journal"))) {
    const lines = tailJournal(file.path)
    for (let next = lines.next(); ; next = lines.next()) {
      if (next.done) {
        if (next.value.tornBytes > 0) tornTails++
        break
      }
      const item = next.value
      if (item.kind === "problem") {
        problems.push(item.problem.code)
        continue
      }
      kinds.push(item.line.kind)
      if (item.line.kind !== "event") continue
      events.push(item.line.event as Event)
      for (const entry of item.line.bodies) if (entry.hash) bodies.set(entry.hash, readJournalBody(file.path, entry))
    }
  }
  return { events, bodies, problems, kinds, tornTails }
}

/** Contract breaches in a folder, leaving aside that killed runs are open. */
export function breachesIn(folder: ReturnType<typeof readFolder>): string[] {
  const runs = new Set(folder.events.map((event) => event.run_id).filter((id) => id !== null))
  return [
    ...folder.events.flatMap((event) => validate(event)),
    ...[...runs].flatMap((id) =>
      validateRun(
        folder.events.filter((event) => event.run_id === id),
        { hasBody: (hash) => folder.bodies.has(hash) },
      ),
    ),
  ]
    .filter((problem) => problem.severity !== "open")
    .map((problem) => `${problem.code} ${problem.field}: ${problem.reason}`)
}

/** Runs a child script of this folder to its end. */
export function runChild(
  script: string,
  args: readonly string[],
): Promise<{ code: number | null; signal: string | null; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [new URL(`children/${script}`, import.meta.url).pathname, ...args], {
      stdio: ["ignore", "ignore", "pipe"],
    })
    let stderr = ""
    child.stderr.on("data", (data: Buffer) => {
      stderr += data.toString()
    })
    child.on("close", (code, signal) => resolve({ code, signal, stderr }))
  })
}
