import { basename, dirname, isAbsolute, relative, resolve, sep } from "node:path"

/**
 * Where the snapshots of a data folder lie, seen from the workspace. That is the folder which holds `.orangebox`, as it is found upwards from the
 * working directory; a data folder that stands elsewhere (`--data`, `ORANGEBOX_HOME`) is seen from the working directory itself.
 */
export function snapshotFolderOf(dataFolder: string, cwd: string): string {
  const folder = resolve(cwd, dataFolder)
  const isAround = (holder: string): boolean =>
    `${resolve(cwd)}${sep}`.startsWith(holder.endsWith(sep) ? holder : `${holder}${sep}`)
  const seen = isAround(dirname(folder)) ? basename(folder) : relative(cwd, folder)
  // On another drive there is no way from one to the other; and what is printed is the same on every system.
  const place = isAbsolute(seen) || seen === "" ? basename(folder) : seen.split(sep).join("/")
  return `${place}/snapshots`
}
