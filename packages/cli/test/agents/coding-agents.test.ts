import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Finished, jsonOf, orangebox, scratchFolder } from "../command.js"
import { CODING_AGENTS, type CodingAgent, install } from "./coding-agents.js"
import { startScriptedVendor, type VendorTurn } from "./scripted-vendor.js"

const PROMPT = "What does the note say? Then write it to answer.txt."
/** Of two that run side by side the first takes longer. Plain commands: anything else some agents ask a person about. */
const SCRIPT: readonly VendorTurn[] = [
  { runs: ["cat note.txt"] },
  { runs: ["sleep 1; cat note.txt", "cat more.txt"] },
  { runs: ["cp note.txt answer.txt && cat answer.txt"] },
  { says: "The note says hello; it is in answer.txt." },
]

/** A work tree and a home of its own for one agent. */
function place(agent: CodingAgent) {
  const scratch = scratchFolder()
  const [home, work, data] = ["home", "work", "data"].map((name) => join(scratch.path, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [home, work]) mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(agent.home ?? {})) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: work })
  git("init", "-q", "-b", "main")
  writeFileSync(join(work, "note.txt"), "hello\n")
  writeFileSync(join(work, "more.txt"), "more\n")
  git("add", ".")
  git("commit", "-q", "-m", "a note")
  const env = {
    HOME: home,
    PWD: work,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local/share"),
    XDG_STATE_HOME: join(home, ".local/state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    ANTHROPIC_API_KEY: "sk-ant-api03-aaaabbbbccccddddeeeeffff",
    OPENAI_API_KEY: "sk-proj-aaaabbbbccccddddeeeeffff1234",
    GEMINI_API_KEY: "AIzaSyAAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHI",
  }
  return {
    cleanUp: () => git("clean", "-fdq"),
    orangebox: (args: readonly string[], origin: string, command: readonly string[] = []): Promise<Finished> =>
      orangebox([...args, "--data", data, ...(command.length > 0 ? ["--", ...command] : [])], {
        cwd: work,
        env: {
          ...env,
          ANTHROPIC_BASE_URL: origin,
          OPENAI_BASE_URL: `${origin}/v1`,
          GOOGLE_GEMINI_BASE_URL: origin,
        },
      }),
  }
}

interface ReplayDocument {
  readonly certificate: { readonly masks: readonly string[] } | null
  readonly report: { readonly counts: { readonly missed: number; readonly unconsumed: number } }
}

describe("[P-11] coding agents from their registries, recorded against a scripted model, replay and fork with the model gone", () => {
  for (const agent of CODING_AGENTS) {
    test(agent.name, { timeout: 900_000 }, async (context) => {
      const installed = await install(agent)
      if (typeof installed === "string") {
        console.error(
          `\nNOT TRIED: ${agent.name} could not be installed here, so nothing is known about it: ${installed}\n`,
        )
        context.skip(installed)
        return
      }
      const command = agent.command(installed.program, PROMPT)
      const { orangebox, cleanUp } = place(agent)

      const vendor = await startScriptedVendor(SCRIPT)
      const gone = vendor.origin
      const recorded = await orangebox(["run"], gone, command)
      await vendor.close()
      expect(recorded.exitCode, recorded.stderr).toBe(0)
      expect(recorded.stdout).toContain("The note says hello; it is in answer.txt.")
      const { runs } = jsonOf<{ runs: { run_id: string }[] }>(await orangebox(["runs", "--json"], gone))
      const source = runs[0]!.run_id

      cleanUp()
      const replayed = await orangebox(["replay", source, "--allow-tool-exec", "--json"], gone, command)
      expect(replayed.stdout).toBe(recorded.stdout)
      expect(replayed.exitCode, replayed.stderr).toBe(0)
      const document = JSON.parse(replayed.stderr.slice(replayed.stderr.indexOf("\n{\n"))) as ReplayDocument
      const named = document.certificate!.masks.map((id) => id.replace(/@\d{4}-\d\d-\d\d$/, ""))
      for (const mask of named) expect(mask).toMatch(/^(?:claude-code|codex|gemini-cli|opencode|pi)\./)
      expect(named).toEqual(expect.arrayContaining([...agent.masks]))

      cleanUp()
      const { rows } = jsonOf<{ rows: { kind?: string; n: number }[] }>(
        await orangebox(["show", source, "--json"], gone),
      )
      const last = `#${rows.filter(({ kind }) => kind === "model").at(-1)!.n}`
      const other = await startScriptedVendor([...SCRIPT.slice(0, 3), { says: "The fork says so." }])
      const sent = await orangebox(["fork", source, "--at", last, "--set", "model=another-model"], other.origin)
      expect(sent.stderr).toContain('[live]    "The fork says so."')
      expect(sent.exitCode, sent.stderr).toBe(0)
      expect(other.asked.splice(0)).toHaveLength(1)

      const set = ["--set", "temperature=0", "--allow-effects", "*"]
      const forked = await orangebox(["fork", source, "--at", last, ...set], other.origin, command)
      await other.close()
      expect(forked.exitCode, forked.stderr).toBe(0)
      expect(forked.stdout).toContain("The fork says so.")
      expect(other.asked).toHaveLength(1)
    })
  }
})
