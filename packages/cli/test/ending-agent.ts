import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

export type Ending =
  | "completes"
  | "gives nothing"
  | "tests pass"
  | "killed"
  | "killed in a tool"
  | "killed mid-stream"
  | "throws"
  | "fails"

/** Runs children/ending-agent.mjs in a process of its own until it is over; the id of its run. `until` is awaited before it is killed. */
export async function recordEnding(
  folder: string,
  ending: Ending,
  { origin = "", until }: { origin?: string; until?: Promise<unknown> } = {},
): Promise<string> {
  const path = fileURLToPath(new URL("children/ending-agent.mjs", import.meta.url))
  const child = spawn(process.execPath, [path, folder, ending, origin], { stdio: ["ignore", "pipe", "ignore"] })
  const exited = once(child, "exit")
  let said = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text
  })
  if (until !== undefined) {
    await until
    child.kill("SIGKILL")
  }
  await exited
  return said.trim()
}
