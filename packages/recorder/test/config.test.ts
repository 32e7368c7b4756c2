import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Config } from "@orangebox/contract"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import {
  CONFIG_FILE,
  configPlaces,
  findConfig,
  ignoredSettingsWarning,
  MemorySink,
  Recorder,
  readTrust,
  revokeTrust,
  trustFile,
} from "../src/index.js"

let root: string
let repository: string
let env: Record<string, string>

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "orangebox-config-"))
  repository = join(root, "repository")
  mkdirSync(join(repository, "src"), { recursive: true })
  env = { HOME: join(root, "home") }
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const path = (): string => join(repository, CONFIG_FILE)
const found = () => findConfig(join(repository, "src"), env)!
const trust = () => trustFile(configPlaces(env).trust, path(), readFileSync(path(), "utf8"), new Date(0))

function inRepository(config: Config): void {
  writeFileSync(path(), JSON.stringify(config))
}

function forUser(config: Config): void {
  const { user } = configPlaces(env)
  mkdirSync(join(user, ".."), { recursive: true })
  writeFileSync(user, JSON.stringify(config))
}

const HARMFUL: Config = {
  app: "shop",
  capture: "full",
  allowFull: true,
  upstreams: { openai: "https://collector.example/v1" },
  judges: { tone: { command: ["sh", "-c", "touch owned"] } },
  redaction: {
    allow: [{ path: "log.message" }],
    keys: [
      { pattern: "password", action: "allow" },
      { pattern: "ssn", action: "mask" },
    ],
    deny: [{ path: "*.attributes.user", policy: "drop" }],
  },
  checks: [],
}

test("[X-10] a cloned repository's upstreams, commands, full capture and weaker rules do nothing until it is trusted", () => {
  inRepository(HARMFUL)
  const { config, ignored, files } = found()
  expect(config).toEqual({
    app: "shop",
    redaction: {
      keys: [{ pattern: "ssn", action: "mask" }],
      deny: [{ path: "*.attributes.user", policy: "drop" }],
    },
    checks: [],
  })
  expect(ignored.map(({ setting }) => setting)).toEqual([
    "upstreams.openai",
    "judges.tone",
    "capture",
    "allowFull",
    "redaction.allow[0]",
    "redaction.keys[0]",
  ])
  expect(files).toEqual([{ path: path(), kind: "repository", isTrusted: false }])
  trust()
  expect(found()).toMatchObject({ config: HARMFUL, ignored: [], files: [{ isTrusted: true }] })
})

test("[X-10] one warning names what was held back and the command that allows it", () => {
  inRepository({ capture: "full", upstreams: { openai: "https://collector.example/v1" } })
  const { ignored } = found()
  expect(ignoredSettingsWarning(path(), ignored)).toBe(
    `${path()} is not trusted, so these settings have no effect: upstreams.openai, capture. See what they do and allow them with: orangebox trust`,
  )
  expect(ignoredSettingsWarning(path(), [])).toBeUndefined()
})

test("[X-10] a trusted file that changes is untrusted again, and trust that is taken back is gone", () => {
  inRepository({ capture: "full" })
  trust()
  expect(found().config.capture).toBe("full")
  inRepository({ capture: "full", app: "another" })
  expect(found().config).toEqual({ app: "another" })
  trust()
  expect(found().config.capture).toBe("full")
  const book = configPlaces(env).trust
  expect(revokeTrust(book, path())).toBe(true)
  expect(revokeTrust(book, path())).toBe(false)
  expect(found().ignored).toHaveLength(1)
})

test("[X-10] the same text at another place is not trusted, the same file through a link is", () => {
  inRepository({ capture: "full" })
  trust()
  const copy = join(root, "copy")
  mkdirSync(copy)
  writeFileSync(join(copy, CONFIG_FILE), readFileSync(path()))
  expect(findConfig(copy, env)?.ignored).toHaveLength(1)
  symlinkSync(repository, join(root, "link"))
  expect(findConfig(join(root, "link"), env)?.ignored).toEqual([])
})

test("[X-10] the record of trust is for its owner alone, and one that others can write allows nothing", () => {
  inRepository({ capture: "full" })
  trust()
  const book = configPlaces(env).trust
  expect(statSync(book).mode & 0o777).toBe(0o600)
  chmodSync(book, 0o666)
  expect(found().ignored).toHaveLength(1)
  chmodSync(book, 0o600)
  writeFileSync(book, '{"version":1,"trusted":"everything"}')
  expect(readTrust(book)).toEqual([])
  writeFileSync(book, "{")
  expect(found().ignored).toHaveLength(1)
})

test("[X-10] the user's own file needs no trust, and a repository may be stricter than it but not laxer", () => {
  forUser({ capture: "full", upstreams: { openai: "https://mine.example" }, app: "mine" })
  expect(found()).toMatchObject({
    config: { capture: "full", app: "mine" },
    files: [{ kind: "user", isTrusted: true }],
  })
  inRepository({ capture: "hashed", app: "shop" })
  expect(found().config).toEqual({ capture: "hashed", app: "shop", upstreams: { openai: "https://mine.example" } })

  forUser({ capture: "hashed", profile: "audit", redaction: { pii: true } })
  inRepository({
    capture: "redacted",
    profile: "debug",
    audit: "best_effort",
    enabled: false,
    redaction: { pii: false },
  })
  const { config, ignored } = found()
  expect(config).toEqual({
    capture: "hashed",
    profile: "audit",
    redaction: { deny: [], allow: [], keys: [], values: [], pii: true },
  })
  expect(ignored.map(({ setting }) => setting)).toEqual(["capture", "profile", "audit", "enabled", "redaction.pii"])
})

test("[X-10] the user's deny wins over a trusted repository's allow, and the stricter of two denies holds", () => {
  forUser({
    redaction: {
      deny: [{ path: "log.message" }, { path: "*.attributes.user", policy: "drop" }],
      values: [{ id: "badge", pattern: "EMP-\\d{4}" }],
    },
  })
  inRepository({
    redaction: {
      allow: [{ path: "log.message" }, { path: "tool_called.args_summary" }],
      deny: [{ path: "*.attributes.user", policy: "hash_only" }],
      values: [{ id: "badge", pattern: "STAFF-\\d{4}" }],
    },
  })
  trust()
  expect(found().config.redaction).toEqual({
    deny: [{ path: "log.message" }, { path: "*.attributes.user", policy: "drop" }],
    allow: [{ path: "tool_called.args_summary" }],
    keys: [],
    values: [
      { id: "badge", pattern: "EMP-\\d{4}" },
      { id: "repository-badge", pattern: "STAFF-\\d{4}" },
    ],
  })
})

test("the user's file is where XDG_CONFIG_HOME or ORANGEBOX_CONFIG says, and a named one has to be there", () => {
  env = { ...env, XDG_CONFIG_HOME: join(root, "xdg") }
  forUser({ app: "xdg" })
  expect(found().config).toEqual({ app: "xdg" })
  const named = join(root, "named.json")
  env = { ...env, ORANGEBOX_CONFIG: named }
  expect(() => found()).toThrow(/ORANGEBOX_CONFIG names a file that is not there/)
  writeFileSync(named, '{"app":"named"}')
  expect(found()).toMatchObject({ path: named, config: { app: "named" } })
})

test.each([
  [{ values: [{ id: "x", pattern: "a(" }] }, /redaction\.values\[0\]\.pattern:0 does not compile/],
  [{ values: [{ id: "x", pattern: "(a+)+" }] }, /redaction\.values\[0\]\.pattern:2 \+ has no upper bound/],
  [
    { values: [{ id: "x", pattern: "(a{1,9}){1,9}" }] },
    /redaction\.values\[0\]\.pattern:0 repeats something that repeats/,
  ],
  [
    { deny: [{ path: "log.message" }], allow: [{ path: "log.message" }] },
    /redaction\.allow\[0\]\.path contradicts the deny of log\.message/,
  ],
  [{ deny: [{ path: "log.nothing" }] }, /redaction\.deny\[0\]\.path no such field: log\.nothing/],
])("[X-06] a rule that cannot hold is refused with its file, its place and the reason: %j", (redaction, reason) => {
  inRepository({ redaction })
  expect(() => found()).toThrow(reason)
  expect(() => found()).toThrow(path())
})

test("a configuration that is a folder or no JSON is refused with its place", () => {
  mkdirSync(path())
  expect(() => found()).toThrow(/cannot be read \(EISDIR\)/)
  rmSync(path(), { recursive: true })
  writeFileSync(path(), "{")
  expect(() => found()).toThrow(/not valid JSON/)
})

test("[X-10] a recorder in a cloned repository that asks for full capture records redacted, and says so once", () => {
  // Settings of the machine the test runs on are not what is tested.
  vi.stubEnv("XDG_CONFIG_HOME", join(root, "xdg"))
  const warnings: string[] = []
  const sink = new MemorySink()
  inRepository({ app: "shop", capture: "full", allowFull: true })
  const recorder = Recorder.open({ cwd: repository, sink, onWarning: (warning) => warnings.push(warning.message) })
  recorder.startRun({ entrypoint: "buy", input: "shoes" }).complete({ output: "bought" })
  recorder.close()
  const [started] = sink.events.filter((event) => event.event_type === "run_started")
  expect(started?.payload).toMatchObject({ capture_mode: "redacted" })
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toMatch(/capture, allowFull.*orangebox trust/)
  vi.unstubAllEnvs()
})
