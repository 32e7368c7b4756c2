// Runs the tests of the Python recorder that need neither threads nor sockets on a CPython in WebAssembly: the shared vectors and the redaction.
//
//     node scripts/python-in-wasm.mjs <pyodide.mjs> <redaction vectors>
import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { pathToFileURL } from "node:url"

const [entry, vectors] = process.argv.slice(2)
const { loadPyodide } = await import(pathToFileURL(entry).href)
const python = await loadPyodide({ indexURL: `${dirname(entry)}/` })
python.FS.mkdirTree("/repository")
python.FS.mount(python.FS.filesystems.NODEFS, { root: resolve(".") }, "/repository")
python.FS.writeFile("/vectors.json", readFileSync(vectors))
const status = python.runPython(`
import os, sys, unittest
os.environ["ORANGEBOX_REDACTION_VECTORS"] = "/vectors.json"
os.environ["ORANGEBOX_REDACTION_EVERY"] = "12"
sys.path[:0] = ["/repository/python/src", "/repository/python/tests"]
sys.dont_write_bytecode = True
suite = unittest.defaultTestLoader.loadTestsFromNames(["test_vectors", "test_redaction"])
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite)
0 if result.wasSuccessful() and result.testsRun > 300 else 1
`)
process.exitCode = status
