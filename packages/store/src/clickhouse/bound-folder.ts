import { createHash, randomBytes } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { hostname } from "node:os"
import { dirname, join } from "node:path"
import { type Config, OrangeboxError } from "@orangebox/contract"
import { readPrivateFile, readStoreKey, replacePrivateFile } from "@orangebox/journal"
import { storeFiles } from "../sqlite/store-files.js"
import type { ClickhouseSettings } from "./settings.js"

type StoreSettings = NonNullable<Config["store"]>

/** What a data folder remembers of the cluster its recordings go to. */
interface Binding extends StoreSettings {
  readonly collectorId: string
}

const MOST_BYTES = 64 * 1024
const bindingPath = (folder: string): string => join(folder, "clickhouse.json")

/**
 * The cluster that the recordings of a folder are in; undefined where they are in the folder itself. A folder belongs to one engine and says so itself:
 * were it asked of whichever configuration holds at the moment, a command that cannot see it would read the journals into a store of its own.
 */
export function boundCluster(
  folder: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ClickhouseSettings | undefined {
  const binding = readBinding(folder)
  if (binding === undefined) return undefined
  const key = readStoreKey(dirname(folder))
  return {
    ...reachCluster(binding, binding.collectorId, env),
    ...(key === undefined ? {} : { tagKeyId: createHash("sha256").update(key).digest("hex").slice(0, 16) }),
  }
}

/** How a configured cluster is reached by one collector, with the password from where it is kept. */
export function reachCluster(
  { url, database, user, passwordFile, caFile, cluster, allowInsecure }: StoreSettings,
  collectorId: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ClickhouseSettings {
  const password = passwordFile === undefined ? env["ORANGEBOX_CLICKHOUSE_PASSWORD"] : secretIn(passwordFile)
  return {
    url,
    database,
    collectorId,
    host: hostname(),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(allowInsecure === undefined ? {} : { allowInsecure }),
    ...(caFile === undefined ? {} : { certificateAuthority: textOf(caFile, "store.caFile") }),
  }
}

/** Whether a folder has recordings of its own, which a cluster would not show. */
export const hasEmbeddedStore = (folder: string): boolean => existsSync(storeFiles(folder).database)

/** From now on the recordings of this folder go to a cluster. The same again changes nothing but how it is reached. */
export function bindToCluster(folder: string, settings: StoreSettings, as?: string): void {
  const known = readBinding(folder)
  if (known !== undefined && (known.url !== settings.url || known.database !== settings.database)) {
    throw new OrangeboxError("STORE_BOUND", {
      what: `the recordings of this folder are in ${known.url} (database ${known.database}), and the setting store names ${settings.url} (database ${settings.database})`,
      where: folder,
      next: `Put the setting back; for another cluster, take another data folder, or remove ${bindingPath(folder)} when its journals are sent`,
    })
  }
  const collectorId = known?.collectorId ?? as ?? randomBytes(8).toString("hex")
  const binding: Binding = { ...settings, collectorId }
  if (JSON.stringify(binding) === JSON.stringify(known)) return
  replacePrivateFile(bindingPath(folder), `${JSON.stringify(binding, null, 2)}\n`)
}

function readBinding(folder: string): Binding | undefined {
  const path = bindingPath(folder)
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(readPrivateFile(path, MOST_BYTES).toString("utf8")) as Binding
  } catch (cause) {
    throw new OrangeboxError("STORE_BOUND", {
      what: "the file that says which cluster this folder's recordings are in cannot be read",
      where: path,
      next: "Put it back, or remove it and start any command where the setting store holds",
      cause,
    })
  }
}

function secretIn(path: string): string {
  try {
    return readPrivateFile(path, MOST_BYTES).toString("utf8").trim()
  } catch (cause) {
    throw new OrangeboxError("STORE_SETTINGS", {
      what: "the file with the password of the ClickHouse user cannot be used: it must be there, be yours and have the mode 0600",
      where: path,
      next: "Correct store.passwordFile; the journals are kept",
      cause,
    })
  }
}

function textOf(path: string, setting: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (cause) {
    throw new OrangeboxError("STORE_SETTINGS", {
      what: `the file that ${setting} names cannot be read`,
      where: path,
      next: "Correct the setting",
      cause,
    })
  }
}
