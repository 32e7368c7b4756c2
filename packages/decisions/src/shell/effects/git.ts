import type { Word } from "../command.js"
import { hasAny, readArguments, trees, under, valuesOf } from "./arguments.js"
import { type Description, describedEffects } from "./description.js"
import { type CommandEffects, type EffectReader, type PathUse, running } from "./effects.js"
import { hostsOf, remoteHost } from "./hosts.js"

const GLOBAL_VALUES = "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env"

/** What git does to the work tree and to other machines. Its own folder `.git` is not counted as a change of the work tree. */
export const git: EffectReader = (words) => {
  let at = 1
  while (words[at]?.text.startsWith("-")) at += GLOBAL_VALUES.split(" ").includes(words[at]!.text) ? 2 : 1
  const globals = readArguments(words.slice(0, at), GLOBAL_VALUES)
  const rest = words.slice(at)
  const name = rest[0]
  if (name === undefined) return {}
  if (!name.isKnown) return { opaque: "the subcommand is not written out" }
  const runsCode =
    valuesOf(globals, "-c", "--config-env").some(isCodeSetting) ||
    rest.some(namesCommand) ||
    (name.text === "config" && rest.some(isCodeSetting)) ||
    globals.values.has("--exec-path")
  const described = Object.hasOwn(SUBCOMMANDS, name.text) ? SUBCOMMANDS[name.text] : undefined
  const effects: Partial<CommandEffects> =
    typeof described === "function"
      ? described(rest)
      : described !== undefined
        ? describedEffects(described, rest)
        : HARMLESS.has(name.text)
          ? {}
          : running(`git ${name.text} is not described, and may be an alias`)
  const moved = valuesOf(globals, "-C", "--work-tree")
  const relocate = (uses: readonly PathUse[] = []): readonly PathUse[] =>
    uses.map((use) => ({ ...use, word: moved.reduceRight((inner, folder) => under(folder, inner), use.word) }))
  return {
    ...effects,
    writes: relocate(effects.writes),
    deletes: relocate(effects.deletes),
    ...(runsCode && running("an option of it names a command to run")),
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
    "status branch tag add rev-parse rev-list ls-files ls-tree cat-file blame describe shortlog reflog grep symbolic-ref for-each-ref merge-base " +
    "name-rev whatchanged notes gc fsck count-objects hash-object update-index write-tree var version help check-ignore check-attr diff-tree " +
    "diff-index diff-files show-ref maintenance prune"
  ).split(" "),
)

const WHOLE_TREE: Description = { writes: "here/", deletes: "here/" }
const SHOWN: Description = { writes: "--output" }
const restored = (paths: readonly Word[]): Partial<CommandEffects> => ({ writes: trees(paths), deletes: trees(paths) })
const wholeTree = (words: readonly Word[]): Partial<CommandEffects> => describedEffects(WHOLE_TREE, words)

/** Talks to the repository its first operand names: a URL names its host, the address of `origin` is in the configuration. */
const remote =
  (values: string): EffectReader =>
  (words) => {
    const target = readArguments(words, values).operands[0]
    if (target?.text.includes("://") === true) return { network: hostsOf([target]) }
    const host = target === undefined ? [] : remoteHost(target)
    return { network: host.length > 0 ? host : true }
  }

const SUBCOMMANDS: Readonly<Record<string, Description | EffectReader>> = {
  commit: { kind: "commit" },
  diff: SHOWN,
  log: SHOWN,
  show: SHOWN,
  push: (words) => ({ ...remote("-o --push-option --repo --receive-pack")(words), kind: "push" }),
  fetch: remote("--depth -j"),
  "ls-remote": remote(""),
  pull: (words) => ({ ...wholeTree(words), ...remote("--depth -s -X")(words) }),
  clone: (words) => {
    const values =
      "-b -o -u -c -j --branch --depth --origin --reference --template --config --filter --separate-git-dir"
    const args = readArguments(words, values)
    const [source, folder] = args.operands
    const name = (source?.text.replace(/\/+$/, "").split(/[/:]/).at(-1) ?? "").replace(/\.git$/, "")
    return {
      ...remote(values)(words),
      writes: trees([folder ?? { text: name, isKnown: source?.isKnown ?? false, hasGlob: false }]),
      ...(hasAny(args, "-u", "-c", "--config", "--template") && running("an option of it may name a command to run")),
    }
  },
  submodule: (words) =>
    describedEffects({ network: true, writes: "here/", ...(words[1]?.text === "foreach" && { runs: true }) }, words),
  merge: { ...WHOLE_TREE, kind: "merge" },
  rebase: { ...WHOLE_TREE, values: "-x --exec", runs: "-x --exec" },
  "cherry-pick": WHOLE_TREE,
  revert: WHOLE_TREE,
  am: WHOLE_TREE,
  stash: (words) => (/^(?:list|show)$/.test(words[1]?.text ?? "") ? {} : wholeTree(words)),
  reset: { ...WHOLE_TREE, with: "--hard --merge --keep" },
  clean: { values: "-e --exclude", deletes: "all/", orHere: true, without: "-n --dry-run" },
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
  rm: { deletes: "all/", without: "--cached" },
  mv: { deletes: "before/", writes: "last/" },
  apply: (words) => {
    const args = readArguments(words, "-p --directory --exclude --include")
    if (hasAny(args, "--check", "--stat", "--numstat", "--summary", "--cached")) return {}
    return describedEffects({ reads: "all", writes: "here/", opaque: "the patch names the files" }, words)
  },
  init: { values: "-b --template --separate-git-dir", writes: "all/" },
  bundle: (words) => (words[1]?.text === "create" ? { writes: trees(words.slice(2, 3)) } : {}),
  "format-patch": { writes: "-o/ --output-directory/" },
  config: { writes: "-f --file" },
  remote: (words) => (words[1]?.text === "update" ? { network: true } : {}),
  worktree: { values: "-b -B", writes: "second/" },
  bisect: (words) => (words[1]?.text === "run" ? running("it runs a command") : wholeTree(words)),
  "filter-branch": { ...WHOLE_TREE, runs: true },
  archive: { values: "--format --prefix", writes: "-o --output" },
}
