import type { Place } from "./command.js"

/** What a shell knows at one point of a text. */
export class Scope {
  private readonly parent: Scope | undefined
  private readonly variables = new Map<string, readonly string[] | undefined>()
  readonly place: Place
  cwds: readonly string[] | undefined

  constructor(parent: Scope | undefined, place: Place, cwds: readonly string[] | undefined) {
    this.parent = parent
    this.place = place
    this.cwds = cwds
  }

  /** A subshell: sees everything, changes nothing outside. */
  inside(place: Place = this.place): Scope {
    return new Scope(this, place, place === this.place ? this.cwds : [""])
  }

  /** The values a variable may have; undefined when the text does not tell. */
  valuesOf(name: string): readonly string[] | undefined {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      if (scope.variables.has(name)) return scope.variables.get(name)
    }
    return undefined
  }

  /** Takes over what a block that may not have run assigned: each variable then has its old values or the new ones. */
  absorb(block: Scope): void {
    for (const [name, values] of block.variables) {
      const before = this.valuesOf(name)
      this.set(name, values === undefined || before === undefined ? undefined : [...new Set([...before, ...values])])
    }
  }

  set(name: string, values: readonly string[] | undefined): void {
    this.variables.set(name, values !== undefined && values.length > MAX_VALUES ? undefined : values)
  }
}

/** Values followed per variable; one more and it counts as unknown. */
const MAX_VALUES = 16
const MAX_CWDS = 8
const MAX_PATH = 4096

/** Where a path leads from each of the folders a command may stand in. */
export function joinPaths(folders: readonly string[], path: string): readonly string[] | undefined {
  const joined = folders.map((folder) => joinPath(folder, path))
  return joined.some((one) => one.length > MAX_PATH) ? undefined : [...new Set(joined)]
}

export function joinPath(folder: string, path: string): string {
  if (folder === "" || path.startsWith("/") || isHome(path) || /^[A-Za-z]:[\\/]/.test(path)) return path
  return `${folder}/${path}`
}

const isHome = (path: string): boolean => path.startsWith("~")

export function mergeFolders(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined || other === undefined) return undefined
  const merged = [...new Set([...one, ...other])]
  return merged.length > MAX_CWDS ? undefined : merged
}
