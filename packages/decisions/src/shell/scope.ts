import type { Place } from "./command.js"

/** What a shell knows at one point of a text. */
export class Scope {
  private readonly parent: Scope | undefined
  // Made when first needed: most scopes of most texts never hold anything.
  private variables: Map<string, readonly string[] | undefined> | undefined
  private exported: Set<string> | undefined
  /** A shell of its own, which is handed only what is exported. */
  private isOtherShell = false
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

  /** A shell started by this one. */
  otherShell(place: Place = this.place): Scope {
    const scope = this.inside(place)
    scope.isOtherShell = true
    return scope
  }

  /** The values a variable may have; undefined when the text does not tell. */
  valuesOf(name: string): readonly string[] | undefined {
    let isHandedOn = true
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      if (scope.variables?.has(name) === true) {
        const values = scope.variables.get(name)
        // Whether a name that is not exported here was in the environment from the start, and so is handed on, the text does not tell.
        return isHandedOn || values === undefined || scope.exports(name) ? values : [...new Set([...values, ""])]
      }
      if (scope.isOtherShell) isHandedOn = false
    }
    return undefined
  }

  export(name: string): void {
    this.exported ??= new Set()
    this.exported.add(name)
  }

  private exports(name: string): boolean {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      if (scope.exported?.has(name) === true) return true
    }
    return false
  }

  /** Takes over what a block that may not have run assigned: each variable then has its old values or the new ones. */
  absorb(block: Scope): void {
    for (const [name, values] of block.variables ?? []) {
      const before = this.valuesOf(name)
      this.set(name, values === undefined || before === undefined ? undefined : [...new Set([...before, ...values])])
    }
  }

  set(name: string, values: readonly string[] | undefined): void {
    this.variables ??= new Map()
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

function joinPath(folder: string, path: string): string {
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
