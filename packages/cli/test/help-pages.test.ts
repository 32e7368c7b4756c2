import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
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
