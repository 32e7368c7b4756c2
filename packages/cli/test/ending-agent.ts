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

/** Runs children/ending-agent.mjs in a process of its own until it is over; the id of its run. Killed when a piece of an answer has come. */
export async function recordEnding(folder: string, ending: Ending, origin = ""): Promise<string> {
  const path = fileURLToPath(new URL("children/ending-agent.mjs", import.meta.url))
  const child = spawn(process.execPath, [path, folder, ending, origin], { stdio: ["ignore", "pipe", "ignore"] })
  const exited = once(child, "exit")
  let said = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text
    if (said.includes("a piece is here")) child.kill("SIGKILL")
  })
  await exited
  return said.split("\n", 1)[0]!
}
