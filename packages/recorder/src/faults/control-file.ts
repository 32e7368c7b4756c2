import { rmSync } from "node:fs"
import { join } from "node:path"
import { OrangeboxError, RunId } from "@orangebox/contract"
import { ensurePrivateFolder, readPrivateFile, replacePrivateFile } from "@orangebox/journal"

/** A user outside the process asks for a snapshot of what a run sees. */
export interface SnapshotRequest {
  readonly requestedBy: "runtime_user" | "builder_user"
}

const FOLDER = "control"
const LOOK_EVERY_MS = 200
const MOST_BYTES = 4096

const requestPath = (dataFolder: string, runId: string): string => join(dataFolder, FOLDER, `${runId}.snapshot`)

/** Leaves word for the process that writes a run; it looks when a step ends. */
export function requestSnapshot(dataFolder: string, runId: string, request: SnapshotRequest): void {
  checkRunId(runId)
  ensurePrivateFolder(join(dataFolder, FOLDER))
  replacePrivateFile(requestPath(dataFolder, runId), JSON.stringify(request))
}

/** Whether a request is still waiting, because no step has ended since or no recorder is there to see it. */
export function isSnapshotRequested(dataFolder: string, runId: string): boolean {
  return readRequest(requestPath(dataFolder, runId)) !== undefined
}

/** For a command that asked and found no recorder to answer. */
export function withdrawSnapshotRequest(dataFolder: string, runId: string): void {
  checkRunId(runId)
  rmSync(requestPath(dataFolder, runId), { force: true })
}

/** The id becomes a file's name. */
function checkRunId(runId: string): void {
  if (!RunId.safeParse(runId).success) {
    throw new OrangeboxError("RUN_ID", {
      what: `${JSON.stringify(runId)} is not the id of a run`,
      next: "Give it as run_…",
    })
  }
}

/** Looks for requests, at most a few times a second: a step may end a thousand times as often. */
export function watchForRequests(
  dataFolder: string,
  monoMs: () => number,
): (runId: string) => SnapshotRequest | undefined {
  const lookedAt = new Map<string, number>()
  return (runId) => {
    const now = monoMs()
    if (now - (lookedAt.get(runId) ?? Number.NEGATIVE_INFINITY) < LOOK_EVERY_MS) return undefined
    if (lookedAt.size > 1000) lookedAt.clear()
    lookedAt.set(runId, now)
    const path = requestPath(dataFolder, runId)
    const request = readRequest(path)
    if (request !== undefined) rmSync(path, { force: true })
    return request
  }
}

function readRequest(path: string): SnapshotRequest | undefined {
  try {
    const read = JSON.parse(readPrivateFile(path, MOST_BYTES).toString("utf8")) as Partial<SnapshotRequest> | null
    return { requestedBy: read?.requestedBy === "builder_user" ? "builder_user" : "runtime_user" }
  } catch {
    return undefined
  }
}
