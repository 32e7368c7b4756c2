import type { LockHolder } from "@orangebox/store"

export function holderWords({ pid, host }: LockHolder): string {
  return `process ${pid} on ${host}`
}
