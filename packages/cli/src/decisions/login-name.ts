import { userInfo } from "node:os"

/** Who runs this command, as the system knows them; undefined where it does not. */
export function loginName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}
