import type { Word } from "../command.js"
import { type EffectReader, files, hasAny, here, readArguments, trees, under, valuesOf } from "./arguments.js"
import { running } from "./effects.js"
import { hostsOf } from "./hosts.js"

const GLOBAL_VALUES = "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env"

/** What git does to the work tree and to other machines. Its own folder `.git` is not counted as a change of the work tree. */
export const git: EffectReader = (words) => {
  const globals = globalWords(words)
  const args = readArguments(globals.options, GLOBAL_VALUES)
  const name = globals.rest[0]
  if (name === undefined) return {}
  if (!name.isKnown) return { opaque: "the subcommand is not written out" }
  const subcommand = name.text
  const runsCode = valuesOf(args, "-c", "--config-env").some(isCodeSetting)
  const named = globals.rest.some(namesCommand) || (subcommand === "config" && globals.rest.some(isCodeSetting))
  const opaque =
    runsCode || named || args.values.has("--exec-path") ? running("an option of it names a command to run") : {}
  const moved = valuesOf(args, "-C", "--work-tree")
  const inTree = (path: Word): Word => moved.reduceRight((inner, folder) => under(folder, inner), path)
  const read = Object.hasOwn(SUBCOMMANDS, subcommand) ? SUBCOMMANDS[subcommand] : undefined
  if (read === undefined) {
    const isHarmless = HARMLESS.has(subcommand)
    return { subcommand, ...(isHarmless ? {} : { opaque: `git ${subcommand} is not described` }), ...opaque }
  }
  const effects = read(globals.rest)
  const relocate = (uses: typeof effects.writes): typeof effects.writes =>
    moved.length === 0 ? uses : uses?.map((use) => ({ ...use, word: inTree(use.word) }))
  return {
    ...effects,
    subcommand,
    ...(effects.writes && { writes: relocate(effects.writes) ?? [] }),
    ...(effects.deletes && { deletes: relocate(effects.deletes) ?? [] }),
    ...opaque,
  }
}

/** Settings whose value is a command. */
const isCodeSetting = ({ text }: Word): boolean =>
  /^(?:alias\.|core\.(?:sshcommand|editor|pager|fsmonitor|hookspath|gitproxy|askpass)|pager\.|diff\.|difftool\.|mergetool\.|filter\.|merge\.|gpg\.|sequence\.|credential\.|remote\.[^=]*\.(?:uploadpack|receivepack)|uploadpack\.)/i.test(
    text,
  )

/** Options of subcommands whose value is a command. */
const namesCommand = ({ text }: Word): boolean =>
  /^(?:--(?:upload-pack|receive-pack|exec|extcmd|open-files-in-pager|ext-diff)(?:=|$)|-O.)/.test(text)

const HARMLESS = new Set(
  (
    "status branch tag remote add commit config rev-parse rev-list ls-files ls-tree cat-file blame describe shortlog reflog " +
    "grep symbolic-ref for-each-ref merge-base name-rev whatchanged notes gc fsck count-objects hash-object update-index write-tree var version " +
    "help check-ignore check-attr diff-tree diff-index diff-files show-ref fetch-pack bundle format-patch init maintenance prune"
  ).split(" "),
)

type SubcommandReader = (words: readonly Word[]) => Partial<ReturnType<EffectReader>>

const wholeTree: SubcommandReader = () => ({ writes: trees([here]), deletes: trees([here]) })

const shown: SubcommandReader = (words) => ({ writes: files(valuesOf(readArguments(words, "--output"), "--output")) })

const SUBCOMMANDS: Readonly<Record<string, SubcommandReader>> = {
  commit: () => ({ kind: "commit" }),
  diff: shown,
  log: shown,
  show: shown,
  push: (words) => {
    const target = readArguments(words, "-o --push-option --repo --receive-pack").operands.slice(0, 1)
    return { kind: "push", network: named(target) }
  },
  fetch: (words) => ({ network: named(readArguments(words, "--depth -j").operands.slice(0, 1)) }),
  "ls-remote": (words) => ({ network: named(readArguments(words).operands.slice(0, 1)) }),
  pull: (words) => ({
    network: named(readArguments(words, "--depth -s -X").operands.slice(0, 1)),
    ...wholeTree(words),
  }),
  clone: (words) => {
    const { operands, values } = readArguments(
      words,
      "-b -o -u -c -j --branch --depth --origin --reference --template --config --filter --separate-git-dir",
    )
    const source = operands.slice(0, 1)
    const name = (source[0]?.text.replace(/\/+$/, "").split(/[/:]/).at(-1) ?? "").replace(/\.git$/, "")
    const target = operands[1] ?? { text: name, isKnown: source[0]?.isKnown ?? false, hasGlob: false }
    const isOwnCommand = values.has("-u") || values.has("-c") || values.has("--config") || values.has("--template")
    return {
      network: named(source),
      writes: trees([target]),
      ...(isOwnCommand && running("an option of it may name a command to run")),
    }
  },
  submodule: (words) => ({
    network: true,
    writes: trees([here]),
    ...(words[1]?.text === "foreach" && running("it runs a command in every submodule")),
  }),
  merge: (words) => ({ kind: "merge", ...wholeTree(words) }),
  rebase: (words) => ({
    ...wholeTree(words),
    ...(hasAny(readArguments(words, "-x --exec"), "-x", "--exec") && running("it runs a command")),
  }),
  "cherry-pick": wholeTree,
  revert: wholeTree,
  am: wholeTree,
  stash: (words) => (/^(?:list|show)$/.test(words[1]?.text ?? "") ? {} : wholeTree(words)),
  reset: (words) => (hasAny(readArguments(words), "--hard", "--merge", "--keep") ? wholeTree(words) : {}),
  clean: (words) => {
    const args = readArguments(words, "-e --exclude")
    if (hasAny(args, "-n", "--dry-run")) return {}
    return { deletes: trees(args.operands.length > 0 ? args.operands : [here]) }
  },
  checkout: (words) => {
    const separator = words.findIndex((word) => word.text === "--")
    if (separator !== -1) return restored(words.slice(separator + 1))
    const args = readArguments(words, "-b -B --orphan")
    if (hasAny(args, "-b", "-B", "--orphan") && args.operands.length === 0) return {}
    // One name may be a branch or a file; a branch changes the whole tree.
    return args.operands.length > 1 ? restored(args.operands) : wholeTree(words)
  },
  switch: (words) => {
    const { operands, values } = readArguments(words, "-c -C --create --force-create --orphan")
    // A new branch begins here, unless it is told where.
    return values.size > 0 && operands.length === 0 ? {} : wholeTree(words)
  },
  restore: (words) => {
    const args = readArguments(words, "-s --source")
    return hasAny(args, "--staged", "-S") && !hasAny(args, "--worktree", "-W") ? {} : restored(args.operands)
  },
  rm: (words) => {
    const args = readArguments(words)
    return hasAny(args, "--cached") ? {} : { deletes: trees(args.operands) }
  },
  mv: (words) => {
    const { operands } = readArguments(words)
    return { deletes: trees(operands.slice(0, -1)), writes: trees(operands.slice(-1)) }
  },
  apply: (words) => {
    const args = readArguments(words, "-p --directory --exclude --include")
    if (hasAny(args, "--check", "--stat", "--numstat", "--summary", "--cached")) return {}
    return { reads: files(args.operands), writes: trees([here]), opaque: "the patch names the files" }
  },
  init: (words) => ({ writes: trees(readArguments(words, "-b --template --separate-git-dir").operands) }),
  bundle: (words) => (words[1]?.text === "create" ? { writes: files(words.slice(2, 3)) } : {}),
  "format-patch": (words) => ({
    writes: trees(valuesOf(readArguments(words, "-o --output-directory"), "-o", "--output-directory")),
  }),
  config: (words) => ({ writes: files(valuesOf(readArguments(words, "-f --file"), "-f", "--file")) }),
  remote: (words) => (words[1]?.text === "update" ? { network: true } : {}),
  worktree: (words) => ({ writes: trees(readArguments(words, "-b -B").operands.slice(1, 2)) }),
  bisect: (words) => (words[1]?.text === "run" ? running("it runs a command") : wholeTree(words)),
  "filter-branch": () => ({ ...running("it runs commands"), ...wholeTree([]) }),
  archive: (words) => ({
    writes: files(valuesOf(readArguments(words, "-o --output --format --prefix"), "-o", "--output")),
  }),
}

function restored(paths: readonly Word[]): Partial<ReturnType<EffectReader>> {
  return { writes: trees(paths), deletes: trees(paths) }
}

/** `origin` names a remote whose address is in the configuration; a URL names its host. */
function named(words: readonly Word[]): readonly string[] | true {
  const word = words[0]
  if (word === undefined) return true
  const scp = /^(?:[^\s@/:]+@)?([A-Za-z0-9.-]{2,}):(?!\/\/)/.exec(word.text)
  if (scp !== null) return [(scp[1] as string).toLowerCase()]
  return word.text.includes("://") ? hostsOf([word]) : true
}

function globalWords(words: readonly Word[]): { options: readonly Word[]; rest: readonly Word[] } {
  const takesValue = new Set(GLOBAL_VALUES.split(" "))
  let at = 1
  while (at < words.length && words[at]!.text.startsWith("-")) at += takesValue.has(words[at]!.text) ? 2 : 1
  return { options: words.slice(0, at), rest: words.slice(at) }
}
