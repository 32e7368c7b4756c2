import { OPEN_ALL_BLOCKS } from "../rollup-blocks.js"
import type { Migration } from "../schema.js"

/** Blocks of runs are added up again in higher blocks; a reader begins at the open ones, so all of them are open until they are added up. */
export const blocksOfBlocks: Migration = {
  version: 8,
  title: "blocks of blocks",
  statements: [...OPEN_ALL_BLOCKS, "DELETE FROM rollup_blocks", "DELETE FROM contributor_blocks"],
}
