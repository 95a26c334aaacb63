import { runCommandLine } from './cli/run.ts'
import { readSurroundings } from './system/process.ts'

process.exit(await runCommandLine(readSurroundings()))
