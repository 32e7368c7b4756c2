import { realpathSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import type { CheckContext } from "@orangebox/decisions"
import { explain } from "@orangebox/redaction"
import type { ReaderOptions } from "../open/data-folder.js"
import { dataPath } from "../open/data-folder.js"
import { pricesFor } from "../run/prices.js"
import { rulesHere } from "./rules-here.js"

/**
 * What checks need to know that no recording says. The workspace is the folder that holds `.orangebox`, because that is where the agent was
 * started; data that is kept elsewhere says nothing about it.
 */
export function checkPlace(options: Pick<ReaderOptions, "data"> & { readonly root?: string }): CheckContext {
  const root = options.root === undefined ? folderOf(dataPath(options.data)) : resolve(options.root)
  const { ruleset } = rulesHere(process.cwd(), options)
  return {
    home: homedir(),
    findSecrets: (text) => explain(text, ruleset),
    prices: pricesFor(process.cwd()),
    ...(root === undefined ? {} : { root }),
    ...(root === undefined || !isFolder(root) ? {} : { resolvePath: (path: string) => followedFrom(root, path) }),
  }
}

const folderOf = (data: string): string | undefined => (basename(data) === ".orangebox" ? dirname(data) : undefined)

/** A link that leads in a circle, or a folder that may not be looked into, is none. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** Where a path really leads: links are followed in as much of it as exists, and the rest is added as it stands. */
function followedFrom(root: string, path: string): string | undefined {
  if (path.includes("\0") || path.startsWith("~")) return undefined
  const rest: string[] = []
  let at = isAbsolute(path) ? path : join(root, path)
  for (;;) {
    try {
      const real = join(realpathSync(at), ...rest.reverse())
      // A root that is reached through a link itself stays the root.
      const realRoot = realpathSync(root)
      return real === realRoot || real.startsWith(`${realRoot}/`) ? join(root, real.slice(realRoot.length)) : real
    } catch {
      if (at === dirname(at)) return undefined
      rest.push(basename(at))
      at = dirname(at)
    }
  }
}
