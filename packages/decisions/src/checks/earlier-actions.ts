import { holdsMask } from "../captured-text.js"
import type { CheckContext } from "./rule.js"
import { HeldSecrets } from "./secrets/held-secrets.js"
import { ShellFolders } from "./shell-folders.js"

/** What the actions of one run left behind that counts for those after them. */
export class EarlierActions {
  readonly folders = new ShellFolders()
  readonly secrets = new HeldSecrets()
  readonly #findSecrets: CheckContext["findSecrets"]

  constructor({ findSecrets }: Pick<CheckContext, "findSecrets"> = {}) {
    this.#findSecrets = findSecrets
  }

  /** Files whose text was read and held a secret. */
  showed(text: string | null, files: readonly string[]): void {
    if (text === null || files.length === 0) return
    if (holdsMask(text) || (this.#findSecrets?.(text).length ?? 0) > 0)
      for (const file of files) this.secrets.keep(file)
  }
}
