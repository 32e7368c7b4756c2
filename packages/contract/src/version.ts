import type { Edition } from "./schema/schema-node.js"

/**
 * 1.0 is the canonical trace specification: thirteen event types and their envelope.
 * 1.1 adds the remaining event types and the additive envelope fields.
 */
export const SCHEMA_VERSION = "1.2.0"
const CURRENT_MAJOR = 1
export const CURRENT_MINOR = 2
const PREVIOUS_MAJOR = 0
/** What events of older majors and of 1.0 are read as. It stays, so that the digest of such a run stays. */
export const UPGRADED_VERSION = "1.1.0"

export interface SchemaVersion {
  readonly major: number
  readonly minor: number
  readonly patch: number
}

export const SEMVER = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/

export function parseSchemaVersion(text: unknown): SchemaVersion | undefined {
  const match = typeof text === "string" ? SEMVER.exec(text) : null
  return match ? { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) } : undefined
}

export function isReadable(version: SchemaVersion): boolean {
  return version.major === CURRENT_MAJOR || version.major === PREVIOUS_MAJOR
}

export const editionFor = (version: SchemaVersion): Edition =>
  version.minor === 0 ? "first" : allowsUnknownFields(version) ? "newer" : "current"

/** A minor version newer than ours may carry fields we have never heard of; a known one may not. */
export function allowsUnknownFields(version: SchemaVersion): boolean {
  return version.major === CURRENT_MAJOR && version.minor > CURRENT_MINOR
}
