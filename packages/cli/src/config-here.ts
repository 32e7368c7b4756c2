import { findConfig } from "@orangebox/recorder"

// A module of its own, so that a command that asks for the configuration alone does not load all of the recorder: a package that is imported
// as a whole at run time is bundled as a whole.
export const findConfigHere = (): ReturnType<typeof findConfig> => findConfig(process.cwd())
