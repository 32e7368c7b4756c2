import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Event } from "@orangebox/contract"
import { type Journal, type JournalOptions, openDataFolder, openJournal } from "@orangebox/journal"
import { type Gap, openStoreReader, type RecordedProblem, type TraceReader, type WriterRow } from "@orangebox/store"
import { onTestFinished } from "vitest"
import { SampleRun } from "./sample-run.mjs"

/** A data folder of its own, gone when the test is. */
export function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-collector-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return openDataFolder(join(folder, "data")).path
}

export const journalFolderOf = (folder: string): string => join(folder, "journal")
export const storeFolderOf = (folder: string): string => join(folder, "store")

export function openWriter(folder: string, options: Partial<JournalOptions> = {}): Journal {
  const journal = openJournal({ appId: "sample", recorderVersion: "0", folder: journalFolderOf(folder), ...options })
  onTestFinished(() => journal.close({ exitCode: null, reason: "closed" }))
  return journal
}

export const sayGoodbye = (journal: Journal): void => journal.close({ exitCode: 0, reason: "exit" })

/** A run of `logs` log lines from beginning to end. */
export function recordRun(journal: Journal, logs = 3): SampleRun {
  const run = new SampleRun(journal)
  run.start()
  for (let i = 0; i < logs; i++) run.log(`line ${i}`)
  run.complete()
  return run
}

/** A folder whose one writer recorded a run and ended as it should. */
export function recordedFolder(logs?: number): { readonly folder: string; readonly run: SampleRun } {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = recordRun(journal, logs)
  sayGoodbye(journal)
  return { folder, run }
}

export interface StoredRun {
  readonly status: string | undefined
  readonly types: readonly string[]
  readonly messages: readonly string[]
  readonly annotations: readonly Event[]
  readonly gaps: readonly Gap[]
}

/** Opens what was stored and closes it again with the test. */
export function readStore(folder: string): TraceReader {
  const reader = openStoreReader(storeFolderOf(folder))
  onTestFinished(() => reader.close())
  return reader
}

export async function readRun(folder: string, runId: string): Promise<StoredRun> {
  const reader = openStoreReader(storeFolderOf(folder))
  try {
    const { events } = await reader.eventsOf(runId, { limit: 1_000_000 })
    return {
      status: (await reader.getRun(runId))?.status,
      types: events.map((event) => event.event_type),
      messages: events.flatMap((event) => (event.event_type === "log" ? [event.payload.message] : [])),
      annotations: await reader.annotationsOf(runId),
      gaps: await reader.gapsOf(runId),
    }
  } finally {
    await reader.close()
  }
}

export async function problemsIn(folder: string): Promise<readonly RecordedProblem[]> {
  const reader = openStoreReader(storeFolderOf(folder))
  try {
    return await reader.problems({ limit: 1000 })
  } finally {
    await reader.close()
  }
}

export async function writersIn(folder: string): Promise<readonly WriterRow[]> {
  const reader = openStoreReader(storeFolderOf(folder))
  try {
    return await reader.writers()
  } finally {
    await reader.close()
  }
}
