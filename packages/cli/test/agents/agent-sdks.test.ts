import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { CODING_AGENTS, install, installPackages } from "./coding-agents.js"

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url))

/** A folder with the packages of an SDK from their registry beside our own, and the examples; a text says why there is none. */
async function folderWith(name: string, packages: readonly string[], ...options: string[]): Promise<string | Error> {
  const folder = join(tmpdir(), "orangebox-test-agents", name)
  const isDone = join(folder, "installed")
  try {
    if (!existsSync(isDone)) await installPackages(folder, packages, ...options)
    writeFileSync(isDone, "")
  } catch (error) {
    return error as Error
  }
  mkdirSync(join(folder, "node_modules", "@orangebox"), { recursive: true })
  for (const ours of ["recorder", "journal", "contract", "dialects", "redaction"]) {
    const link = join(folder, "node_modules", "@orangebox", ours)
    rmSync(link, { force: true })
    symlinkSync(join(ROOT, "packages", ours), link)
  }
  cpSync(join(ROOT, "examples/agent-sdks"), folder, { recursive: true })
  return folder
}

const notTried = (what: string, why: string): string => {
  console.error(`\nNOT TRIED: ${what} could not be installed here, so nothing is known about it: ${why}\n`)
  return why
}

function runs(folder: string, example: string, env: NodeJS.ProcessEnv = {}): void {
  const { ORANGEBOX_HOME: _home, ORANGEBOX: _switch, ...rest } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, example)], {
    cwd: folder,
    encoding: "utf8",
    env: { ...rest, ...env },
    timeout: 120_000,
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
  expect(stdout).toMatch(/^\d+ events: /)
}

describe("[K-05] agents made with the SDKs from their registries are recorded with names, hooks and permissions", () => {
  test("OpenAI Agents", { timeout: 400_000 }, async (context) => {
    const folder = await folderWith("openai-agents-0.20.0", ["@openai/agents@0.20.0", "zod@4.6.7"])
    if (typeof folder !== "string") return context.skip(notTried("@openai/agents", folder.message))
    runs(folder, "openai-agents.mjs")
  })

  test("Claude Agent SDK", { timeout: 600_000 }, async (context) => {
    // Its program is Claude Code itself, which other tests install too: a third of a gigabyte that is not fetched twice.
    const program = await install(CODING_AGENTS.find(({ program: name }) => name === "claude")!)
    if (typeof program === "string") return context.skip(notTried("Claude Code", program))
    const packages = ["@anthropic-ai/claude-agent-sdk@0.3.326", "zod@4.6.7"]
    const folder = await folderWith("claude-agent-sdk-0.3.326", packages, "--omit=optional")
    if (typeof folder !== "string") return context.skip(notTried("@anthropic-ai/claude-agent-sdk", folder.message))
    runs(folder, "claude-agent.mjs", { CLAUDE_CODE: program.program })
  })
})
