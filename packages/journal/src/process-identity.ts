import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"
import { threadId } from "node:worker_threads"

/** Enough to tell later, from another process, whether this one is gone. A field is null where the platform does not say. */
export interface ProcessIdentity {
  readonly pid: number
  readonly threadId: number
  /** Start time of the process in clock ticks since boot; with the pid it is unique within one boot. */
  readonly startTicks: number | null
  readonly bootId: string | null
  readonly pidNamespace: string | null
  readonly hostname: string
  readonly machineId: string | null
}

export interface Liveness {
  readonly state: "alive" | "dead" | "silent"
  readonly evidence: string
}

export function thisProcess(): ProcessIdentity {
  // A /proc of another pid namespace would describe a stranger under our number.
  const procIsOurs = readLink("/proc/self") === String(process.pid)
  return {
    pid: process.pid,
    threadId,
    startTicks: procIsOurs ? (readStat(process.pid)?.startTicks ?? null) : null,
    bootId: readText("/proc/sys/kernel/random/boot_id"),
    pidNamespace: readLink("/proc/self/ns/pid"),
    hostname: hostname(),
    machineId: readText("/etc/machine-id"),
  }
}

/**
 * Dead only on proof: the pid with that start time is gone from this boot and this pid namespace, or the machine has booted since.
 * Everything less is `silent`: a writer in another container or on another machine may be alive and well.
 */
export function livenessOf(identity: ProcessIdentity, observer: ProcessIdentity = thisProcess()): Liveness {
  if (identity.hostname !== observer.hostname || identity.machineId !== observer.machineId) {
    return silent(`it ran on ${identity.hostname}, which cannot be asked from ${observer.hostname}`)
  }
  if (process.platform === "darwin") return livenessByPid(identity.pid)
  if (identity.bootId === null || observer.bootId === null) return silent("the platform names no boot")
  if (identity.bootId !== observer.bootId) {
    // Containers share the host's boot id but may carry a copied hostname; without a machine id the name alone proves nothing.
    return identity.machineId === null
      ? silent("another boot, but the machine has no id to know it by")
      : dead(`the machine has been restarted since (boot ${identity.bootId}, now ${observer.bootId})`)
  }
  if (identity.pidNamespace === null || identity.pidNamespace !== observer.pidNamespace) {
    return silent(`it runs in another pid namespace (${identity.pidNamespace ?? "unknown"})`)
  }
  if (identity.startTicks === null || observer.startTicks === null)
    return silent("process start times are not readable")
  return livenessByStart(identity.pid, identity.startTicks)
}

function livenessByStart(pid: number, startTicks: number): Liveness {
  const stat = readStat(pid)
  if (stat === null) {
    // With hidepid, /proc does not show other users' processes; the kernel still answers a null signal.
    return pidIsFree(pid) ? dead(`process ${pid} is gone`) : silent(`process ${pid} cannot be inspected`)
  }
  if (stat.startTicks !== startTicks) return dead(`process ${pid} is gone; the pid now belongs to a later process`)
  if (stat.state === "Z" || stat.state === "X") return dead(`process ${pid} has ended and waits for its parent`)
  return { state: "alive", evidence: `process ${pid} is running` }
}

function livenessByPid(pid: number): Liveness {
  return pidIsFree(pid)
    ? dead(`process ${pid} is gone`)
    : { state: "alive", evidence: `a process ${pid} is running; its start time is not known on this platform` }
}

const dead = (evidence: string): Liveness => ({ state: "dead", evidence })
const silent = (evidence: string): Liveness => ({ state: "silent", evidence })

function pidIsFree(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH"
  }
}

function readStat(pid: number): { state: string; startTicks: number } | null {
  const text = readText(`/proc/${pid}/stat`)
  if (text === null) return null
  // The second field is the command name in parentheses and may itself hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  const startTicks = Number(fields[19])
  return Number.isSafeInteger(startTicks) ? { state: fields[0] ?? "?", startTicks } : null
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "latin1").trim() || null
  } catch {
    return null
  }
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
