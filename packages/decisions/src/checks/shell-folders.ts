import { joinPaths, type ShellReading } from "../shell/index.js"

/**
 * Where an agent's shell may stand between two of its calls. Some tools keep one shell for all of them, others start one for each, and a
 * recording does not tell. So every call is read from the root, and what it would touch from where a kept shell stands is possible, too.
 */
export class ShellFolders {
  #elsewhere: readonly string[] = []

  /** The folders beside the root in which the next call may begin. */
  get elsewhere(): readonly string[] {
    return this.#elsewhere
  }

  /** A call has run its commands. A folder that the text does not tell is not followed. */
  ran({ endsIn }: ShellReading): void {
    if (endsIn === undefined || (endsIn.length === 1 && endsIn[0] === "")) return
    const reached = [...new Set(endsIn.flatMap((folder) => joinPaths(["", ...this.#elsewhere], folder) ?? []))]
    // Who goes up has gone down before: from the root it would lead out of the workspace, and that is believed only where nothing else fits.
    const inside = reached.filter((folder) => !leadsOut(folder))
    this.#elsewhere = (inside.length > 0 ? inside : reached).filter((folder) => folder !== "").slice(-MOST_FOLDERS)
  }
}

function leadsOut(folder: string): boolean {
  let depth = 0
  for (const part of folder.split("/")) {
    if (part === "..") depth--
    else if (part !== "" && part !== ".") depth++
    if (depth < 0) return true
  }
  return false
}

const MOST_FOLDERS = 8
