import type { Word } from "../command.js"
import { type Arguments, hasAny, here, readArguments, valuesOf } from "./arguments.js"
import { type CommandEffects, type CommandKind, type PathUse, running } from "./effects.js"
import { hostsOf } from "./hosts.js"

/**
 * What a program does with its words, as data; what is not mentioned it does not do. Words are named by where they stand (`all` operands, the
 * `first`, the `second`, the `last`, those `behind` the first, those `before` the last), by the option they are the value of (`-o`), or as the
 * folder it runs in (`here`). A slash behind a name: everything below the path too.
 */
export interface Description {
  /** Options whose value is the next word, beside those named elsewhere. */
  readonly values?: string
  readonly reads?: string
  readonly writes?: string
  readonly deletes?: string
  /** Options with which everything below the paths is meant. */
  readonly tree?: string
  /** It changes files only with one of these options, or only without. */
  readonly with?: string
  readonly without?: string
  /** Where nothing is named to be changed, it is the folder it runs in. */
  readonly orHere?: true
  /** Words that name hosts; true where its words name none. */
  readonly network?: string | true
  readonly kind?: CommandKind
  /** It runs what its words do not tell: always, or with one of these options. */
  readonly runs?: true | string
  readonly opaque?: string
}

export function describedEffects(described: Description, words: readonly Word[]): Partial<CommandEffects> {
  const { reads, writes, deletes, network, tree, kind, runs, opaque } = described
  const hosts = network === true ? undefined : network
  const named = [described.values, reads, writes, deletes, hosts].filter((one) => one !== undefined)
  const args = readArguments(words, named.join(" ").replaceAll("/", ""))
  const has = (options: string): boolean => hasAny(args, ...options.split(" "))
  const changes =
    (described.with === undefined || has(described.with)) &&
    !(described.without !== undefined && has(described.without))
  const uses = (names: string | undefined): PathUse[] => pathsAt(names, args, tree !== undefined && has(tree))
  const changed = (names: string | undefined): PathUse[] => {
    if (names === undefined || !changes) return []
    const found = uses(names)
    return found.length === 0 && described.orHere === true ? [{ word: here, isTree: true }] : found
  }
  return {
    reads: uses(reads),
    writes: changed(writes),
    deletes: changed(deletes),
    network:
      hosts === undefined
        ? (network as true | undefined)
        : hostsOf(pathsAt(hosts, args, false).map(({ word }) => word)),
    kind,
    opaque,
    ...((runs === true || (runs !== undefined && has(runs))) &&
      running("it runs something that its words do not tell")),
  }
}

function pathsAt(names: string | undefined, args: Arguments, areTrees: boolean): PathUse[] {
  if (names === undefined) return []
  return names.split(" ").flatMap((name) => {
    const isTree = areTrees || name.endsWith("/")
    return wordsAt(name.replace("/", ""), args).map((word) => ({ word, isTree }))
  })
}

function wordsAt(place: string, args: Arguments): readonly Word[] {
  const { operands } = args
  switch (place) {
    case "all":
      return operands
    case "first":
      return operands.slice(0, 1)
    case "second":
      return operands.slice(1, 2)
    case "last":
      return operands.slice(-1)
    case "behind":
      return operands.slice(1)
    case "before":
      return operands.slice(0, -1)
    case "here":
      return [here]
    default:
      return valuesOf(args, place)
  }
}
