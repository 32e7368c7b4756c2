import { readFileSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { createInterface } from "node:readline/promises"
import { InputError } from "@orangebox/contract"
import { isStoreKeyOwn, sealStoreKey } from "@orangebox/journal"
import { locateData } from "@orangebox/reader"
import {
  CONFIG_FILE,
  configPlaces,
  type IgnoredSetting,
  isTrusted,
  readRepositoryConfig,
  readTrust,
  readUserConfig,
  revokeTrust,
  trustFile,
  withoutUnsafeSettings,
} from "@orangebox/recorder"
import { formatMoment, formatTable, plural, safeJson, safeLine, snakeJson } from "@orangebox/text"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"

interface TrustOptions {
  readonly list?: boolean
  readonly revoke?: boolean
  readonly yes?: boolean
  readonly key?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "Let the settings of a repository's orangebox.config.json take effect that are held back until you agree: upstreams, judges, full capture, and rules that mask less.",
    )
    .argument("[path]", "the file, or a folder in the repository; default: here")
    .option("--yes", "agree without being asked")
    .option("--revoke", "take the agreement back")
    .option("--list", "list what is trusted")
    .option("--key", "agree to the key of the data folder, after it was moved here from another machine or user")
    .addHelpText(
      "after",
      prose(
        session,
        "You agree to what the file says now: when it changes, it is held back again. Your own configuration needs no trust.",
      ),
    )
  bindShell<TrustOptions>(command, session, trust, [
    ["orangebox trust", "see what would take effect, and be asked"],
    ["orangebox trust --yes ci/repo", "agree to the file of another folder"],
    ["orangebox trust --list", "what is trusted, and whether it still is what it was"],
    ["orangebox trust --key --yes", "go on with the key of a store that you moved here"],
    ["orangebox trust --revoke", "hold the settings of this repository back again"],
  ])
}

function trust(session: Session, options: TrustOptions & GlobalOptions, path = "."): Promise<ExitCode> | ExitCode {
  if ([options.list, options.revoke, options.yes].filter(Boolean).length > 1) {
    throw wrongUsage("--list, --revoke and --yes exclude each other", "Choose one")
  }
  if (options.key && (options.list || options.revoke || path !== ".")) {
    throw wrongUsage(
      "--key is about the data folder alone",
      "Name the folder with --data: orangebox trust --key --data .orangebox",
    )
  }
  if (options.key) return agreeToKey(session, options)
  if (options.list) return listTrusted(session, options)
  if (options.revoke) return revoke(session, options, path)
  return agree(session, options, path)
}

async function agree(session: Session, options: TrustOptions & GlobalOptions, path: string): Promise<ExitCode> {
  const { terminal } = session
  const file = repositoryFile(path)
  const places = configPlaces(process.env)
  const wasTrusted = isTrusted(places.trust, file.path, file.text)
  const { ignored } = withoutUnsafeSettings(file.config, readUserConfig(places)?.config)
  const isAgreed =
    wasTrusted ||
    ignored.length === 0 ||
    options.yes === true ||
    (await isAnsweredYes(session, options, file.path, ignored))
  if (isAgreed && !wasTrusted && ignored.length > 0) trustFile(places.trust, file.path, file.text, new Date())
  if (options.json) {
    const json = {
      path: file.path,
      is_trusted: isAgreed && ignored.length > 0,
      was_trusted: wasTrusted,
      settings: ignored,
    }
    terminal.out(safeJson(json, 2))
  } else if (ignored.length === 0) {
    terminal.out(`${safeLine(file.path)} holds nothing that needs trust`)
  } else {
    if (options.yes || wasTrusted) terminal.out(settingsText(ignored))
    terminal.out(
      isAgreed
        ? `${wasTrusted ? "already trusted" : "trusted"}: ${safeLine(file.path)}`
        : "not trusted: nothing changed",
    )
  }
  return isAgreed ? EXIT.fine : EXIT.findings
}

/** A key that came with a clone is known to the one who packed it. */
async function agreeToKey({ terminal }: Session, options: TrustOptions & GlobalOptions): Promise<ExitCode> {
  const { path } = locateData(options.data)
  const wasTrusted = isStoreKeyOwn(path)
  const isAgreed =
    wasTrusted ||
    options.yes === true ||
    (!options.json &&
      (await isYes(
        terminal,
        "The key of this data folder was not made by you. Whoever made it can tell masked secrets by their tags. Go on with it? [y/N] ",
        "orangebox trust --key --yes",
      )))
  if (isAgreed && !wasTrusted) sealStoreKey(path)
  const file = join(path, "store.key")
  if (options.json) terminal.out(safeJson({ path: file, is_trusted: isAgreed, was_trusted: wasTrusted }, 2))
  else {
    const words = wasTrusted ? "already your own" : isAgreed ? "now your own" : "not trusted: nothing changed"
    terminal.out(`${words}: ${safeLine(file)}`)
  }
  return isAgreed ? EXIT.fine : EXIT.findings
}

/** Shows exactly what would take effect, and asks. Where no one can answer, no one has agreed. */
async function isAnsweredYes(
  { terminal }: Session,
  options: GlobalOptions,
  path: string,
  ignored: readonly IgnoredSetting[],
): Promise<boolean> {
  if (options.json) return false
  terminal.out(`${safeLine(path)} would be allowed ${plural(ignored.length, "setting")}:\n\n${settingsText(ignored)}\n`)
  return isYes(terminal, "Let them take effect? [y/N] ", "orangebox trust --yes")
}

async function isYes(terminal: Session["terminal"], question: string, otherwise: string): Promise<boolean> {
  if (process.stdin.isTTY !== true) {
    terminal.say(`orangebox: there is no terminal to ask on; agree with: ${otherwise}`)
    return false
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await asking.question(question)).trim())
  } finally {
    asking.close()
  }
}

/** Values last and never cut: what is agreed to has to be seen. */
function settingsText(ignored: readonly IgnoredSetting[]): string {
  return formatTable(
    [{ title: "SETTING" }, { title: "EFFECT" }, { title: "VALUE" }],
    ignored.map(({ setting, value, effect }) => [
      setting,
      effect,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  )
}

function revoke({ terminal }: Session, options: GlobalOptions, path: string): ExitCode {
  const { trust } = configPlaces(process.env)
  const file = placeOf(path)
  const isRevoked = revokeTrust(trust, file)
  terminal.out(
    options.json
      ? safeJson({ path: file, is_revoked: isRevoked }, 2)
      : `${isRevoked ? "no longer trusted" : "was not trusted"}: ${safeLine(file)}`,
  )
  return EXIT.fine
}

function listTrusted({ terminal }: Session, options: GlobalOptions): ExitCode {
  const book = configPlaces(process.env).trust
  const entries = readTrust(book).map((entry) => ({ ...entry, state: stateOf(book, entry.path) }))
  if (options.json) {
    terminal.out(safeJson({ trusted: snakeJson(entries) }, 2))
    return EXIT.fine
  }
  if (entries.length === 0) terminal.out("nothing is trusted")
  else {
    terminal.out(
      formatTable(
        [{ title: "FILE" }, { title: "SINCE" }, { title: "STATE" }],
        entries.map(({ path, trustedAt, state }) => [path, formatMoment(trustedAt), STATES[state]]),
      ),
    )
  }
  return EXIT.fine
}

const STATES = { valid: "as it was", changed: "changed since, so held back again", gone: "gone" }

function stateOf(book: string, path: string): keyof typeof STATES {
  try {
    return isTrusted(book, path, readFileSync(path, "utf8")) ? "valid" : "changed"
  } catch {
    return "gone"
  }
}

function repositoryFile(path: string): NonNullable<ReturnType<typeof readRepositoryConfig>> {
  const file = readRepositoryConfig(folderOf(path))
  if (file !== undefined) return file
  throw new InputError("NO_CONFIG", {
    what: `there is no ${CONFIG_FILE} here or further up`,
    where: resolve(path),
    next: "Name the file or a folder of its repository",
  })
}

/** The nearest file, or where one was that is gone by now. */
function placeOf(path: string): string {
  return readRepositoryConfig(folderOf(path))?.path ?? join(folderOf(path), CONFIG_FILE)
}

function folderOf(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? resolve(path) : dirname(resolve(path))
}
