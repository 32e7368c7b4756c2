import { posix } from "node:path"
import { MASK_MIDDLE } from "@orangebox/contract"

/**
 * Why a recorded path may not be written to; undefined for one that stays inside the tree and out of git's own folder. Names that some file
 * systems take for `.git` count as it.
 */
export function whyUnsafe(path: string): string | undefined {
  if (path.includes(MASK_MIDDLE)) return "its name is masked"
  if (path === "" || path.startsWith("/") || path.includes("\0")) return "no path inside the tree"
  const parts = path.split("/")
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "no path inside the tree"
  if (parts.some(isGitsOwn)) return "git's own folder"
  return undefined
}

const isGitsOwn = (part: string): boolean => {
  // Some file systems ignore these characters, and others dots and spaces at the end and what follows a colon.
  const bare = part.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "").replace(/(?::.*|[. ]+)$/, "")
  return /^(?:\.git|git~\d+)$/i.test(bare) || part.includes("\\")
}

/** Whether a link at this path points out of the tree. */
export function isOutsideTree(path: string, target: Uint8Array): boolean {
  const text = Buffer.from(target).toString("utf8")
  if (text === "" || text.includes("\0") || posix.isAbsolute(text) || text.includes("\\")) return true
  const parts = text.split("/").filter((part) => part !== "" && part !== ".")
  // Behind a name `..` is the parent of wherever the name leads, which need not be the folder it stands in.
  if (parts.lastIndexOf("..") > parts.findIndex((part) => part !== "..") && parts.some((part) => part !== ".."))
    return true
  const leads = posix.normalize(posix.join(posix.dirname(path), text))
  if (leads === ".." || leads.startsWith("../")) return true
  return leads !== "." && leads.split("/").some(isGitsOwn)
}
