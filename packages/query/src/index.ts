// Views
export { viewRun } from "./run-view.js"
export { skeletonText } from "./skeleton.js"
