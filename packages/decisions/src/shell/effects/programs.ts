import type { Word } from "../command.js"
import { knownWord } from "../wrappers.js"
import { type Arguments, files, hasAny, here, readArguments, trees, under, valuesOf } from "./arguments.js"
import { type Description, describedEffects } from "./description.js"
import { type CommandEffects, type EffectReader, running } from "./effects.js"
import { git } from "./git.js"
import { hostsOf, remoteHost } from "./hosts.js"

// The programs that agents run, and those of which a wrong guess would be dearest. One that stands nowhere here is `opaque` and may run anything,
// so leaving one out can make an answer unknown, never wrong.

/** What a program does with its words; undefined for one without a description. */
export function effectsOfProgram(program: string, words: readonly Word[]): Partial<CommandEffects> | undefined {
  const described = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  if (described === undefined) return undefined
  const effects = typeof described === "function" ? described(words) : describedEffects(described, words)
  if (!BUILDERS.has(program) && !WITH_OUTPUT.has(program)) return effects
  return { ...effects, writes: [...(effects.writes ?? []), ...outputsOf(words)] }
}

const namesIn = (list: string): readonly string[] => list.split(" ")
const each = (names: string, described: Description | EffectReader): Record<string, Description | EffectReader> =>
  Object.fromEntries(namesIn(names).map((name) => [name, described]))

/** They only read and print. */
const READERS =
  "cat head tail less more ls dir tree stat file wc grep egrep fgrep rg ag ack diff cmp comm cut tr nl od hexdump strings md5sum sha1sum " +
  "sha256sum sha512sum cksum du df column fold rev tac paste join bat readlink realpath basename dirname locate zcat zgrep shellcheck"

/** They do nothing a check looks at. */
const HARMLESS =
  ": true false echo printf pwd cd chdir pushd popd dirs test [ [[ export declare typeset local readonly unset set shopt umask ulimit alias " +
  "unalias type which whereis command exit return break continue shift wait jobs fg bg kill pkill killall sleep date cal uname whoami " +
  "id groups hostname uptime env printenv ps top htop free lsof pgrep seq expr bc let tput clear reset stty tty yes read mapfile getopts " +
  "help man info times trap disown nproc arch locale timeout nice nohup time lsb_release sysctl getconf sync xargs sudo npx bunx"

/**
 * Compilers, linters, builds: they write their products where their configuration says. They are taken at their word, as test runs are;
 * a snapshot of the work tree before and after tells what they really changed.
 */
const BUILDERS = new Set(
  namesIn(
    "make cmake ninja meson tsc tsgo vite webpack rollup esbuild swc turbo nx lerna babel eslint stylelint mypy pyright pylint flake8 javac java " +
      "sbt gcc g++ cc c++ clang clang++ ld rustc mvn mvnw gradle gradlew dotnet swift xcodebuild bazel just task golangci-lint clippy npm pnpm " +
      "yarn bun cargo go tox nox pre-commit rubocop rake rails mix next nuxt astro ruff black prettier biome isort gofmt rustfmt poetry pipenv " +
      "uv bundle deno playwright",
  ),
)
/** Beside builders: programs that run or show something, and write down what they saw. */
const WITH_OUTPUT = new Set(["strace", "time", "less"])
const OUTPUT =
  "-o --output --out --outfile --out-file --outDir --outdir --out-dir --output-dir --output-path --target-dir --build-dir --log-file"

/** Where a build is told on the command line to put what it makes. */
const outputsOf = (words: readonly Word[]): ReturnType<typeof trees> =>
  words.length < 3 ? [] : trees(valuesOf(readArguments(words, OUTPUT), ...namesIn(OUTPUT)))

/** Subcommands of services with which something is put into service or taken out of it. */
const DEPLOYS: Readonly<Record<string, string>> = {
  kubectl: "apply create delete replace patch rollout scale set",
  helm: "install upgrade uninstall rollback",
  terraform: "apply destroy import",
  pulumi: "up destroy",
  cdk: "deploy destroy",
  sam: "deploy delete",
  serverless: "deploy remove",
  vercel: "deploy promote",
  netlify: "deploy",
  fly: "deploy",
  flyctl: "deploy",
  firebase: "deploy",
  wrangler: "deploy publish",
  heroku: "deploy container:release releases:rollback",
}

const SSH_VALUES = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"
const RUFF = { values: "--config --select --ignore", writes: "behind/", orHere: true } as const

const PROGRAMS: Readonly<Record<string, Description | EffectReader>> = {
  ...each(HARMLESS, {}),
  ...each([...BUILDERS].join(" "), {}),
  ...each(READERS, { reads: "all", tree: "-r -R --recursive" }),
  git,

  // Files
  rm: { deletes: "all", tree: "-r -R --recursive" },
  ...each("rmdir unlink", { deletes: "all" }),
  mv: (words) => {
    const { sources, targets } = sourcesAndTargets(words)
    return { deletes: trees(sources), writes: trees(targets) }
  },
  cp: (words) => {
    const { sources, targets, args } = sourcesAndTargets(words)
    const uses = hasAny(args, "-r", "-R", "-a", "--recursive", "--archive") ? trees : files
    const isLink = hasAny(args, "-l", "-s", "--link", "--symbolic-link")
    return { reads: uses(sources), writes: uses(targets), ...(isLink && { linked: trees(sources) }) }
  },
  ln: (words) => {
    const { sources, targets, args } = sourcesAndTargets(words)
    // One operand links into the folder it runs in.
    if (args.operands.length === 1 && args.values.size === 0)
      return { reads: files(args.operands), writes: trees([here]), linked: trees(args.operands) }
    const isSymbolic = hasAny(args, "-s", "--symbolic")
    const linked = isSymbolic ? sources.flatMap((source) => targets.map((link) => seenFrom(link, source))) : sources
    return { reads: files(sources), writes: files(targets), linked: trees(linked) }
  },
  touch: { values: "-d -t -r --date --reference", writes: "all" },
  mkdir: { values: "-m --mode", writes: "all" },
  tee: { writes: "all" },
  truncate: { values: "-s -r --size --reference", writes: "all" },
  dd: (words) => ({ reads: files(assigned(words, "if")), writes: files(assigned(words, "of")) }),
  ...each("chmod chown chgrp", (words) => {
    const args = readArguments(words, "--reference --from")
    // The first operand is the mode or the owner, unless an option says it: `chmod -x a`.
    const isSaid = args.values.size > 0 || words.some(({ text }) => /^-[rwxXst]/.test(text))
    const operands = isSaid ? args.operands : args.operands.slice(1)
    return { writes: hasAny(args, "-R", "--recursive") ? trees(operands) : files(operands) }
  }),
  sed: (words) => {
    const args = readArguments(words, "-e -f -l --expression --file")
    const given = valuesOf(args, "-e", "--expression")
    const isFromFile = args.values.has("-f") || args.values.has("--file")
    const hasScript = given.length > 0 || isFromFile
    const operands = files(hasScript ? args.operands : args.operands.slice(1))
    const isInPlace = [...args.flags].some((flag) => /^(?:-i|--in-place)/.test(flag))
    const runs = (hasScript ? given : args.operands.slice(0, 1)).some(
      (script) => !script.isKnown || /(?:^|[;{}\n\d$/])\s*[ew]\s|\/[gp\d]*[ew](?:[ ;}]|$)/.test(script.text),
    )
    return {
      ...(isInPlace ? { writes: operands } : { reads: operands }),
      ...((runs || isFromFile) && running("its script may write files or run commands")),
    }
  },
  ...each("awk gawk mawk", (words) => {
    const args = readArguments(words, "-F -v -f -i --include")
    const program = args.operands[0]
    const isPlain =
      program?.isKnown === true &&
      !args.values.has("-f") &&
      !args.values.has("-i") &&
      !/system|getline|[>|]\s*["(\w$]|@load/.test(program.text)
    return {
      reads: files(args.operands.slice(1)),
      ...(!isPlain && running("its program may run commands and write files")),
    }
  }),
  ...each("find fd", (words) => {
    const end = words.findIndex((word, at) => at > 0 && /^[-(!]/.test(word.text))
    const roots = words.slice(1, end === -1 ? undefined : end)
    const from = trees(roots.length > 0 ? roots : [here])
    const printed = words.filter((_, at) => /^-fprint/.test(words[at - 1]?.text ?? ""))
    return { reads: from, deletes: words.some(({ text }) => text === "-delete") ? from : [], writes: files(printed) }
  }),
  sort: { values: "-k -t -S -T --key", reads: "all", writes: "-o --output" },
  uniq: { values: "-f -s -w --skip-fields --skip-chars --check-chars", reads: "first", writes: "behind" },
  xxd: { values: "-c -g -l -o -s -n -cols -len -seek -name", reads: "first", writes: "second" },
  base64: { values: "-w -b --wrap --break", reads: "all -i --input", writes: "-o --output" },
  // The first operand is the expression, unless it comes from a file; yq may have a verb before it.
  ...each("jq yq", (words) => {
    const args = readArguments(words, "-f --from-file --arg --argjson --slurpfile --rawfile --indent")
    const operands = args.operands.filter(({ text }, at) => at > 0 || !/^(?:e|ea|eval|eval-all)$/.test(text))
    const named = files(args.values.has("-f") || args.values.has("--from-file") ? operands : operands.slice(1))
    return hasAny(args, "-i", "--inplace", "--in-place") ? { writes: named } : { reads: named }
  }),
  history: { with: "-w -a", writes: "all" },
  mktemp: { writes: "-p/ --tmpdir/" },
  rsync: (words) => {
    const args = readArguments(words, "-e --rsh --exclude --include --filter --files-from --log-file --backup-dir")
    const isLocal = (word: Word): boolean => remoteHost(word).length === 0
    const sources = trees(args.operands.slice(0, -1).filter(isLocal))
    const target = trees(args.operands.slice(-1).filter(isLocal))
    const hosts = args.operands.flatMap(remoteHost)
    return {
      reads: sources,
      writes: [...target, ...trees(valuesOf(args, "--log-file", "--backup-dir"))],
      deletes: [
        ...([...args.flags].some((flag) => /^--del(?:ete|$)/.test(flag)) ? target : []),
        ...(hasAny(args, "--remove-source-files") ? sources : []),
      ],
      ...(hosts.length > 0 && { network: hosts }),
      ...(hasAny(args, "-e", "--rsh") && running("it runs a command of its own")),
    }
  },
  tar: (words) => {
    // The old style has no dash: tar xzf a.tgz.
    const [program, first, ...rest] = words
    const isOldStyle = first !== undefined && /^[a-zA-Z]+$/.test(first.text)
    const args = readArguments(
      isOldStyle ? [program!, { ...first, text: `-${first.text}` }, ...rest] : words,
      "-f -C -X -T --file --directory --exclude --transform -I --use-compress-program --to-command",
    )
    const archive = files(valuesOf(args, "-f", "--file"))
    const folder = valuesOf(args, "-C", "--directory")
    const members = trees(args.operands)
    const runs = /^(?:-I|--(?:use-compress-program|to-command|checkpoint-action|rsh-command))/
    return {
      ...(hasAny(args, "-x", "--extract", "--get")
        ? { reads: archive, writes: trees(folder.length > 0 ? folder : [here]) }
        : hasAny(args, "-c", "-r", "-u", "-A", "--create", "--append", "--update")
          ? { reads: members, writes: archive, deletes: hasAny(args, "--remove-files") ? members : [] }
          : { reads: archive }),
      ...([...args.flags].some((flag) => runs.test(flag)) && running("an option of it runs a command")),
    }
  },
  unzip: { values: "-x -P", reads: "first", writes: "-d/", orHere: true, without: "-l -t -p -z -Z" },
  // The file is replaced by one beside it.
  ...each("gzip gunzip", {
    values: "-S",
    reads: "all",
    writes: "all",
    deletes: "all",
    without: "-c -l -t --stdout --list --test",
  }),
  patch: (words) => {
    const args = readArguments(words, "-p -i -d -o -r --input --directory --output --strip")
    const folder = valuesOf(args, "-d", "--directory")
    const named = [...args.operands.slice(0, 1), ...valuesOf(args, "-o", "--output")]
    // Without a named file the patch says what it changes, and the patch is not in the command.
    return named.length > 0
      ? { writes: files(named) }
      : { writes: trees(folder.length > 0 ? folder : [here]), opaque: "the patch names the files" }
  },
  prettier: { with: "--write -w", writes: "all/", orHere: true },
  ...each("eslint stylelint", { with: "--fix", writes: "all/", orHere: true }),
  biome: { with: "--write --fix --apply", writes: "behind/", orHere: true },
  gofmt: { with: "-w", writes: "all/", orHere: true },
  black: { without: "--check --diff", writes: "all/" },
  isort: { without: "--check -c --diff", writes: "all/" },
  rustfmt: { without: "--check", writes: "all" },
  ruff: (words) =>
    describedEffects(
      words.some(({ text }) => text === "format") ? { ...RUFF, without: "--check --diff" } : { ...RUFF, with: "--fix" },
      words,
    ),
  cmake: { writes: "-B/ --install-prefix/ --prefix/" },

  // Other machines
  curl,
  wget: (words) => {
    const args = readArguments(
      words,
      "-O -o -P -U -T -t -i --output-document --directory-prefix --user-agent --header --post-data --post-file --timeout --tries --input-file -e",
    )
    const isNamed = hasAny(args, "-O", "--output-document", "-P", "--directory-prefix")
    const output = valuesOf(args, "-O", "--output-document").filter((word) => word.text !== "-")
    return {
      network: hasAny(args, "-i", "--input-file") ? true : hostsOf(args.operands),
      reads: files(valuesOf(args, "--post-file", "-i", "--input-file")),
      writes: [
        ...files([...output, ...valuesOf(args, "-o"), ...(isNamed ? [] : savedNames(args.operands))]),
        ...trees(valuesOf(args, "-P", "--directory-prefix")),
      ],
      ...(args.values.has("-e") && running("an option of it is a start-up command")),
    }
  },
  ssh: { values: SSH_VALUES, network: "first -J" },
  sftp: { values: "-b -c -F -i -J -l -o -P -S", network: "first", runs: true },
  scp: (words) => {
    const { operands } = readArguments(words, "-c -F -i -J -l -o -P -S")
    const hosts = operands.flatMap(remoteHost)
    const local = operands.filter((word) => remoteHost(word).length === 0)
    const target = operands.at(-1)
    return {
      network: hosts.length > 0 ? hosts : true,
      ...(target !== undefined && local.includes(target)
        ? { writes: trees([target]), reads: files(local.slice(0, -1)) }
        : { reads: trees(local) }),
    }
  },
  nc: (words) => {
    const isListening = words.some(({ text }) => /^-\w*l/.test(text))
    const described = { values: "-p -s -w -q -X -x -i -e -c --exec --sh-exec", runs: "-e -c --exec --sh-exec" }
    return describedEffects({ ...described, network: isListening || "first" }, words)
  },
  ...each("telnet ftp", { network: "first" }),
  ping: { values: "-c -i -W -w -s -t -I", network: "last" },
  ...each("dig nslookup host whois traceroute nmap redis-cli uvx", { network: true }),
  socat: { network: true, runs: true },
  ...each("psql mysql", { network: true, opaque: "it runs statements" }),
  gh: (words) => {
    const { operands } = readArguments(words, "-R --repo -t --title -b --body -F --body-file -B --base -H --head")
    const verb = `${operands[0]?.text} ${operands[1]?.text}`
    const kinds: Readonly<Record<string, CommandEffects["kind"]>> = {
      "pr create": "open_pr",
      "pr merge": "merge",
      "release create": "publish",
    }
    return {
      network: ["github.com"],
      kind: kinds[verb],
      ...(/^(?:repo|pr|release|run) (?:clone|checkout|download)$/.test(verb) && {
        opaque: "it writes files the command does not name",
      }),
    }
  },
  ...Object.fromEntries(Object.entries(DEPLOYS).map(([name, verbs]) => [name, (words) => service(words, verbs)])),
  az: { network: true, opaque: "its subcommands may write files" },
  ...each("aws gcloud", (words) => ({ ...service(words, "deploy"), opaque: "its subcommands may write files" })),
  "ansible-playbook": { network: true, kind: "deploy", runs: true },
  kubectl: (words) => {
    if (words[1]?.text !== "cp") return service(words, DEPLOYS.kubectl!)
    // What has no colon is here; the last one is written.
    const { operands } = readArguments(words.slice(1), "-n --namespace -c --container --context --retries")
    return { network: true, writes: trees(operands.slice(-1).filter(({ text }) => !text.includes(":"))) }
  },
  // Its formatter writes files, under the folder it is told to run in.
  terraform: (words) => {
    const args = readArguments(words, "-chdir")
    const [subcommand, ...operands] = args.operands
    if (subcommand?.text !== "fmt") return service(words, DEPLOYS.terraform!)
    const folders = words.flatMap((word) => {
      const [, folder] = /^--?chdir=(.+)$/.exec(word.text) ?? []
      return folder === undefined ? [] : [{ ...word, text: folder }]
    })
    const named = operands.length > 0 ? operands : [here]
    const found = trees(folders.length > 0 ? folders.flatMap((one) => named.map((word) => under(one, word))) : named)
    const isRead = hasAny(args, "-check", "--check", "-write=false", "--write=false")
    return isRead ? { reads: found } : { writes: found }
  },
  ...each("docker podman", (words) => {
    const { operands } = readArguments(words, "-H --host --context -l --log-level --config -f --file -t --tag")
    const subcommand = (operands[0]?.text === "compose" ? operands[1]?.text : operands[0]?.text) ?? ""
    return {
      ...(/^(?:pull|push|login|build|buildx|run|create|search|up)$/.test(subcommand) && { network: true }),
      ...(subcommand === "push" && { kind: "publish" }),
      ...(/^(?:run|cp|create|up|exec|build|buildx)$/.test(subcommand) && {
        opaque: "what runs in a container is not in the command",
      }),
    }
  }),

  // Package managers: they fetch from registries, and write manifests, locks and their own folders.
  ...each("npm pnpm bun", manager("package.json package-lock.json pnpm-lock.yaml yarn.lock bun.lock node_modules/")),
  yarn: manager("package.json package-lock.json pnpm-lock.yaml yarn.lock bun.lock node_modules/", true),
  deno: (words) =>
    /^(?:run|eval|serve|x)$/.test(words[1]?.text ?? "")
      ? interpreter(words.slice(1))
      : manager("deno.json deno.lock package.json node_modules/")(words),
  ...each("pip pip3", manager("", false, "-t --target --root --prefix -d --dest -w --wheel-dir --src --report --log")),
  ...each("pipx conda gem brew apt apt-get apk dnf yum", manager("")),
  uv: manager("pyproject.toml uv.lock .venv/"),
  poetry: manager("pyproject.toml poetry.lock", true),
  pipenv: manager("Pipfile Pipfile.lock"),
  cargo: manager("Cargo.toml Cargo.lock"),
  go: manager("go.mod go.sum"),
  bundle: manager("Gemfile Gemfile.lock", true),
  dotnet: (words) => (/^(?:restore|add|tool|workload|nuget)$/.test(words[1]?.text ?? "") ? { network: true } : {}),
  mvn: (words) => (words.some(({ text }) => /^(?:dependency|versions|deploy)\b/.test(text)) ? { network: true } : {}),
  playwright: (words) => (words[1]?.text === "install" ? { network: true } : {}),

  // Code in another language
  ...each("python python2 python3 py pypy node nodejs tsx ts-node perl ruby php", interpreter),
  ...each("source . strace", { runs: true }),
}

function interpreter(words: readonly Word[]): Partial<CommandEffects> {
  const { operands, flags } = readArguments(words, "-m -W -X -r --require --import -I")
  if (flags.has("--version") || flags.has("-V") || flags.has("--help") || flags.has("-v")) return {}
  const isInline = ["-c", "-e", "-p", "--eval", "--print", "-E", "-n", "-i"].some((flag) => flags.has(flag))
  if (isInline) return running("it runs code given on the command line")
  const script = operands[0]
  if (script === undefined) return running("it runs code from its input")
  if (/^https?:\/\//i.test(script.text))
    return { network: hostsOf([script]), ...running("it runs a program from elsewhere") }
  return { reads: files([script]), ...running(`it runs the program ${script.text}`) }
}

const INSTALL =
  /^(?:install|i|ci|add|update|up|upgrade|remove|uninstall|rm|un|link|dedupe|sync|lock|get|tap|require|import|fetch|download|vendor)$/
const PUBLISH = /^(?:publish|upload|release|unpublish|deprecate|yank)$/
const ELSEWHERE = "--prefix -C --dir --cwd --project --directory"

/** `written` are its manifests and folders, `targets` options that name where to put what it fetches. */
function manager(written: string, installsByDefault = false, targets = ""): EffectReader {
  const owned = written === "" ? [] : namesIn(written)
  return (words) => {
    const args = readArguments(words, `${ELSEWHERE} --filter -F -w --workspace --registry --index-url`)
    const [subcommand, second] = args.operands
    if (subcommand?.isKnown === false) return { opaque: "the subcommand is not written out" }
    const told = targets === "" ? [] : trees(valuesOf(readArguments(words, targets), ...namesIn(targets)))
    const verb = subcommand?.text
    if (verb !== undefined && PUBLISH.test(verb)) return { network: true, kind: "publish", writes: told }
    const isInstall =
      verb === undefined
        ? installsByDefault
        : INSTALL.test(verb) ||
          (verb === "mod" && /^(?:tidy|download|vendor)$/.test(second?.text ?? "")) ||
          (verb === "pip" && INSTALL.test(second?.text ?? ""))
    if (!isInstall) return { writes: told }
    const own = owned.map((path) => ({ word: knownWord(path.replace("/", "")), isTree: path.endsWith("/") }))
    const elsewhere = trees(valuesOf(args, ...namesIn(ELSEWHERE)))
    return { network: true, kind: "install", writes: [...elsewhere, ...own, ...told] }
  }
}

function service(words: readonly Word[], deploys: string): Partial<CommandEffects> {
  const { operands } = readArguments(
    words,
    "-n --namespace --context --kubeconfig -f --filename -c --config --profile --region --project --stack -s",
  )
  const isDeploy = operands.slice(0, 3).some(({ text }) => namesIn(deploys).includes(text))
  return { network: true, kind: isDeploy ? "deploy" : undefined }
}

const CURL_VALUES =
  "-o -d -F -H -X -A -b -c -e -u -x -T -w -m -K -E --output --data --data-raw --data-binary --data-urlencode --form --header --request " +
  "--user-agent --cookie --cookie-jar --referer --user --proxy --upload-file --write-out --max-time --connect-timeout --retry --retry-delay " +
  "--config --cert --key --cacert --url --resolve --output-dir --json --limit-rate --range -r -C --interface --socks5 --connect-to " +
  "-D --dump-header --stderr --trace --trace-ascii --libcurl --etag-save --hsts --alt-svc"

function curl(words: readonly Word[]): Partial<CommandEffects> {
  const args = readArguments(words, CURL_VALUES)
  const targets = [...args.operands, ...valuesOf(args, "--url")]
  const sent = valuesOf(args, "-d", "--data", "--data-binary", "--data-raw", "-F", "--form", "--json").flatMap(
    (word) => {
      const file = /(?:^|=)[@<](.+)$/.exec(word.text)?.[1]
      return file === undefined ? [] : [{ ...word, text: file }]
    },
  )
  const hosts = hostsOf(targets)
  const rerouted = valuesOf(args, "-x", "--proxy", "--socks5", "--connect-to", "--resolve")
  const others = rerouted.length === 0 ? [] : hostsOf(rerouted)
  const isConfigured = hasAny(args, "-K", "--config")
  // `-O` saves under the name the URL gives.
  const isNamedByUrl = hasAny(args, "-O", "--remote-name", "--remote-name-all")
  const saved = [...valuesOf(args, "-o", "--output"), ...(isNamedByUrl ? savedNames(targets) : [])]
  const folders = valuesOf(args, "--output-dir")
  return {
    network: isConfigured || hosts === true || others === true ? true : [...new Set([...hosts, ...others])],
    reads: files([...valuesOf(args, "-T", "--upload-file"), ...sent]),
    writes: files([
      ...valuesOf(args, "-c", "--cookie-jar", "-D", "--dump-header", "--stderr", "--trace", "--trace-ascii"),
      ...valuesOf(args, "--libcurl", "--etag-save", "--hsts", "--alt-svc"),
      ...saved.flatMap((word) => (folders.length > 0 ? folders.map((folder) => under(folder, word)) : [word])),
    ]).filter(({ word }) => word.text !== "-"),
    ...(isConfigured && { opaque: "it reads its options from a file" }),
  }
}

const savedNames = (targets: readonly Word[]): readonly Word[] =>
  targets.map(({ text, isKnown }) => {
    const name = text.split(/[?#]/, 1)[0]!.split("/").at(-1)!
    return { text: name === "" ? "index.html" : name, isKnown, hasGlob: false }
  })

/** `cp a b dir`, `cp -t dir a b`: what is taken, and every name it may be given. */
function sourcesAndTargets(words: readonly Word[]): {
  sources: readonly Word[]
  targets: readonly Word[]
  args: Arguments
} {
  const args = readArguments(words, "-t --target-directory -S --suffix")
  const folder = valuesOf(args, "-t", "--target-directory")
  const sources = folder.length > 0 ? args.operands : args.operands.slice(0, -1)
  const given = folder.length > 0 ? folder : args.operands.slice(-1)
  // Into a folder the file keeps its name; whether the target is a folder only the disk knows.
  const named = given.flatMap((into) => sources.flatMap((source) => intoFolder(into, source)))
  return { sources, targets: [...given, ...named], args }
}

function intoFolder(folder: Word, source: Word): Word[] {
  const name = source.text.replace(/\/+$/, "").split("/").at(-1) ?? ""
  if (name === "" || name === "." || name === "..") return []
  const inside = under({ ...folder, text: folder.text.replace(/\/+$/, "") }, { ...source, text: name })
  return [inside]
}

/** A symbolic link is followed from the folder it stands in, not from where it was made. */
function seenFrom(link: Word, source: Word): Word {
  if (/^[/~]/.test(source.text)) return source
  const folder = link.text.split("/").slice(0, -1).join("/") || (link.text.startsWith("/") ? "/" : ".")
  return under({ ...link, text: folder, hasGlob: false }, source)
}

const assigned = (words: readonly Word[], name: string): Word[] =>
  words
    .filter(({ text }) => text.startsWith(`${name}=`))
    .map((word) => ({ ...word, text: word.text.slice(name.length + 1) }))
