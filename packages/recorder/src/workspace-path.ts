import { realpathSync } from "node:fs"
import { isAbsolute, relative, resolve, sep } from "node:path"

/** Where an application works. */
export interface Workspace {
  /** What a tool's relative paths begin at. */
  readonly cwd: string
  /** The top of its git work tree, the folder itself where there is none: by name, and by what a link of that name stands for. */
  readonly tops: readonly string[]
}

export function workspaceOf(cwd: string, root: string = cwd): Workspace {
  return { cwd: resolve(cwd), tops: [...new Set([resolve(root), realPath(root)])] }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

/** One name for a file, however it was told: relative to the workspace, with slashes. Undefined for what lies outside. */
export function workspacePath({ cwd, tops }: Workspace, told: string): string | undefined {
  const path = resolve(cwd, told)
  for (const top of tops) {
    const inside = relative(top, path)
    if (inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside))
      return inside.replaceAll("\\", "/")
  }
  return undefined
}
