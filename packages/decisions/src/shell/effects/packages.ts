import { type EffectReader, readArguments, trees, valuesOf } from "./arguments.js"
import { interpreter } from "./interpreters.js"

const INSTALL =
  /^(?:install|i|ci|add|update|up|upgrade|remove|uninstall|rm|un|link|dedupe|sync|lock|get|tap|require|import|fetch|download|vendor)$/
const PUBLISH = /^(?:publish|upload|release|unpublish|deprecate|yank)$/

const deno = manager(false, ["deno.json", "deno.lock", "package.json"], "node_modules")

/** Package managers: they fetch from registries, and write manifests, locks and their own folders. */
export const PACKAGE_PROGRAMS: Readonly<Record<string, EffectReader>> = {
  ...Object.fromEntries(
    ["npm", "pnpm", "yarn", "bun"].map((name) => [
      name,
      manager(
        name === "yarn",
        ["package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"],
        "node_modules",
      ),
    ]),
  ),
  deno: (words, command) =>
    /^(?:run|eval|serve|x)$/.test(words[1]?.text ?? "") ? interpreter(words.slice(1)) : deno(words, command),
  dotnet: (words) => (/^(?:restore|add|tool|workload|nuget)$/.test(words[1]?.text ?? "") ? { network: true } : {}),
  mvn: (words) => (words.some(({ text }) => /^(?:dependency|versions|deploy)\b/.test(text)) ? { network: true } : {}),
  playwright: (words) => (words[1]?.text === "install" ? { network: true } : {}),
  npx: () => ({}),
  bunx: () => ({}),
  uvx: () => ({ network: true }),
  pip: manager(false, [], undefined),
  pip3: manager(false, [], undefined),
  pipx: manager(false, [], undefined),
  uv: manager(false, ["pyproject.toml", "uv.lock"], ".venv"),
  poetry: manager(true, ["pyproject.toml", "poetry.lock"], undefined),
  pipenv: manager(false, ["Pipfile", "Pipfile.lock"], undefined),
  pdm: manager(true, ["pyproject.toml", "pdm.lock"], undefined),
  conda: manager(false, [], undefined),
  cargo: manager(false, ["Cargo.toml", "Cargo.lock"], undefined),
  go: manager(false, ["go.mod", "go.sum"], undefined),
  gem: manager(false, [], undefined),
  bundle: manager(true, ["Gemfile", "Gemfile.lock"], undefined),
  composer: manager(true, ["composer.json", "composer.lock"], "vendor"),
  brew: manager(false, [], undefined),
  apt: manager(false, [], undefined),
  "apt-get": manager(false, [], undefined),
  apk: manager(false, [], undefined),
  dnf: manager(false, [], undefined),
  yum: manager(false, [], undefined),
  pacman: () => ({ network: true, kind: "install" }),
}

function manager(installsByDefault: boolean, manifests: readonly string[], folder: string | undefined): EffectReader {
  return (words) => {
    const args = readArguments(
      words,
      "--prefix -C --dir --cwd --filter -F -w --workspace --project --directory --registry --index-url",
    )
    const { operands } = args
    const elsewhere = valuesOf(args, "--prefix", "-C", "--dir", "--cwd", "--project", "--directory")
    const name = operands[0]
    const subcommand = name?.text
    if (name !== undefined && !name.isKnown) return { opaque: "the subcommand is not written out" }
    if (subcommand !== undefined && PUBLISH.test(subcommand)) return { subcommand, network: true, kind: "publish" }
    const second = operands[1]?.text ?? ""
    const isInstall =
      subcommand === undefined
        ? installsByDefault
        : INSTALL.test(subcommand) ||
          (subcommand === "mod" && /^(?:tidy|download|vendor)$/.test(second)) ||
          (subcommand === "pip" && INSTALL.test(second))
    if (!isInstall) return { subcommand }
    const known = (text: string): { text: string; isKnown: true; hasGlob: false } => ({
      text,
      isKnown: true,
      hasGlob: false,
    })
    return {
      subcommand,
      network: true,
      kind: "install",
      writes: [
        ...trees(elsewhere),
        ...manifests.map((path) => ({ word: known(path), isTree: false })),
        ...(folder === undefined ? [] : [{ word: known(folder), isTree: true }]),
      ],
    }
  }
}
