import { z } from "zod"

/**
 * What a recorder of a work tree leaves at a look, as the content of a `workspace_snapshot` artifact: all that differed from a commit.
 * Contents are artifacts of their own, each recorded once in a run, and named here by their ids.
 */
export const WorkspaceSnapshot = z.object({
  version: z.literal(1),
  /** The top of the work tree on the machine it was recorded on. */
  root: z.string().max(4096),
  /** Where in it the command was started; empty for the top. */
  folder: z.string().max(4096),
  /** The commit the files differ from; null where there was none. */
  base: z.string().max(64).nullable(),
  /** The commit that was checked out. */
  head: z.string().max(64).nullable(),
  branch: z.string().max(1024).nullable(),
  /** The call whose request had just come; null before the command and after it. */
  at_step: z.string().nullable(),
  files: z.array(
    z.object({
      path: z.string().max(4096),
      kind: z.enum(["file", "executable", "symlink", "deleted"]),
      /** Equal within a run for equal files. */
      hash: z.string().max(128),
      byte_size: z.number().int().nonnegative().nullable(),
      /** The artifact with its bytes, or with the target of a link; null for a deleted one. */
      content: z.string().max(128).nullable(),
    }),
  ),
  left_out: z.array(z.object({ path: z.string().max(4096), why: z.string().max(128) })),
  /** How many more were left out than are named. */
  left_out_more: z.number().int().nonnegative(),
})
