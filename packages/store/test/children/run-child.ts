import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

export interface ChildEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
}

/** Runs one of the scripts in this folder against the built package and waits for its end. */
export async function runChild(script: string, args: readonly string[], failpoint = ""): Promise<ChildEnd> {
  const child = startChild(script, args, failpoint)
  let stderr = ""
  child.stderr?.on("data", (data: Buffer) => {
    stderr += data.toString()
  })
  return new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, stderr })))
}

export function startChild(script: string, args: readonly string[], failpoint = ""): ChildProcess {
  const path = fileURLToPath(new URL(script, import.meta.url))
  return spawn(process.execPath, [path, ...args], {
    env: { ...process.env, ORANGEBOX_FAILPOINT: failpoint },
    stdio: ["ignore", "pipe", "pipe"],
  })
}
