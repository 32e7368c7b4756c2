// The ClickHouse inside `chdb`, as a server: its command line is asked to listen and then to sleep. Ends when its standard input does.
import { createRequire } from "node:module"
import { join } from "node:path"

const [modules, folder, port, config] = process.argv.slice(2)
const require = createRequire(join(modules, "package.json"))
const { open, load, DataType } = require("ffi-rs")
const { libchdbPath } = require("chdb/libchdb")

process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0))
process.stdin.resume()
open({ library: "chdb", path: libchdbPath() })
const argv = [
  "clickhouse",
  ...(config ? [`--config-file=${config}`] : []),
  `--path=${folder}`,
  `--http_port=${port}`,
  "--listen_host=127.0.0.1",
  "--query",
  "SYSTEM START LISTEN HTTP; SELECT sleepEachRow(1) FROM numbers(1000000) SETTINGS max_block_size=1, function_sleep_max_microseconds_per_block=0 FORMAT Null",
]
await load({
  library: "chdb",
  funcName: "chdb_query_cmdline",
  retType: DataType.I32,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
  runInNewThread: true,
})
process.exit(1)
