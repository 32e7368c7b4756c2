import { openDataFolder } from "@orangebox/journal"
import type { RebuildReport } from "@orangebox/store"
import { catchUp } from "./catch-up.js"
import type { CatchUpOptions, CatchUpReport } from "./catch-up-report.js"
import { heldElsewhere, tryToHold } from "./held-store.js"

export interface RebuildOptions extends Pick<CatchUpOptions, "prices"> {
  readonly dataFolder: string
  readonly onProgress?: (done: number, total: number | undefined, what: string) => void
}

/**
 * Catches up, then derives runs, steps, roll-ups and the search index again from the stored events: for a store whose derived rows are in
 * doubt, or that was filled by an older build. Needs the store for itself.
 */
export async function rebuildStore(
  options: RebuildOptions,
): Promise<{ readonly caughtUp: CatchUpReport; readonly rebuilt: RebuildReport }> {
  const { dataFolder, onProgress } = options
  const { storeFolder } = openDataFolder(dataFolder)
  const held = tryToHold(storeFolder, options)
  if (!("store" in held)) throw heldElsewhere(storeFolder, held.heldBy)
  try {
    const caughtUp = await catchUp({
      dataFolder,
      store: held.store,
      ...(onProgress === undefined
        ? {}
        : { onProgress: (done: number, total: number) => onProgress(done, total, "reading journals") }),
    })
    const rebuilt = await held.store.rebuild(onProgress === undefined ? {} : { onProgress })
    return { caughtUp, rebuilt }
  } finally {
    await held.release()
  }
}
