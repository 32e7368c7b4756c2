import { execFile } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

/** A coding agent as its registry has it, and how it is started without a person. */
export interface CodingAgent {
  readonly name: string
  readonly packageName: string
  readonly version: string
  readonly program: string
  /** Its own step after installing, run by hand: npm may be set up not to run any. */
  readonly afterInstall?: string
  command(program: string, prompt: string): readonly string[]
  /** Files it wants in its home folder. */
  readonly home?: Readonly<Record<string, string>>
  /** The masks under which two runs on the same day differ. */
  readonly masks: readonly string[]
}

const PI_EXTENSION = `export default (pi) => { pi.registerProvider("anthropic", { baseUrl: process.env.ANTHROPIC_BASE_URL }) }`

export const CODING_AGENTS: readonly CodingAgent[] = [
  {
    name: "Claude Code",
    packageName: "@anthropic-ai/claude-code",
    version: "2.1.326",
    program: "claude",
    afterInstall: "install.cjs",
    command: (program, prompt) => [program, "-p", prompt, "--allowedTools", "Bash"],
    masks: [],
  },
  {
    name: "Codex",
    packageName: "@openai/codex",
    version: "0.169.0",
    program: "codex",
    command: (program, prompt) => [
      "sh",
      "-c",
      `exec ${program} -c openai_base_url="$OPENAI_BASE_URL" "$@"`,
      "sh",
      "exec",
      "--dangerously-bypass-approvals-and-sandbox",
      prompt,
    ],
    masks: ["codex.item-ids", "codex.item-times", "codex.turn-ids"],
  },
  {
    name: "Gemini CLI",
    packageName: "@google/gemini-cli",
    version: "0.61.0",
    program: "gemini",
    command: (program, prompt) => [program, "--yolo", "--skip-trust", "-p", prompt],
    home: { ".gemini/settings.json": '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' },
    masks: ["gemini-cli.process-group"],
  },
  {
    name: "opencode",
    packageName: "opencode-ai",
    version: "1.18.33",
    program: "opencode",
    afterInstall: "postinstall.mjs",
    command: (program, prompt) => [program, "run", "-m", "anthropic/claude-sonnet-4-6", prompt],
    masks: [],
  },
  {
    name: "pi",
    packageName: "@earendil-works/pi-coding-agent",
    version: "0.74.2",
    program: "pi",
    command: (program, prompt) => [program, "-p", "--provider", "anthropic", prompt],
    home: { ".pi/agent/extensions/orangebox.js": PI_EXTENSION },
    masks: [],
  },
]

/** Where it is started from; a text says why it could not be installed. Kept between runs of the suite on one machine. */
export async function install(agent: CodingAgent): Promise<{ readonly program: string } | string> {
  const { packageName, version, program } = agent
  const folder = join(tmpdir(), "orangebox-test-agents", `${program}-${version}`)
  const started = join(folder, "node_modules", ".bin", program)
  const isDone = join(folder, "installed")
  if (existsSync(isDone) && existsSync(started)) return { program: started }
  try {
    await installPackages(folder, [`${packageName}@${version}`])
    if (agent.afterInstall) {
      await run(process.execPath, [agent.afterInstall], {
        cwd: join(folder, "node_modules", packageName),
        timeout: 60_000,
      })
    }
    await run(started, ["--version"], { timeout: 60_000, env: { ...process.env, HOME: folder } })
    writeFileSync(isDone, "")
    return { program: started }
  } catch (error) {
    return `${packageName}@${version}: ${String(error).split("\n").slice(0, 3).join(" ")}`
  }
}

/** Packages from their registry, without the steps they want to run. */
export async function installPackages(
  folder: string,
  packages: readonly string[],
  ...options: string[]
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), '{"private":true}')
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...options, ...packages]
  await run("npm", args, { cwd: folder, timeout: 240_000 })
}
