import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { displayWidth } from "../../text/src/index.js"
import { COMMANDS } from "../src/commands.js"
import { orangeboxHere } from "./command.js"

const DOCUMENT = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8")

test.each(COMMANDS.filter(({ isHidden }) => !isHidden).map(({ name }) => name))(
  "[O-02] %s has a help page with examples, and docs/cli.md holds it as it is printed",
  async (name) => {
    const { stdout, exitCode } = await orangeboxHere([name, "--help"])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/Examples:\n {2}(orangebox|source)/)
    expect(stdout).toContain("--json")
    const section = DOCUMENT.split(/^## /m).find((part) => part.startsWith(`${name}\n`))
    expect(section, "run: node packages/cli/scripts/write-help.mjs").toContain(
      `\`\`\`text\n${stdout.trimEnd()}\n\`\`\``,
    )
  },
)

test.each(["", ...COMMANDS.filter(({ isHidden }) => !isHidden).map(({ name }) => name)])(
  "[Q-10] the help page of %s fits a terminal of 80 columns, and a pipe; an example that is longer goes on behind a backslash",
  async (name) => {
    for (const columns of [undefined, 80, 97, 160]) {
      const { stdout } = await orangeboxHere([name, "--help"].filter(Boolean), columns)
      const lines = stdout.split("\n")
      const most = Math.min(columns ?? 80, 100)
      expect(lines.filter((line) => displayWidth(line) > most)).toEqual([])
      // A paragraph is broken where it is shown, and nowhere else.
      const text = lines.slice(lines.indexOf("Global Options:")).join("\n")
      for (const [, line = "", next = ""] of text.matchAll(/^(?! )(\S.*[^.:?\n])\n(?! )(?=(\S+))/gm))
        expect(displayWidth(`${line} ${next}`)).toBeGreaterThan(most)
      for (const [index, line] of lines.entries()) if (line.endsWith(" \\")) expect(lines[index + 1]).toMatch(/^ {4}\S/)
    }
  },
)
