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

/** A collector that has just run out of file descriptors, and gets them back after a while. */
export async function startStarvedCollector(dataFolder: string): Promise<ChildProcess> {
  const command = `ulimit -n 256; exec "$0" "$1" "$2"`
  const child = spawn("sh", ["-c", command, process.execPath, here("children/starved.mjs"), dataFolder], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  await once(child.stdout, "data")
  return child
}

/** Catches up in a process of its own, and says how much memory that took. */
export async function collectInChild(dataFolder: string): Promise<{ maxRssBytes: number }> {
  const child = spawn(process.execPath, [here("children/catch-up.mjs"), dataFolder], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  const [text] = (await once(child.stdout, "data")) as [Buffer]
  return JSON.parse(text.toString()) as { maxRssBytes: number }
}
