import { randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { openStoreKey } from "@orangebox/journal"
import { findConfig, type IgnoredSetting, ignoredSettingsWarning } from "@orangebox/recorder"
import { compileUserRules, createRuleset, type Ruleset } from "@orangebox/redaction"
import type { ReaderOptions } from "../open/data-folder.js"
import { dataPath } from "../open/data-folder.js"

export interface RulesHere {
  readonly ruleset: Ruleset
  /** Whether tags can be compared with those in the store. */
  readonly hasStoreKey: boolean
  /** What the user should know about the configuration. */
  readonly warning: string | undefined
}

/** The rules a recorder would use here: the built-in ones, and what the configuration adds. */
export function rulesHere(cwd: string, options: Pick<ReaderOptions, "data"> & { readonly pii?: boolean }): RulesHere {
  const found = findConfig(cwd)
  const { redaction = {}, profile } = found?.config ?? {}
  const folder = dataPath(options.data)
  const key = ownKey(folder)
  return {
    ruleset: createRuleset({
      key: key ?? randomBytes(32),
      pii: options.pii ?? redaction.pii ?? profile === "audit",
      publicKeys: redaction.publicKeys === true,
      patterns: compileUserRules(redaction).patterns,
    }),
    hasStoreKey: key !== undefined,
    warning: found && ignoredSettingsWarning(found.path, found.ignored.filter(isAboutRedaction)),
  }
}

/** One that is refused keys nothing, and its maker learns nothing. */
function ownKey(folder: string): Uint8Array | undefined {
  try {
    return existsSync(folder) ? openStoreKey(folder) : undefined
  } catch {
    return undefined
  }
}

/** Others are reported where they matter. */
const isAboutRedaction = ({ setting }: IgnoredSetting): boolean => setting.startsWith("redaction.")
