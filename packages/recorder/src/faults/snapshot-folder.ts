import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"

/**
 * Where the snapshots of a data folder lie, seen from the workspace. That is the folder which holds `.orangebox`, as it is found upwards from the
 * working directory; a data folder that stands elsewhere (`--data`, `ORANGEBOX_HOME`) is seen from the working directory itself.
 */
export function snapshotFolderOf(dataFolder: string, cwd: string): string {
  const folder = resolve(cwd, dataFolder)
  const isAround = !relative(dirname(folder), cwd).startsWith("..")
  const seen = isAround && basename(folder) === ".orangebox" ? ".orangebox" : relative(cwd, folder)
  // On another drive there is no way from one to the other; and what is recorded is the same on every system.
  return join(isAbsolute(seen) ? basename(folder) : seen, "snapshots")
    .split(sep)
    .join("/")
}
