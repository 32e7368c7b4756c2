import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { jsonOf, orangebox, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch

beforeEach(() => {
  scratch = scratchFolder()
})
afterEach(() => scratch.remove())

const path = (): string => join(scratch.path, "orangebox.config.json")
const here = (...args: string[]) =>
  orangebox(args, { cwd: scratch.path, env: { XDG_CONFIG_HOME: join(scratch.path, "xdg") } })

function inRepository(config: object): void {
  writeFileSync(path(), JSON.stringify(config))
}

test("[X-10] trust shows exactly what would take effect, and nothing does until somebody agrees", async () => {
  const tail = `${"x".repeat(400)}; touch owned`
  inRepository({ capture: "full", judges: { tone: { command: ["sh", "-c", tail] } }, app: "shop" })
  const asked = await here("trust")
  expect(asked.exitCode).toBe(1)
  expect(asked.stdout).toMatch(
    /^judges\.tone {2}starts this command when a check asks the judge +\["sh","-c","x{400}; touch owned"\]$/m,
  )
  expect(asked.stdout).toMatch(/^capture {6}records prompts, .* with the secrets in them {2}full$/m)
  expect(asked.stdout).toContain("not trusted: nothing changed")
  expect(asked.stderr).toContain("orangebox trust --yes")
  expect((await here("trust", "--list")).stdout).toBe("nothing is trusted\n")

  expect((await here("trust", "--yes")).stdout).toContain(`trusted: ${path()}`)
  expect(jsonOf(await here("trust", "--list", "--json"))).toMatchObject({ trusted: [{ path: path(), state: "valid" }] })
  expect((await here("trust")).stdout).toContain("already trusted")
})

test("[X-10] a file that changed is held back again, and trust can be taken back", async () => {
  inRepository({ capture: "full" })
  await here("trust", "--yes")
  inRepository({ capture: "full", upstreams: { openai: "https://elsewhere.example" } })
  expect(jsonOf(await here("trust", "--list", "--json"))).toMatchObject({ trusted: [{ state: "changed" }] })
  expect((await here("trust", "--json")).exitCode).toBe(1)
  await here("trust", "--yes")
  expect(jsonOf(await here("trust", "--revoke", "--json"))).toEqual({ path: path(), is_revoked: true })
  expect(jsonOf(await here("trust", "--json"))).toMatchObject({
    is_trusted: false,
    settings: [{ setting: "upstreams.openai", value: "https://elsewhere.example" }, { setting: "capture" }],
  })
})

test("[X-10] a file that asks for nothing dangerous needs no trust", async () => {
  inRepository({ app: "shop", capture: "hashed" })
  const { stdout, exitCode } = await here("trust")
  expect({ stdout, exitCode }).toEqual({ stdout: `${path()} holds nothing that needs trust\n`, exitCode: 0 })
})

test("[X-10] a weaker rule of a cloned repository masks nothing less, and redact says that it was held back", async () => {
  inRepository({ redaction: { keys: [{ pattern: "password", action: "allow" }], allow: [{ path: "log.message" }] } })
  const { stderr } = await orangebox(["redact"], {
    cwd: scratch.path,
    env: { XDG_CONFIG_HOME: join(scratch.path, "xdg") },
    input: "text",
  })
  expect(stderr).toContain(
    "redaction.allow[0], redaction.keys[0]. See what they do and allow them with: orangebox trust",
  )
})

test("[X-10] doctor names what is held back", async () => {
  inRepository({ capture: "full" })
  const { checks } = jsonOf<{ checks: { name: string }[] }>(await here("doctor", "--json"))
  expect(checks.find(({ name }) => name === "configuration")).toMatchObject({
    verdict: "warning",
    found: expect.stringContaining("is not trusted; held back: capture"),
  })
})

test.each([
  [["trust", "--list", "--yes"], "USAGE"],
  [["trust", "."], "NO_CONFIG"],
  [["trust", "no/such/folder"], "NO_CONFIG"],
])("%j is refused", async (args, code) => {
  const { stderr, exitCode } = await here(...args, "--json")
  expect(exitCode).toBe(2)
  expect(JSON.parse(stderr)).toMatchObject({ error: { code } })
})
