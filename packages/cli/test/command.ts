import { spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import { runCommandLine } from "../src/index.js"

export { type Scratch, scratchFolder } from "../../decisions/test/scratch-folder.js"

/** The built command, as a user starts it. */
export const BIN = fileURLToPath(new URL("../bin/orangebox.js", import.meta.url))

export interface Finished {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number | null
}

export interface CommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** What stands on stdin; nothing without it. */
  readonly input?: string | Uint8Array
  /** Send SIGTERM when stdout or stderr has said this. */
  readonly stopAfter?: RegExp
}

export function orangebox(args: readonly string[], options: CommandOptions = {}): Promise<Finished> {
  const { ORANGEBOX_HOME: _home, ORANGEBOX: _switch, NO_COLOR: _color, COLUMNS: _columns, ...env } = process.env
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: options.cwd ?? tmpdir(),
      env: { ...env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    })
    // A command that does not read its input may be gone before all of it is written.
    child.stdin.on("error", () => {}).end(options.input)
    let stdout = ""
    let stderr = ""
    let isStopped = false
    const lookForStop = (): void => {
      if (isStopped || !options.stopAfter?.test(stdout + stderr)) return
      isStopped = true
      child.kill("SIGTERM")
    }
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      lookForStop()
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
      lookForStop()
    })
    child.once("error", reject)
    child.once("close", (exitCode) => resolve({ stdout, stderr, exitCode }))
  })
}

/** The same without a process of its own, which is most of what a command costs: for tables of many cases. */
export async function orangeboxHere(
  args: readonly string[],
  /** Of the terminal that it speaks to; without it a pipe. */
  columns?: number,
): Promise<Finished> {
  const stream = () => Object.assign(new PassThrough(), columns === undefined ? {} : { isTTY: true, columns })
  const streams = { stdout: stream(), stderr: stream() }
  const exitCode = await runCommandLine(args, { ...streams, env: {} })
  const textOf = (stream: PassThrough): string => String(stream.read() ?? "")
  return { stdout: textOf(streams.stdout), stderr: textOf(streams.stderr), exitCode }
}

/** The one JSON document a command printed. */
export function jsonOf<T = Record<string, unknown>>({ stdout, stderr }: Finished): T {
  try {
    return JSON.parse(stdout) as T
  } catch {
    throw new Error(`no JSON on stdout: ${stdout}\n${stderr}`)
  }
}
