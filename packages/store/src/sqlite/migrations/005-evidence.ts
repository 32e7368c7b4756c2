import { ID_KINDS } from "../../codes.js"
import type { Migration } from "../schema.js"
import { SUMS_THAT_STAY } from "./005-sums-that-stay.js"

const kind = (name: (typeof ID_KINDS)[number]): number => ID_KINDS.indexOf(name)

/** Conversations that queue events name, lanes, and what links point at are found by their ids, in what was recorded before as well. */
export const evidence: Migration = {
  version: 5,
  title: "evidence",
  statements: [
    `INSERT OR IGNORE INTO id_rows SELECT attribute.value, ${kind("conversation")}, event_rows.key
      FROM event_rows, json_each(event_rows.json, '$.attributes') AS attribute
      WHERE json_type(event_rows.json, '$.attributes') = 'object' AND attribute.type = 'text'
      AND attribute.key LIKE '%conversation_id' AND length(attribute.value) BETWEEN 1 AND 512`,
    `INSERT OR IGNORE INTO id_rows SELECT profiles.json ->> '$.lane_id', ${kind("lane")}, event_rows.key
      FROM event_rows JOIN profiles ON profiles.key = event_rows.profile JOIN event_types ON event_types.key = event_rows.type
      WHERE event_types.name = 'model_called' AND length(profiles.json ->> '$.lane_id') BETWEEN 1 AND 512`,
    `INSERT OR IGNORE INTO id_rows SELECT coalesce(link ->> '$.run_id', link ->> '$.step_id') AS target, ${kind("linked")}, event
      FROM (
        SELECT event_rows.key AS event, event_rows.json -> '$.payload.link' AS link FROM event_rows
        UNION ALL SELECT event_rows.key, entry.value FROM event_rows, json_each(event_rows.json, '$.links') AS entry
        WHERE json_type(event_rows.json, '$.links') = 'array' AND entry.type = 'object'
      ) WHERE link IS NOT NULL AND link ->> '$.kind' <> 'follows' AND length(target) BETWEEN 1 AND 512`,
    ...SUMS_THAT_STAY,
  ],
}
