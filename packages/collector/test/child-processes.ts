import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export interface WriterChild {
  readonly runId: string
  readonly stepId: string
  readonly writerId: string
  readonly pid: number
  readonly child: ChildProcess
}

/** A process that records; see children/writer.mjs for what it can do. Gone when the test is. */
export async function startWriter(dataFolder: string, what: string): Promise<WriterChild> {
  const child = spawn(process.execPath, [here("children/writer.mjs"), dataFolder, what], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  const [text] = (await once(child.stdout, "data")) as [Buffer]
  return { ...(JSON.parse(text.toString().split("\n")[0]!) as Omit<WriterChild, "child">), child }
}

/** One that has ended, by whatever it does. */
export async function runWriter(dataFolder: string, what: string): Promise<WriterChild> {
  const writer = await startWriter(dataFolder, what)
  await ended(writer.child)
  return writer
}

export async function killed(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL")
  await ended(child)
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
}

/** A watching collector in a process of its own, once it has the store. */
export async function startCollector(dataFolder: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [here("children/collector.mjs"), dataFolder], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  await once(child.stdout, "data")
  return child
}
