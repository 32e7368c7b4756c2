import { userInfo } from "node:os"
import type { AnnotationDoor } from "@orangebox/reader"
import { versionOf } from "../version.js"

/** As what this command speaks about runs. */
export const annotationDoor = (): AnnotationDoor => ({ source: "orangebox.cli", version: versionOf() })

/** Who runs this command, as the system knows them; undefined where it does not. */
export function loginName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}
