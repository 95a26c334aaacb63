import { runCommandLine } from './cli/run.ts'

process.exit(await runCommandLine())
