import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { BIN, jsonOf, orangebox, type Scratch, scratchFolder } from "./command.js"

const COMMAND = ["node", BIN, "mcp"]

describe("[O-04] orangebox mcp --install", () => {
  let scratch: Scratch
  beforeEach(() => {
    scratch = scratchFolder()
  })
  afterEach(() => scratch.remove())
  const here = (...args: string[]) => orangebox(["mcp", ...args], { cwd: scratch.path })
  const read = (path: string): string => readFileSync(join(scratch.path, path), "utf8")
  function write(path: string, text: string): void {
    mkdirSync(dirname(join(scratch.path, path)), { recursive: true })
    writeFileSync(join(scratch.path, path), text)
  }

  test.each([
    ["claude", ".mcp.json", ".claude/skills"],
    ["codex", ".codex/config.toml", ".agents/skills"],
    ["gemini", ".gemini/settings.json", ".gemini/skills"],
    ["opencode", "opencode.json", ".opencode/skills"],
    ["cursor", ".cursor/mcp.json", undefined],
    ["vscode", ".vscode/mcp.json", undefined],
  ])("%s: writes how to start it, and the skill, and says so; a second time nothing", async (client, file, skills) => {
    const skill = skills && `${skills}/orangebox-debugger/SKILL.md`
    const first = await here("--install", client)
    expect(first.stdout).toContain(`written  ${file}`)
    expect(read(file)).toContain(JSON.stringify(BIN))
    expect(read(file)).not.toContain("npx")
    if (skill) {
      expect(first.stdout).toContain(`written  ${skill}`)
      expect(read(skill)).toMatch(/^---\nname: orangebox-debugger\ndescription: .{1,1024}\n---\n/)
    }
    const before = read(file)
    const second = jsonOf<{ files: { outcome: string }[] }>(await here("--install", client, "--json"))
    expect(new Set(second.files.map(({ outcome }) => outcome))).toEqual(new Set(["already there"]))
    expect(read(file)).toBe(before)
  })

  test("a project that has it installed starts its own, and never asks a registry", async () => {
    write("node_modules/.bin/orangebox", "")
    await here("--install", "claude")
    expect(JSON.parse(read(".mcp.json"))).toEqual({
      mcpServers: { orangebox: { command: "npx", args: ["--no", "orangebox", "mcp"] } },
    })
  })

  test("leaves what else is configured as it is", async () => {
    write(".mcp.json", '{\n    "mcpServers": { "other": { "command": "x" } },\n    "more": [1]\n}\n')
    write(".codex/config.toml", 'model = "m"\n\n[mcp_servers.other]\ncommand = "x"\n')
    await here("--install", "claude")
    await here("--install", "codex")
    expect(JSON.parse(read(".mcp.json"))).toEqual({
      mcpServers: { other: { command: "x" }, orangebox: { command: "node", args: COMMAND.slice(1) } },
      more: [1],
    })
    expect(read(".codex/config.toml")).toBe(
      'model = "m"\n\n[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.orangebox]\ncommand = "node"\nargs = ' +
        `${JSON.stringify(COMMAND.slice(1))}\n`,
    )
  })

  test.each([
    ["claude", ".mcp.json", '{ "mcpServers": { "orangebox": { "command": "mine" } } }'],
    ["codex", ".codex/config.toml", '[mcp_servers.orangebox]\ncommand = "mine"\n\n[other]\na = 1\n'],
    ["claude", ".claude/skills/orangebox-debugger/SKILL.md", "my own words"],
  ])("%s: overwrites no %s that was changed, unless that is forced", async (client, file, text) => {
    write(file, text)
    const refused = await here("--install", client)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain("--force")
    expect(read(file)).toBe(text)
    expect(
      existsSync(join(scratch.path, client === "codex" ? ".agents" : file === ".mcp.json" ? ".claude" : ".mcp.json")),
    ).toBe(false)
    expect((await here("--install", client, "--force")).stdout).toContain(`replaced  ${file}`)
    expect(read(file)).not.toBe(text)
    if (client === "codex") expect(read(file)).toContain("[other]\na = 1")
  })

  test("a configuration with comments is left as it is, and what to add is said", async () => {
    write("opencode.json", '{ // mine\n "mcp": {} }')
    const refused = await here("--install", "opencode")
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain('{"mcp":{"orangebox":{"type":"local"')
  })

  test("--print writes nothing", async () => {
    const { stdout } = await here("--print", "gemini", "--allow-findings")
    expect(stdout).toContain('"--allow-findings"')
    expect(existsSync(join(scratch.path, ".gemini"))).toBe(false)
  })
})
