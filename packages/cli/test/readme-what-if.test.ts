import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { BIN, scratchFolder } from "./command.js"

const ROOT = fileURLToPath(new URL("../../../", import.meta.url))

test("[P-04] README's lines about replay, fork, diff and export work as they are written, one after the other", async () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8")
  const [, lines = ""] = /<!-- what-if -->\n```\n([\s\S]*?)```/.exec(readme) ?? []
  const port = await freePort()
  const scratch = scratchFolder()
  try {
    mkdirSync(join(scratch.path, "examples"))
    cpSync(join(ROOT, "examples/what-if.mjs"), join(scratch.path, "examples/what-if.mjs"))
    const script = lines
      .replaceAll("npx orangebox", `echo; "${process.execPath}" "${BIN}"`)
      // Whatever goes wrong on the way, the model is not left behind; where the last line ended it already, that is no failure.
      .replace("model &", `model ${port} &\ntrap "kill $! 2>/dev/null || :" EXIT\nsleep 2`)
      .replace("8787", String(port))
      .replace("kill %1", "kill $!")
      // Two runs that differ are a finding.
      .replace(/(diff last~2 last)/, "$1 || test $? = 1")
    const { ORANGEBOX_HOME: _home, ORANGEBOX: _switch, ...env } = process.env
    const ran = spawnSync("sh", ["-ec", `set -x\n${script}`], { cwd: scratch.path, encoding: "utf8", env })
    expect(ran.status, ran.stderr).toBe(0)
    expect(ran.stderr).toContain("certificate: issued")
    expect(ran.stdout).toMatch(/claude-y picks \w+ for "the roof"/)
    expect(existsSync(join(scratch.path, "forked.obxrun"))).toBe(true)
  } finally {
    scratch.remove()
  }
}, 120_000)

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
