import { spawn } from "node:child_process"
import type { JudgeCommand } from "@orangebox/contract"
import type { Judge } from "@orangebox/decisions"

const DEFAULT_TIMEOUT_MS = 60_000
/** An answer is a few lines; a judge that writes more than this is not answering. */
const MOST_ANSWER_BYTES = 1_000_000
const MOST_COMPLAINT_CHARS = 2_000
/** How long the output of a judge that has ended is waited for. */
const LAST_WORDS_MS = 1_000

/**
 * A judge that is a command: the question as JSON on its stdin, the answer as JSON on its stdout. It gets a process group of its own, which
 * is ended as a whole when it has answered, hangs, says too much or is no longer wanted. Whatever goes wrong is an error that says so; the
 * caller makes `unknown` of it.
 */
export function judgeCommand({ command, timeoutMs = DEFAULT_TIMEOUT_MS }: JudgeCommand): Judge {
  return (question, signal) =>
    new Promise<string>((resolve, reject) => {
      const [program = "", ...args] = command
      const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], detached: process.platform !== "win32" })
      const chunks: Buffer[] = []
      let size = 0
      let complaint = ""
      let late: NodeJS.Timeout | undefined
      const settle = (act: () => void): void => {
        clearTimeout(timer)
        clearTimeout(late)
        signal?.removeEventListener("abort", onAbort)
        endGroup(child.pid)
        child.stdout.destroy()
        child.stderr.destroy()
        act()
      }
      const fail = (reason: string): void => settle(() => reject(new Error(reason)))
      const onAbort = (): void => fail("it was interrupted")
      const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs)
      signal?.addEventListener("abort", onAbort, { once: true })
      child.once("error", (error) => fail(`it cannot be started: ${error.message}`))
      child.stdout.on("data", (bytes: Buffer) => {
        size += bytes.length
        if (size > MOST_ANSWER_BYTES) fail(`it wrote more than ${MOST_ANSWER_BYTES} bytes`)
        else chunks.push(bytes)
      })
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        complaint = (complaint + text).slice(-MOST_COMPLAINT_CHARS)
      })
      // A judge that answers without reading its question closes its end early.
      child.stdin.on("error", () => {}).end(`${JSON.stringify(question)}\n`)
      // What it left running would hold its output open; with that ended, `close` follows when everything it wrote has been read. Something
      // that left its group holds it still, and what the judge itself said has long been read.
      child.once("exit", () => {
        endGroup(child.pid)
        late = setTimeout(() => {
          child.stdout.destroy()
          child.stderr.destroy()
        }, LAST_WORDS_MS)
      })
      child.once("close", (code, killedBy) => {
        if (code === 0) settle(() => resolve(Buffer.concat(chunks).toString("utf8")))
        else fail(`it ended with ${killedBy ?? `exit code ${code}`}${lastLine(complaint)}`)
      })
    })
}

function lastLine(complaint: string): string {
  const line = complaint.trim().split("\n").at(-1) ?? ""
  return line === "" ? "" : `: ${line.slice(0, 160)}`
}

/** Ends a judge and whatever it started. Its leader may be gone already, the others not. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL")
  } catch {
    // No process is left.
  }
}
