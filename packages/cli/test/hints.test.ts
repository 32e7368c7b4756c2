import { readdirSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { COMMANDS } from "../src/commands.js"
import { orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

/** Commands that name others to go on with, or to do instead. */
const SAYING = [
  "show last~1",
  "show last --budget 320",
  "show last~1 --budget 320",
  "show last#99",
  "show run_01NOTHING",
  "context last~1",
  "context last~1 --budget 320",
  "context last~1#14 --budget 400",
  "context last~1#2",
  "context last~1#5",
  "step last~1#12",
  "step last~1#4 --budget 400",
  "step last#7 --brief",
  "step last~1#8 --body request",
  "step last~1#8 --body nothing",
  "step last~1#99",
  "diff last~1 last",
  "diff last~1 last --budget 300",
  "diff last~1 last --at a5",
  "diff last~1#4 last~1#8",
  "diff last~1#4 last",
  "check last~1",
  "report last~1",
  "decisions last~1",
  "snapshot last --list",
  "cache last~1",
  "cache last~1 --budget 320",
  "cache last~1#14",
  "diagnose last",
  "diagnose last~1",
  "search February",
  "search February --limit 1",
  "runs --limit 1",
  "verify",
  "verify last",
  "replay last~1",
  "replay last",
  "fork last~1 --at #8 --set model=other -- true",
  "export last~1 -o out.obxrun",
  "prune --dry-run",
  "collect --status",
  "trust --list",
]

describe("what a command in another folder names to go on with", () => {
  let scratch: Scratch
  let data: string
  let demo: string

  beforeAll(async () => {
    scratch = scratchFolder()
    // A folder whose name a shell takes for two words.
    data = `${scratch.path}/in a folder`
    demo = (await orangebox(["demo", "--data", data], { cwd: scratch.path, env: { TMPDIR: scratch.path } })).stdout
    expect(readdirSync(scratch.path)).toContain("in a folder")
  })
  afterAll(() => scratch.remove())

  const followUp = async (command: string): Promise<void> => {
    const [, name, ...rest] = wordsOf(command)
    // A page is served until it is stopped: what has to be right in a hint is the address.
    const args = [name === "ui" ? "show" : name!, ...rest]
    // SQL runs in a process of its own, which the build has.
    const { exitCode, stderr } = await (args[0] === "sql" ? orangebox(args) : orangeboxHere(args))
    expect([0, 1], `${command}\n${stderr}`).toContain(exitCode)
  }

  test("[Q-10] the demo's own hints work as they are printed", async () => {
    const commands = commandsIn(demo)
    expect(commands.length).toBeGreaterThan(6)
    for (const command of commands) await followUp(command)
  })

  test.each(COMMANDS.filter(({ isHidden }) => !isHidden).map(({ name }) => name))(
    "[Q-10] a mistake in %s names its help page, whatever folder was named",
    async (name) => {
      const { stderr } = await orangeboxHere([name, "--nonsense", "--data", "./demo-data"])
      expect(stderr.split("\n").at(-2)).toBe(`  next  See: orangebox ${name} --help`)
      expect((await orangeboxHere([name, "--help"])).exitCode).toBe(0)
    },
  )

  test.each([
    [["show", "--budget", "x"], "orangebox show --help"],
    [["check", "last", "--rule", "nonsense"], "orangebox check --help"],
    [["sql", "select"], "orangebox sql --help"],
    [["sql", "drop table runs"], "orangebox sql --help"],
  ])("[Q-10] %j names its help page in a folder that was named", async (args, help) => {
    const { stderr } = await orangebox([...args, "--data", data])
    expect(stderr.trimEnd()).toMatch(new RegExp(`: ${help}$`))
    expect(stderr).not.toContain("--data")
  })

  test("[Q-10] a refused query is told in prose at 80 columns, with every view there is", async () => {
    const { stderr } = await orangebox(["sql", "drop table runs", "--data", data], { env: { COLUMNS: "80" } })
    expect(stderr).not.toContain("\\")
    const { stdout } = await orangebox(["sql", "--help"])
    for (const [, view] of stdout.matchAll(/^ {2}([a-z_]+) {2,}(?=[a-z])/gm)) expect(stderr).toContain(view)
    expect(stderr).toContain("contributor_rollups")
  })

  test("[Q-10] doctor names the folder that was named, and says that it warned", async () => {
    const { stdout } = await orangebox(["doctor", "--data", data], { env: { ORANGEBOX: "off" } })
    expect(stdout).toContain("warn  recording")
    expect(stdout).not.toContain("all well")
  })

  test.each(SAYING)("[Q-10] every command that %s names works as it is printed", async (typed) => {
    const args = typed.split(" ").map((word) => word.replace("out.obxrun", `${scratch.path}/out.obxrun`))
    const at = args.indexOf("--")
    const before = at === -1 ? args : args.slice(0, at)
    const { stdout, stderr } = await orangeboxHere([...before, "--data", data, ...args.slice(before.length)])
    for (const command of commandsIn(stdout + stderr)) {
      if (!/ (run|fork|replay) .*-- /.test(command)) await followUp(command)
      if (/^orangebox (?!trust|completion|doctor|demo|run )/.test(command) && !command.includes(".obxrun"))
        expect(command).toContain(`--data '${data}'`)
    }
  })
})

/** Whole commands of ours: at the end of a line, up to what separates them, and without what is only an example of one. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/(?<=^|: |· |→ | {2}|\()(?:npx )?orangebox [a-z]+(?: [^·\n]*)?/gm)]
    .map(([command]) => command.trim().replace(/\)$/, "").replace(/^npx /, ""))
    .filter((command) => !/…|<|--help/.test(command))

const wordsOf = (command: string): string[] =>
  [...command.matchAll(/(?:'([^']*)'|"([^"]*)"|([^\s'"]+))+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"),
  )
