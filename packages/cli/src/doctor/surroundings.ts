import { existsSync, lstatSync, statfsSync } from "node:fs"
import { dirname } from "node:path"
import { advice, suggested } from "@orangebox/contract"
import { findConfig } from "@orangebox/recorder"
import { formatBytes } from "@orangebox/text"
import { type Check, failed, ok, troubleAs, warning } from "./check.js"

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const isSupported = major > 20 || (major === 20 && minor >= 19)
  return isSupported ? ok("node", version) : failed("node", `${version} is too old`, "Install Node 20.19, 22 or 24")
}

export function checkSwitch(env: Readonly<Record<string, string | undefined>>): Check {
  const value = env["ORANGEBOX"]
  return value !== undefined && ["off", "0", "false"].includes(value)
    ? warning("recording", `switched off by ORANGEBOX=${value}`, "Unset ORANGEBOX to record again")
    : ok("recording", "switched on")
}

export function checkConfig(cwd: string): Check {
  try {
    const found = findConfig(cwd)
    if (!found) return ok("configuration", "none, defaults apply")
    if (found.ignored.length > 0) {
      const settings = found.ignored.map(({ setting }) => setting).join(", ")
      return warning(
        "configuration",
        `${found.path} is not trusted; held back: ${settings}`,
        "Look at it with: orangebox trust",
      )
    }
    return found.config.enabled === false
      ? warning("configuration", `${found.path} switches recording off`, 'Remove "enabled": false to record again')
      : ok("configuration", found.path)
  } catch (error) {
    return troubleAs("configuration", error)
  }
}

/** Who may read it, and on what it lies. */
export function checkFolder(path: string): Check {
  const name = "data folder"
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return ok(name, `${path} is not there yet; the first recording creates it`)
  if (found.isSymbolicLink())
    return failed(name, `${path} is a symbolic link`, "Set ORANGEBOX_HOME to the folder it points to")
  if (!found.isDirectory()) return failed(name, `${path} is a file`, "Move it away or choose another folder")
  const uid = process.getuid?.()
  if (uid !== undefined && found.uid !== uid) {
    return failed(
      name,
      `${path} belongs to user ${found.uid}, you are ${uid}`,
      "Use a folder of your own (ORANGEBOX_HOME)",
    )
  }
  const mode = found.mode & 0o777
  const shown = mode.toString(8).padStart(4, "0")
  if (process.platform !== "win32" && (mode & 0o022) !== 0) {
    return failed(name, `${path} can be written by others (mode ${shown})`, `Run: chmod 700 ${JSON.stringify(path)}`)
  }
  if (process.platform !== "win32" && (mode & 0o044) !== 0) {
    return warning(name, `${path} can be read by others (mode ${shown})`, `Run: chmod 700 ${JSON.stringify(path)}`)
  }
  return ok(name, `${path} (mode ${shown})`)
}

const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
])
const LITTLE_SPACE = 1e9
const NO_SPACE = 50e6
const FREE_SOME = advice`Free some space, or shrink the store with: ${suggested("prune", "--max-body-bytes 1GB")}`

export function checkDisk(path: string): Check {
  const name = "disk"
  let folder = path
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  const { bavail, bsize, type } = statfsSync(folder)
  const free = bavail * bsize
  const network = NETWORK_FILE_SYSTEMS.get(type)
  if (network) {
    return warning(
      name,
      `${path} lies on ${network}, where SQLite's locks cannot be trusted`,
      "Set ORANGEBOX_HOME to a folder on a local disk",
    )
  }
  const room = `${formatBytes(free)} free`
  if (free < NO_SPACE) return failed(name, room, FREE_SOME)
  return free < LITTLE_SPACE ? warning(name, room, FREE_SOME) : ok(name, room)
}
