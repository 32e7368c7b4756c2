import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { catchUp, collectorStatus } from "@orangebox/collector"
import { advice, suggested } from "@orangebox/contract"
import { holderWords } from "@orangebox/reader"
import { openStoreReader } from "@orangebox/store"
import { formatBytes, plural } from "@orangebox/text"
import { flyCanary } from "./canary.js"
import { type Check, failed, ok, troubleAs, warning } from "./check.js"
import { findCanary } from "./find-canary.js"
import { checkConfig, checkDisk, checkFolder, checkNode, checkSwitch } from "./surroundings.js"
import { checkWire } from "./wire-canary.js"

export interface Examination {
  readonly dataFolder: string
  /** The canary's run; null when it could not fly. */
  readonly canaryRunId: string | null
  /** Where it flew: the data folder itself, or a scratch folder where there is none yet. */
  readonly isScratch: boolean
  readonly checks: readonly Check[]
}

export interface Patient {
  readonly dataFolder: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly nodeVersion: string
}

/** From the outside in: the machine, the folder, the store; then a canary through all of it, and one over the wire. */
export async function examine({ dataFolder, cwd, env, nodeVersion }: Patient): Promise<Examination> {
  const surroundings = [
    checkNode(nodeVersion),
    checkSwitch(env),
    checkConfig(cwd),
    checkFolder(dataFolder),
    checkDisk(dataFolder),
  ]
  const isScratch = !existsSync(dataFolder)
  const folder = isScratch ? mkdtempSync(join(tmpdir(), "orangebox-doctor-")) : dataFolder
  try {
    const flight = await flyThrough(folder)
    const wire = flight.runId === null ? [] : await checkWire(folder, env)
    if (wire.length > 0) await catchUp({ dataFolder: folder })
    const store = await examineStore(folder)
    return {
      dataFolder,
      isScratch,
      canaryRunId: flight.runId,
      checks: [...surroundings, ...store, ...flight.checks, ...wire],
    }
  } finally {
    if (isScratch) rmSync(folder, { recursive: true, force: true })
  }
}

/** Through recorder, journal and collector into the store, and back by reading and by search. */
async function flyThrough(folder: string): Promise<{ runId: string | null; checks: Check[] }> {
  try {
    const canary = await flyCanary(folder)
    if ("refused" in canary) {
      return {
        runId: null,
        checks: [failed("canary: journal", canary.refused, "Put right what the checks above name")],
      }
    }
    const journal =
      canary.dropped === 0
        ? ok("canary: journal", `${canary.runId} written`)
        : failed("canary: journal", `${plural(canary.dropped, "record")} dropped`, "Check disk space and permissions")
    const { behindBytes, heldBy, failure } = await catchUp({ dataFolder: folder })
    if (failure)
      return { runId: canary.runId, checks: [journal, failed("canary: collector", failure.what, failure.advice)] }
    const collector =
      behindBytes === 0
        ? ok("canary: collector", heldBy ? `collected by ${holderWords(heldBy)}` : "collected")
        : warning(
            "canary: collector",
            `behind by ${formatBytes(behindBytes)}`,
            "Another collector is busy; ask again in a moment",
          )
    const reader = openStoreReader(join(folder, "store"))
    try {
      return { runId: canary.runId, checks: [journal, collector, ...(await findCanary(reader, canary))] }
    } finally {
      await reader.close()
    }
  } catch (error) {
    return { runId: null, checks: [troubleAs("canary", error)] }
  }
}

async function examineStore(folder: string): Promise<Check[]> {
  try {
    const status = await collectorStatus(folder)
    const { store, lockHolder, problems } = status
    const lag = `behind by ${plural(status.lagRecords, "record")}, ${formatBytes(status.lagBytes)}`
    return [
      store ? ok("sqlite", store.engine) : failed("sqlite", "no store could be made", "See the canary below"),
      ...(store
        ? [ok("store", `schema ${store.schemaVersion}, ${plural(store.runs, "run")}, ${plural(store.events, "event")}`)]
        : []),
      ok("lock", lockHolder ? `held by ${holderWords(lockHolder)}` : "free"),
      status.lagBytes === 0 ? ok("lag", "none") : warning("lag", lag, advice`Run: ${suggested("collect")}`),
      problems.length === 0
        ? ok("journals", plural(status.files, "file"))
        : warning(
            "journals",
            `${plural(problems.length, "problem")} met while reading them`,
            advice`Run: ${suggested("collect", "--status")}`,
          ),
    ]
  } catch (error) {
    return [troubleAs("store", error)]
  }
}
