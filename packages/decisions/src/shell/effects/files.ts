import type { Word } from "../command.js"
import { type Arguments, type EffectReader, files, hasAny, here, readArguments, trees, valuesOf } from "./arguments.js"
import { running } from "./effects.js"
import { hostOf } from "./hosts.js"

/** Programs that make, change, move and remove files. */
export const FILE_PROGRAMS: Readonly<Record<string, EffectReader>> = {
  rm: (words) => {
    const args = readArguments(words)
    return { deletes: hasAny(args, "-r", "-R", "--recursive") ? trees(args.operands) : files(args.operands) }
  },
  rmdir: (words) => ({ deletes: files(readArguments(words).operands) }),
  unlink: (words) => ({ deletes: files(readArguments(words).operands) }),
  trash: (words) => ({ deletes: trees(readArguments(words).operands) }),
  shred: (words) => {
    const args = readArguments(words, "-n -s")
    return { writes: files(args.operands), deletes: hasAny(args, "-u", "--remove") ? files(args.operands) : [] }
  },
  mv: (words) => {
    const { sources, target } = sourcesAndTarget(words, "-t --target-directory -S --suffix")
    return { deletes: trees(sources), writes: trees(target) }
  },
  rename: () => ({ opaque: "rename takes its names from an expression" }),
  cp: copy,
  install: (words) => {
    const args = readArguments(words, "-m -o -g -t")
    if (hasAny(args, "-d", "--directory")) return { writes: files(args.operands) }
    const { sources, target } = sourcesAndTarget(words, "-m -o -g -t --target-directory -S")
    return { reads: files(sources), writes: files(target) }
  },
  ln: (words) => {
    const args = readArguments(words, "-t -S")
    // One operand links into the folder it runs in.
    const isSymbolic = hasAny(args, "-s", "--symbolic")
    if (args.operands.length === 1 && args.values.size === 0)
      return { reads: files(args.operands), writes: trees([here]), linked: trees(args.operands) }
    const { sources, target } = sourcesAndTarget(words, "-t --target-directory -S")
    const linked = isSymbolic ? sources.flatMap((source) => target.map((link) => seenFrom(link, source))) : sources
    return { reads: files(sources), writes: files(target), linked: trees(linked) }
  },
  touch: (words) => ({ writes: files(readArguments(words, "-d -t -r --date --reference").operands) }),
  mkdir: (words) => ({ writes: files(readArguments(words, "-m --mode").operands) }),
  mkfifo: (words) => ({ writes: files(readArguments(words, "-m").operands) }),
  tee: (words) => ({ writes: files(readArguments(words).operands) }),
  sponge: (words) => ({ writes: files(readArguments(words).operands) }),
  truncate: (words) => ({ writes: files(readArguments(words, "-s -r --size --reference").operands) }),
  fallocate: (words) => ({ writes: files(readArguments(words, "-l -o").operands) }),
  dd: (words) => ({
    reads: files(assigned(words, "if")),
    writes: files(assigned(words, "of")),
  }),
  chmod: changeMode,
  chown: changeMode,
  chgrp: changeMode,
  chattr: changeMode,
  setfacl: changeMode,
  xattr: (words) => ({ writes: files(readArguments(words).operands.slice(1)) }),
  sed: (words) => {
    const args = readArguments(words, "-e -f -l --expression --file")
    const given = valuesOf(args, "-e", "--expression")
    const scripts = given.length > 0 || args.values.has("-f") ? given : args.operands.slice(0, 1)
    const operands = given.length > 0 || args.values.has("-f") ? args.operands : args.operands.slice(1)
    const isInPlace = [...args.flags].some((flag) => /^(?:-i|--in-place)/.test(flag))
    const runs = scripts.some(
      (script) => !script.isKnown || /(?:^|[;{}\n\d$/])\s*[ew]\s|\/[gp\d]*[ew](?:[ ;}]|$)/.test(script.text),
    )
    return {
      ...(isInPlace ? { writes: files(operands) } : { reads: files(operands) }),
      ...((runs || args.values.has("-f")) && running("its script may write files or run commands")),
    }
  },
  sort: (words) => {
    const args = readArguments(words, "-o -k -t -S -T --output --key")
    return { writes: files(valuesOf(args, "-o", "--output")), reads: files(args.operands) }
  },
  uniq: (words) => {
    const { operands } = readArguments(words, "-f -s -w --skip-fields --skip-chars --check-chars")
    return { reads: files(operands.slice(0, 1)), writes: files(operands.slice(1)) }
  },
  jq: queryInPlace,
  yq: queryInPlace,
  base64: encoded,
  base32: encoded,
  history: (words) => {
    const args = readArguments(words)
    return { writes: hasAny(args, "-w", "-a") ? files(args.operands) : [] }
  },
  split: (words) => ({
    writes: files(readArguments(words, "-l -b -C -n -a").operands.slice(1)),
    opaque: "it makes names of its own",
  }),
  rsync: (words) => {
    const args = readArguments(words, "-e --rsh --exclude --include --filter --files-from --log-file --backup-dir")
    const target = args.operands.slice(-1)
    const hosts = args.operands.flatMap((word) => remoteHost(word))
    const local = target.filter((word) => remoteHost(word).length === 0)
    return {
      reads: trees(args.operands.slice(0, -1).filter((word) => remoteHost(word).length === 0)),
      writes: trees(local),
      deletes: trees([
        ...([...args.flags].some((flag) => /^--del(?:ete|$)/.test(flag)) ? local : []),
        ...(hasAny(args, "--remove-source-files") ? args.operands.slice(0, -1) : []),
      ]),
      ...(hosts.length > 0 && { network: hosts }),
      ...(args.values.has("-e") && running("it runs a command of its own")),
    }
  },
  tar: (words) => {
    // The old style has no dash: tar xzf a.tgz.
    const first = words[1]
    const dashed =
      first !== undefined && /^[a-zA-Z]+$/.test(first.text)
        ? [words[0]!, { ...first, text: `-${first.text}` }, ...words.slice(2)]
        : words
    const args = readArguments(
      dashed,
      "-f -C -X -T --file --directory --exclude --transform -I --use-compress-program --to-command",
    )
    const archive = valuesOf(args, "-f", "--file")
    const folder = valuesOf(args, "-C", "--directory")
    const runs = [...args.flags].some((flag) =>
      /^(?:-I|--(?:use-compress-program|to-command|checkpoint-action|rsh-command))/.test(flag),
    )
    return {
      ...(hasAny(args, "-x", "--extract", "--get")
        ? { reads: files(archive), writes: trees(folder.length > 0 ? folder : [here]) }
        : hasAny(args, "-c", "-r", "-u", "-A", "--create", "--append", "--update")
          ? {
              reads: trees(args.operands),
              writes: files(archive),
              deletes: hasAny(args, "--remove-files") ? trees(args.operands) : [],
            }
          : { reads: files(archive) }),
      ...(runs && running("an option of it runs a command")),
    }
  },
  unzip: (words) => {
    const args = readArguments(words, "-d -x -P")
    if (hasAny(args, "-l", "-t", "-p", "-z", "-Z")) return { reads: files(args.operands) }
    return {
      reads: files(args.operands.slice(0, 1)),
      writes: trees(args.values.has("-d") ? valuesOf(args, "-d") : [here]),
    }
  },
  zip: (words) => {
    const { operands } = readArguments(words, "-x -i -P")
    return { writes: files(operands.slice(0, 1)), reads: trees(operands.slice(1)) }
  },
  gzip: compress,
  gunzip: compress,
  bzip2: compress,
  bunzip2: compress,
  xz: compress,
  unxz: compress,
  zstd: compress,
  patch: (words) => {
    const args = readArguments(words, "-p -i -d -o -r --input --directory --output --strip")
    const folder = valuesOf(args, "-d", "--directory")
    const named = [...args.operands.slice(0, 1), ...valuesOf(args, "-o", "--output")]
    // Without a named file the patch says what it changes, and the patch is not in the command.
    return named.length > 0
      ? { writes: files(named) }
      : { writes: trees(folder.length > 0 ? folder : [here]), opaque: "the patch names the files" }
  },
  mktemp: () => ({}),
  xxd: (words) => {
    const { operands } = readArguments(words, "-c -g -l -o -s -n -cols -len -seek -name")
    return { reads: files(operands.slice(0, 1)), writes: files(operands.slice(1, 2)) }
  },
  ed: editor,
  ex: editor,
  vi: editor,
  vim: editor,
  nvim: editor,
  nano: editor,
  emacs: editor,
  code: editor,
  prettier: (words) => writesIf(words, "--write", "-w"),
  biome: (words) => writesIf(words, "--write", "--fix", "--apply"),
  eslint: (words) => writesIf(words, "--fix"),
  stylelint: (words) => writesIf(words, "--fix"),
  black: (words) =>
    hasAny(readArguments(words), "--check", "--diff") ? {} : { writes: trees(readArguments(words).operands) },
  isort: (words) =>
    hasAny(readArguments(words), "--check", "-c", "--diff") ? {} : { writes: trees(readArguments(words).operands) },
  ruff: (words) => {
    const args = readArguments(words, "--config --select --ignore")
    const isFormat = args.operands[0]?.text === "format" && !hasAny(args, "--check", "--diff")
    return isFormat || hasAny(args, "--fix") ? { writes: trees(orHere(args.operands.slice(1))) } : {}
  },
  gofmt: (words) => writesIf(words, "-w"),
  rustfmt: (words) => (hasAny(readArguments(words), "--check") ? {} : { writes: files(readArguments(words).operands) }),
}

const orHere = (operands: readonly Word[]): readonly Word[] => (operands.length > 0 ? operands : [here])

function writesIf(words: readonly Word[], ...options: readonly string[]): ReturnType<EffectReader> {
  const args = readArguments(words)
  const operands = args.operands.filter((word) => !/^(?:check|format|lint)$/.test(word.text))
  return hasAny(args, ...options) ? { writes: trees(orHere(operands)) } : {}
}

function copy(words: readonly Word[]): ReturnType<EffectReader> {
  const { sources, target, args } = sourcesAndTarget(words, "-t --target-directory -S --suffix")
  const isTree = hasAny(args, "-r", "-R", "-a", "--recursive", "--archive")
  const isLink = hasAny(args, "-l", "-s", "--link", "--symbolic-link")
  return {
    reads: isTree ? trees(sources) : files(sources),
    writes: isTree ? trees(target) : files(target),
    ...(isLink && { linked: trees(sources) }),
  }
}

/** `cp a b dir`, `cp -t dir a b`: what is taken, and every name it may be given. */
function sourcesAndTarget(
  words: readonly Word[],
  valueOptions: string,
): { sources: readonly Word[]; target: readonly Word[]; args: Arguments } {
  const args = readArguments(words, valueOptions)
  const folder = valuesOf(args, "-t", "--target-directory")
  const sources = folder.length > 0 ? args.operands : args.operands.slice(0, -1)
  const target = folder.length > 0 ? folder : args.operands.slice(-1)
  // Into a folder the file keeps its name; whether the target is a folder only the disk knows.
  const named = target.flatMap((into) => sources.flatMap((source) => intoFolder(into, source)))
  return { sources, target: [...target, ...named], args }
}

/** A symbolic link is followed from the folder it stands in, not from where it was made. */
function seenFrom(link: Word, source: Word): Word {
  if (/^[/~]/.test(source.text)) return source
  const folder = link.text.split("/").slice(0, -1).join("/") || (link.text.startsWith("/") ? "/" : ".")
  return { text: `${folder}/${source.text}`, isKnown: link.isKnown && source.isKnown, hasGlob: source.hasGlob }
}

function intoFolder(folder: Word, source: Word): Word[] {
  const name = source.text.replace(/\/+$/, "").split("/").at(-1) ?? ""
  if (name === "" || name === "." || name === "..") return []
  return [
    {
      text: `${folder.text.replace(/\/+$/, "")}/${name}`,
      isKnown: folder.isKnown && source.isKnown,
      hasGlob: folder.hasGlob || source.hasGlob,
    },
  ]
}

function changeMode(words: readonly Word[]): ReturnType<EffectReader> {
  const args = readArguments(words, "--reference --from -m -x")
  const isTree = hasAny(args, "-R", "--recursive")
  const operands = args.values.size > 0 ? args.operands : args.operands.slice(1)
  return { writes: isTree ? trees(operands) : files(operands) }
}

function compress(words: readonly Word[]): ReturnType<EffectReader> {
  const args = readArguments(words, "-S -o -T")
  if (hasAny(args, "-c", "-l", "-t", "--stdout", "--list", "--test")) return { reads: files(args.operands) }
  // The file is replaced by one beside it.
  return { deletes: files(args.operands), writes: files([...args.operands, ...valuesOf(args, "-o")]) }
}

/** `yq -i` writes its files back. The first operand is the expression, unless it comes from a file; yq may have a verb before it. */
function queryInPlace(words: readonly Word[]): ReturnType<EffectReader> {
  const args = readArguments(words, "-f --from-file --arg --argjson --slurpfile --rawfile --indent")
  const operands = args.operands.filter(({ text }, at) => at > 0 || !/^(?:e|ea|eval|eval-all)$/.test(text))
  const named = files(args.values.has("-f") || args.values.has("--from-file") ? operands : operands.slice(1))
  return hasAny(args, "-i", "--inplace", "--in-place") ? { writes: named } : { reads: named }
}

function encoded(words: readonly Word[]): ReturnType<EffectReader> {
  const args = readArguments(words, "-i -o -w -b --input --output --wrap --break")
  return {
    reads: files([...args.operands, ...valuesOf(args, "-i", "--input")]),
    writes: files(valuesOf(args, "-o", "--output")),
  }
}

function editor(words: readonly Word[]): ReturnType<EffectReader> {
  const args = readArguments(words, "-c -S -u -s --cmd --eval")
  return { writes: files(args.operands), ...running("an editor does what it is told on its input") }
}

function assigned(words: readonly Word[], name: string): Word[] {
  return words
    .filter((word) => word.text.startsWith(`${name}=`))
    .map((word) => ({ ...word, text: word.text.slice(name.length + 1) }))
}

/** `host:path` and `user@host:path`. */
export function remoteHost(word: Word): string[] {
  const match = /^(?:[^\s@/:]+@)?([A-Za-z0-9.-]{2,}):/.exec(word.text)
  if (match !== null) return [(match[1] as string).toLowerCase()]
  return word.text.includes("://") ? (hostOf(word.text) ?? []) : []
}
