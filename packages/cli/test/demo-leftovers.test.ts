import { spawn } from "node:child_process"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { orangebox, scratchFolder } from "./command.js"

const BIN = fileURLToPath(new URL("../bin/orangebox.js", import.meta.url))

/** A demo that is killed outright while its first agent works. */
function killedDemo(env: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [BIN, "demo"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (text.includes("an agent in its own process")) child.kill("SIGKILL")
  })
  return new Promise((resolve) => child.once("exit", () => resolve()))
}

test("what a demo that was killed outright left behind, the next one removes, and nothing else", async () => {
  const scratch = scratchFolder()
  try {
    const env = { TMPDIR: scratch.path }
    await killedDemo(env)
    expect(readdirSync(scratch.path).filter((name) => name.startsWith("orangebox-demo-"))).toHaveLength(2)
    for (const [name, owner] of Object.entries(STRANGERS)) {
      mkdirSync(join(scratch.path, name))
      if (owner !== undefined) writeFileSync(join(scratch.path, name, ".owner.json"), owner)
    }
    const next = await orangebox(["demo", "--json"], { cwd: scratch.path, env })
    const { data_folder } = JSON.parse(next.stdout) as { data_folder: string }
    expect(readdirSync(scratch.path).sort()).toEqual([...Object.keys(STRANGERS), data_folder.split("/").at(-1)].sort())
    expect(readdirSync(data_folder)).not.toContain(".owner.json")
  } finally {
    scratch.remove()
  }
})

/** Folders that only look like a dead demo's. */
const STRANGERS: Readonly<Record<string, string | undefined>> = {
  "orangebox-demo-kept": undefined,
  "orangebox-demo-odd": "{}",
  "orangebox-demo-elsewhere": JSON.stringify({ pid: 1, hostname: "another", machineId: "another" }),
}
