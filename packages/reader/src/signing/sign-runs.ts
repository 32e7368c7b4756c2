import type { KeyObject } from "node:crypto"
import { type BodyHash, InputError, type RunSignature } from "@orangebox/contract"
import type { Certificate } from "@orangebox/replay"
import { hasEnded } from "@orangebox/runs"
import { findRun } from "../address/find-target.js"
import type { ReaderOptions } from "../open/data-folder.js"
import { type Reading, readStore } from "../open/open-reading.js"
import { everyRun, type LoadedRun, loadRun } from "../run/load-run.js"
import { recheckAt } from "../verify/verify-certificate.js"
import { type RunVerdict, verifyRun } from "../verify/verify-run.js"
import { extendChain, readChain, signStatement } from "./signature-chain.js"
import { keyId } from "./signing-key.js"

/** Signs one run as it stands now, with a certificate of its replay where one is given that holds. */
export async function signRun(
  options: ReaderOptions,
  address: string,
  key: KeyObject,
  certificate?: Certificate,
): Promise<RunSignature> {
  if (certificate) await mustHold(options, certificate)
  return readStore(options, async (reading) => {
    const run = await findRun(reading.store, address)
    if (certificate && ![certificate.source_run, certificate.replay_run].includes(run.row.runId)) {
      throw new InputError("CERTIFICATE", {
        what: `the certificate is about ${certificate.source_run}, not about this run`,
        where: run.row.runId,
      })
    }
    return signVerdict(reading, await signable(reading, run), key, certificate?.id as BodyHash | undefined)
  })
}

/** Signs every run that has ended and that this key has not signed yet, oldest first. */
export function signEveryRun(options: ReaderOptions, key: KeyObject): Promise<readonly RunSignature[]> {
  return readStore(options, async (reading) => {
    const mine = keyId(key)
    const signed = new Set(
      readChain(reading.folder.path).flatMap((line) =>
        "entry" in line && line.entry.statement.key === mine ? line.entry.statement.run_id : [],
      ),
    )
    const runIds: string[] = []
    for await (const { runId } of everyRun(reading.store, {})) if (!signed.has(runId)) runIds.push(runId)
    const made: RunSignature[] = []
    for (const [done, runId] of runIds.sort().entries()) {
      options.onProgress?.(done, runIds.length, "signing")
      const run = await loadRun(reading.store, runId)
      if (!run || !hasEnded(run.row.status) || run.row.lacksEvents) continue
      made.push(await signVerdict(reading, await signable(reading, run), key))
    }
    return made
  })
}

type Signable = RunVerdict & { readonly digest: string }

async function signable({ store }: Reading, run: LoadedRun): Promise<Signable> {
  const verdict = await verifyRun(store, run, { readBodies: true })
  const { digest } = verdict
  if (!hasEnded(run.row.status)) {
    throw new InputError("RUN_OPEN", {
      what: "the run has not ended: its digest changes with every event",
      where: run.row.runId,
      next: "Sign it when it has ended",
    })
  }
  if (digest === null) {
    throw new InputError("NO_DIGEST", {
      what: "the digest cannot be told: events are missing",
      where: run.row.runId,
      next: "What is not there cannot be vouched for",
    })
  }
  return { ...verdict, digest }
}

function signVerdict(
  { folder }: Reading,
  verdict: Signable,
  key: KeyObject,
  certificate: BodyHash | null = null,
): Promise<RunSignature> {
  return extendChain(folder.path, (place, previous) =>
    signStatement(
      {
        schema: "orangebox.signature/1",
        run_id: verdict.runId,
        digest: verdict.digest,
        status: verdict.status,
        events: verdict.events,
        gaps: gapsOf(verdict),
        certificate,
        signed_at: new Date().toISOString(),
        key: keyId(key),
        place,
        previous,
      },
      key,
    ),
  )
}

/** What `verify` has to say of a run, counted by code. */
export function gapsOf({ findings, declared }: RunVerdict): Readonly<Record<string, number>> {
  const gaps: Record<string, number> = {}
  for (const { code } of [...findings, ...declared]) gaps[code] = (gaps[code] ?? 0) + 1
  return gaps
}

async function mustHold(options: ReaderOptions, certificate: Certificate): Promise<void> {
  const found = await recheckAt(options, certificate)
  if (found.holds) return
  throw new InputError("CERTIFICATE", {
    what: `the certificate does not hold: ${found.reasons[0] ?? "no reason is known"}`,
    where: certificate.id,
    next: "Sign the run without it, or replay it again",
  })
}
