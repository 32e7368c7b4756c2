import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { InputError } from "@orangebox/contract"
import type { McpClient } from "@orangebox/server"
import { debuggerSkill, SKILL } from "../debugger-skill.js"
import { writeNewFile } from "../new-file.js"

/** What one file of a client came to. */
export interface Installed {
  readonly path: string
  readonly outcome: "written" | "replaced" | "already there"
}

/**
 * Writes a client's files: how to start the server, and the skill where it reads skills. What is there and was changed is left as it is,
 * and nothing is written then, unless that is forced.
 */
export function installFor(
  client: McpClient,
  folder: string,
  command: readonly string[],
  isForced: boolean,
): Installed[] {
  const files = filesOf(client, folder, command, isForced)
  return files.map(({ path, text, isThere }) => {
    if (text === undefined) return { path, outcome: "already there" }
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeNewFile(join(folder, path), [Buffer.from(text)], true, 0o644)
    return { path, outcome: isThere ? "replaced" : "written" }
  })
}

/** What would stand in a client's files, for a user who writes them by hand. */
export function filesOf(client: McpClient, folder: string, command: readonly string[], isForced: boolean) {
  const before = textAt(join(folder, client.file))
  const config = { path: client.file, text: client.edit(before, command, isForced), isThere: before !== undefined }
  if (client.skills === undefined) return [config]
  const path = join(client.skills, SKILL, "SKILL.md")
  const skill = debuggerSkill()
  const there = textAt(join(folder, path))
  if (there !== undefined && there !== skill && !isForced) {
    throw new InputError("FILE_EXISTS", {
      what: "the skill is there already and is another one: an older one, or changed by you",
      where: path,
      next: "Look at it; to replace it, add --force",
    })
  }
  return [config, { path, text: there === skill ? undefined : skill, isThere: there !== undefined }]
}

const textAt = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, "utf8") : undefined)
