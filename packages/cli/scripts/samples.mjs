// The samples of real output in README.md and docs/context.md, made anew. Run after a build to write them; a test holds what stands there against them.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const bin = fileURLToPath(new URL("../bin/orangebox.js", import.meta.url))

/** Each by the document it stands in and the mark around it there. */
export function samples() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "orangebox-samples-")))
  try {
    const { ORANGEBOX_HOME: _home, ORANGEBOX: _switch, ...env } = process.env
    const run = (args, columns) => {
      const options = { cwd: folder, encoding: "utf8", env: { ...env, COLUMNS: columns } }
      const { stdout, stderr } = spawnSync(process.execPath, args, options)
      return { stdout, all: stderr + stdout }
    }
    const demo = run([bin, "demo", "--data", "./demo-data"], "100").all
    run([join(root, "examples/audited-agent.mjs"), ".orangebox"], "")
    const context = run([bin, "context", "last#5"], "").stdout
    const snapshots = run([bin, "snapshot", "last", "--list"], "100").stdout.split("\n").slice(0, 5)
    return [
      [
        "README.md",
        "demo",
        `$ npx orangebox demo --data ./demo-data\n${demo.slice(0, demo.indexOf("\n\nAll of it is in"))}`,
      ],
      ["docs/context.md", "context", `$ orangebox context last#5\n${context.trimEnd()}`],
      ["docs/context.md", "snapshots", ["$ orangebox snapshot last --list", ...snapshots, "…"].join("\n")],
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What stands between the marks of a sample. */
export const sampleIn = (document, name) =>
  new RegExp(`<!-- ${name} -->\n\`\`\`text\n([\\s\\S]*?)\n\`\`\`\n<!-- /${name} -->`).exec(
    readFileSync(join(root, document), "utf8"),
  )?.[1]

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [document, name, text] of samples()) {
    const before = sampleIn(document, name)
    if (before === undefined) throw new Error(`${document} has no sample ${name}`)
    const path = join(root, document)
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace(before, () => text),
    )
  }
}
