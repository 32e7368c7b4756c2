// Puts the help page of every command into docs/cli.md, between the marks that name the command. Run after a build.
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const document = new URL("../../../docs/cli.md", import.meta.url)
const bin = fileURLToPath(new URL("../bin/orangebox.js", import.meta.url))

const text = readFileSync(document, "utf8").replaceAll(/<!-- help (\w+) -->[\s\S]*?<!-- end -->/g, (_, command) => {
  const { stdout } = spawnSync(process.execPath, [bin, command, "--help"], { encoding: "utf8" })
  return `<!-- help ${command} -->\n\n\`\`\`text\n${stdout.trimEnd()}\n\`\`\`\n\n<!-- end -->`
})
writeFileSync(document, text)
