import { type EffectReader, files, hasAny, here, readArguments, trees, under, valuesOf } from "./arguments.js"
import { running } from "./effects.js"
import { remoteHost } from "./files.js"
import { hostsOf } from "./hosts.js"

const CURL_VALUES =
  "-o -O -d -F -H -X -A -b -c -e -u -x -T -w -m -K -E --output --data --data-raw --data-binary --data-urlencode --form --header --request " +
  "--user-agent --cookie --cookie-jar --referer --user --proxy --upload-file --write-out --max-time --connect-timeout --retry --retry-delay " +
  "--config --cert --key --cacert --url --resolve --output-dir --json --limit-rate --range -r -C --interface --socks5 --connect-to " +
  "-D --dump-header --stderr --trace --trace-ascii --libcurl --etag-save --hsts --alt-svc"
const WGET_VALUES =
  "-O -o -P -U -T -t -i --output-document --directory-prefix --user-agent --header --post-data --post-file --timeout --tries --input-file -e"

/** Programs that talk to other machines. */
export const NETWORK_PROGRAMS: Readonly<Record<string, EffectReader>> = {
  curl: (words) => {
    // `-O` takes no value; it saves under the name the URL gives.
    const args = readArguments(words, CURL_VALUES.replace("-O ", ""))
    const targets = [...args.operands, ...valuesOf(args, "--url")]
    const uploaded = valuesOf(args, "-T", "--upload-file")
    const sent = valuesOf(args, "-d", "--data", "--data-binary", "--data-raw", "-F", "--form", "--json").flatMap(
      (word) => {
        const file = /(?:^|=)[@<](.+)$/.exec(word.text)?.[1]
        return file === undefined ? [] : [{ ...word, text: file }]
      },
    )
    const rerouted = valuesOf(args, "-x", "--proxy", "--socks5", "--connect-to", "--resolve")
    const hosts = hostsOf(targets)
    const isNamedByUrl = hasAny(args, "-O", "--remote-name", "--remote-name-all")
    const saved = [...valuesOf(args, "-o", "--output"), ...(isNamedByUrl ? savedNames(targets) : [])]
    const folders = valuesOf(args, "--output-dir")
    return {
      network:
        hasAny(args, "-K", "--config") || (rerouted.length > 0 && hosts === true)
          ? true
          : rerouted.length > 0
            ? joinHosts(hosts, rerouted)
            : hosts,
      reads: files([...uploaded, ...sent]),
      writes: files([
        ...valuesOf(args, "-c", "--cookie-jar", "-D", "--dump-header", "--stderr", "--trace", "--trace-ascii"),
        ...valuesOf(args, "--libcurl", "--etag-save", "--hsts", "--alt-svc"),
        ...saved.flatMap((word) => (folders.length > 0 ? folders.map((folder) => under(folder, word)) : [word])),
      ]).filter(({ word }) => word.text !== "-"),
      ...(hasAny(args, "-K", "--config") && { opaque: "it reads its options from a file" }),
    }
  },
  wget: (words) => {
    const args = readArguments(words, WGET_VALUES)
    const output = valuesOf(args, "-O", "--output-document").filter((word) => word.text !== "-")
    const folder = valuesOf(args, "-P", "--directory-prefix")
    return {
      network: args.values.has("-i") || args.values.has("--input-file") ? true : hostsOf(args.operands),
      reads: files(valuesOf(args, "--post-file", "-i", "--input-file")),
      writes: [
        ...files([...output, ...valuesOf(args, "-o")]),
        ...trees(folder),
        ...files(
          output.length + folder.length === 0 && !args.values.has("-O") && !args.flags.has("-O")
            ? savedNames(args.operands)
            : [],
        ),
      ],
      ...(args.values.has("-e") && running("an option of it is a start-up command")),
    }
  },
  http: (words) => ({ network: httpieHosts(words) }),
  https: (words) => ({ network: httpieHosts(words) }),
  xh: (words) => ({ network: httpieHosts(words) }),
  nc: (words) => {
    const args = readArguments(words, "-p -s -w -q -X -x -i -e -c --exec --sh-exec")
    const runs = hasAny(args, "-e", "-c", "--exec", "--sh-exec")
    return {
      network: hasAny(args, "-l") ? true : hostsOf(args.operands.slice(0, 1)),
      ...(runs && running("an option of it runs a command")),
    }
  },
  socat: () => ({ network: true, ...running("its addresses may run commands and write files") }),
  telnet: (words) => ({ network: hostsOf(readArguments(words).operands.slice(0, 1)) }),
  ftp: (words) => ({ network: hostsOf(readArguments(words).operands.slice(0, 1)) }),
  ping: (words) => ({ network: hostsOf(readArguments(words, "-c -i -W -w -s -t -I").operands.slice(-1)) }),
  dig: () => ({ network: true }),
  nslookup: () => ({ network: true }),
  host: () => ({ network: true }),
  whois: () => ({ network: true }),
  traceroute: () => ({ network: true }),
  nmap: () => ({ network: true }),
  ssh: (words) => {
    const args = readArguments(words, "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B")
    const jumps = valuesOf(args, "-J")
    return { network: hostsOf([...args.operands.slice(0, 1), ...jumps]) }
  },
  sftp: (words) => ({
    network: hostsOf(readArguments(words, "-b -c -F -i -J -l -o -P -S").operands.slice(0, 1)),
    ...running("its commands come from its input"),
  }),
  scp: (words) => {
    const { operands } = readArguments(words, "-c -F -i -J -l -o -P -S")
    const hosts = operands.flatMap((word) => remoteHost(word))
    const local = operands.filter((word) => remoteHost(word).length === 0)
    const target = operands.at(-1)
    return {
      network: hosts.length > 0 ? hosts : true,
      ...(target !== undefined && local.includes(target)
        ? { writes: trees([target]), reads: files(local.slice(0, -1)) }
        : { reads: trees(local) }),
    }
  },
  gh: (words) => {
    const { operands } = readArguments(words, "-R --repo -t --title -b --body -F --body-file -B --base -H --head")
    const [noun, verb] = operands.map((word) => word.text)
    return {
      network: ["github.com"],
      subcommand: noun === undefined ? undefined : [noun, verb].filter((part) => part !== undefined).join(" "),
      ...(noun === "pr" && verb === "create" && { kind: "open_pr" as const }),
      ...(noun === "pr" && verb === "merge" && { kind: "merge" as const }),
      ...(noun === "release" && verb === "create" && { kind: "publish" as const }),
      ...((noun === "repo" || noun === "pr" || noun === "release" || noun === "run") &&
        /^(?:clone|checkout|download)$/.test(verb ?? "") && { opaque: "it writes files the command does not name" }),
    }
  },
  glab: (words) => {
    const { operands } = readArguments(words)
    const [noun, verb] = operands.map((word) => word.text)
    return {
      network: true,
      ...(noun === "mr" && verb === "create" && { kind: "open_pr" as const }),
      ...(noun === "mr" && verb === "merge" && { kind: "merge" as const }),
    }
  },
  kubectl: (words) =>
    words[1]?.text === "cp"
      ? copied(words)
      : service(words, /^(?:apply|create|delete|replace|patch|rollout|scale|set)$/),
  oc: (words) => service(words, /^(?:apply|create|delete|replace|patch|rollout|scale|set|new-app)$/),
  helm: (words) => service(words, /^(?:install|upgrade|uninstall|rollback)$/),
  terraform,
  tofu: terraform,
  pulumi: (words) => service(words, /^(?:up|destroy)$/),
  cdk: (words) => service(words, /^(?:deploy|destroy)$/),
  sam: (words) => service(words, /^(?:deploy|delete)$/),
  serverless: (words) => service(words, /^(?:deploy|remove)$/),
  vercel: (words) => service(words, /^(?:deploy|promote)$/),
  netlify: (words) => service(words, /^deploy$/),
  fly: (words) => service(words, /^deploy$/),
  flyctl: (words) => service(words, /^deploy$/),
  heroku: (words) => service(words, /^(?:deploy|container:release|releases:rollback)/),
  firebase: (words) => service(words, /^deploy$/),
  wrangler: (words) => service(words, /^(?:deploy|publish)$/),
  ansible: () => ({ network: true, ...running("it runs what its inventory says") }),
  "ansible-playbook": () => ({ network: true, kind: "deploy", ...running("it runs a playbook") }),
  aws: (words) => ({ ...service(words, /^deploy$/), opaque: "its subcommands may write files" }),
  gcloud: (words) => ({ ...service(words, /^deploy$/), opaque: "its subcommands may write files" }),
  az: () => ({ network: true, opaque: "its subcommands may write files" }),
  docker: container,
  podman: container,
  nerdctl: container,
  psql: () => ({ network: true, opaque: "it runs statements" }),
  mysql: () => ({ network: true, opaque: "it runs statements" }),
  "redis-cli": () => ({ network: true }),
  mongosh: () => ({ network: true, ...running("it runs a script") }),
}

function joinHosts(hosts: readonly string[] | true, words: Parameters<typeof hostsOf>[0]): readonly string[] | true {
  const others = hostsOf(words)
  return hosts === true || others === true ? true : [...new Set([...hosts, ...others])]
}

const httpieHosts: (words: Parameters<EffectReader>[0]) => readonly string[] | true = (words) => {
  const { operands } = readArguments(words, "-o -a --output --auth --timeout --proxy")
  const url = operands.find((word) => !/^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)$/.test(word.text))
  return url === undefined ? true : hostsOf([url])
}

function savedNames(targets: Parameters<EffectReader>[0]): Parameters<EffectReader>[0] {
  return targets.map((word) => {
    const name = (word.text.split(/[?#]/, 1)[0] as string).split("/").at(-1) ?? ""
    return { text: name === "" ? "index.html" : name, isKnown: word.isKnown, hasGlob: false }
  })
}

function service(words: Parameters<EffectReader>[0], deploys: RegExp): ReturnType<EffectReader> {
  const { operands } = readArguments(
    words,
    "-n --namespace --context --kubeconfig -f --filename -c --config --profile --region --project --stack -s",
  )
  const subcommand = operands[0]?.text
  const isDeploy = operands.slice(0, 3).some((word) => deploys.test(word.text))
  return { network: true, subcommand, ...(isDeploy && { kind: "deploy" as const }) }
}

/** Its formatter writes files, under the folder it is told to run in. */
function terraform(words: Parameters<EffectReader>[0]): ReturnType<EffectReader> {
  const args = readArguments(words, "-chdir")
  const [subcommand, ...operands] = args.operands
  if (subcommand?.text !== "fmt") return service(words, /^(?:apply|destroy|import)$/)
  const folders = words.flatMap((word) => {
    const [, folder] = /^--?chdir=(.+)$/.exec(word.text) ?? []
    return folder === undefined ? [] : [{ ...word, text: folder }]
  })
  const isRead = hasAny(args, "-check", "--check", "-write=false", "--write=false")
  const named = operands.length > 0 ? operands : [here]
  const found = folders.length > 0 ? folders.flatMap((folder) => named.map((word) => under(folder, word))) : named
  return { subcommand: "fmt", ...(isRead ? { reads: trees(found) } : { writes: trees(found) }) }
}

/** What has no colon is here; the last one is written. */
function copied(words: Parameters<EffectReader>[0]): ReturnType<EffectReader> {
  const { operands } = readArguments(words.slice(1), "-n --namespace -c --container --context --retries")
  return { network: true, writes: trees(operands.slice(-1).filter(({ text }) => !text.includes(":"))) }
}

function container(words: Parameters<EffectReader>[0]): ReturnType<EffectReader> {
  const { operands } = readArguments(words, "-H --host --context -l --log-level --config -f --file -t --tag")
  const subcommand = operands[0]?.text === "compose" ? operands[1]?.text : operands[0]?.text
  const talks = /^(?:pull|push|login|build|buildx|run|create|search|up)$/.test(subcommand ?? "")
  return {
    subcommand,
    ...(talks && { network: true as const }),
    ...(subcommand === "push" && { kind: "publish" as const }),
    ...(/^(?:run|cp|create|up|exec|build|buildx)$/.test(subcommand ?? "") && {
      opaque: "what runs in a container is not in the command",
    }),
  }
}
