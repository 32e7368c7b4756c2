import { statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { advice, type Config, InputError, OrangeboxError, suggested } from "@orangebox/contract"
import { type DataFolder, findDataFolder, openDataFolder } from "@orangebox/journal"
import { findConfig } from "@orangebox/recorder"
import { bindToCluster, boundCluster, hasEmbeddedStore } from "@orangebox/store"

/** Where a reader looks, and whom it tells how that goes. */
export interface ReaderOptions {
  /** The data folder, where it is not the one that is found from here. */
  readonly data?: string | undefined
  readonly onProgress?: (done: number, total: number | undefined, what: string) => void
  /** Hears what stood in the way of a whole answer, a sentence each. */
  readonly onWarning?: (message: string) => void
}

/** Where recordings are, or would be. */
export function dataPath(data: string | undefined): string {
  return data === undefined ? findDataFolder() : resolve(data)
}

/** A data folder that is there. Reading commands create none: a typing mistake must not become an empty folder that says "0 runs". */
export function locateData(data: string | undefined): DataFolder {
  const path = dataPath(data)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) {
    throw new InputError("NO_DATA", {
      what: "there is no data folder here",
      where: path,
      next: "Record something first, name another folder with --data or ORANGEBOX_HOME, or try: orangebox demo",
    })
  }
  if (!found.isDirectory()) {
    throw new InputError("NOT_A_DATA_FOLDER", {
      what: "this is a file, not a data folder",
      where: path,
      next: NAME_ANOTHER,
    })
  }
  if (!isFolder(join(path, "journal")) && !isFolder(join(path, "store"))) {
    throw new InputError("NOT_A_DATA_FOLDER", {
      what: "this folder holds no recordings: it has neither a journal nor a store",
      where: path,
      next: NAME_ANOTHER,
    })
  }
  const folder = openDataFolder(path)
  bindToConfigured(folder)
  return folder
}

/**
 * The setting `store` of the configuration that holds where the data folder lies sends its recordings to a cluster. A folder that has recordings of its own
 * is not switched over in silence: they would be gone from every answer.
 */
function bindToConfigured({ path, storeFolder }: DataFolder): void {
  const settings = storeSettings(path)
  if (settings === undefined) return
  if (boundCluster(storeFolder) === undefined && hasEmbeddedStore(storeFolder)) {
    throw new OrangeboxError("STORE_TWO", {
      what: `the setting store names ${settings.url}, and this data folder has recordings of its own`,
      where: storeFolder,
      next: advice`Copy them there and switch over with: ${suggested("store copy")}`,
    })
  }
  bindToCluster(storeFolder, settings)
}

/** The cluster that is configured for a data folder. A configuration that cannot be read is told by the commands that need it. */
export function storeSettings(dataFolder: string): Config["store"] {
  try {
    return findConfig(dirname(dataFolder))?.config.store
  } catch {
    return undefined
  }
}

const NAME_ANOTHER = "A data folder is usually named .orangebox; name it with --data or ORANGEBOX_HOME"

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
