import type { Finding } from '../../../domain/finding.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import type { OwnIds, RunProcess, StartProcess } from '../../../system/process.ts'
import type { Random } from '../../../system/random.ts'
import type { DriverLine, Found, LineDriver } from '../../driver.ts'
import { ChatDb } from './chat-db.ts'
import { lineFindings, numberUnknown } from './findings.ts'
import { MacLineRun } from './line-run.ts'
import { macHost, MessagesApp } from './mac-host.ts'
import { NumberLookup } from './number-lookup.ts'
import { MessagesScript, type ScriptCall } from './script-runner.ts'
import { troubleFinding } from './troubles.ts'

export type MacOptions = {
  readonly chatDbPath: string
  /** Number that the line sends from; null reads it from the history of Messages. */
  readonly phoneNumber: string | null
  readonly paths: {
    readonly osascript: string
    readonly open: string
    readonly pgrep: string
    readonly caffeinate: string
  }
  /** `darwin` on macOS. */
  readonly platform: string
}

export type MacTools = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly run: RunProcess
  readonly start: StartProcess
  readonly self: OwnIds
  /** Restarts the relay, where a service manager does: macOS grants only processes that start later. */
  readonly restart: ((why: string) => void) | null
  /** Called after each run of the script. */
  readonly onScriptCall?: ((call: ScriptCall) => void) | undefined
  /** Opens chat.db; throws a ChatDbError. */
  readonly openChatDb?: ((path: string) => ChatDb) | undefined
}

/** Messages of the Mac user that runs the relay: one line. */
export function createMacDriver(options: MacOptions, tools: MacTools): LineDriver {
  const { chatDbPath, platform, paths } = options
  const { run, self, openChatDb = (path) => ChatDb.open(path) } = tools
  const open = () => openChatDb(chatDbPath)
  const host = macHost({ run, platform, uid: self.uid })
  const onCall = tools.onScriptCall
  const script = new MessagesScript({ ...tools, osascriptPath: paths.osascript, onCall })
  const app = new MessagesApp({ ...tools, paths })
  const lookup = new NumberLookup({ ...tools, chatDbPath, open, phoneNumber: options.phoneNumber })
  let current: { readonly run: MacLineRun; readonly line: DriverLine } | null = null
  return {
    kind: 'mac',
    async discover(signal): Promise<readonly Found[]> {
      const key = await host.deviceKey(signal)
      return key === null ? [] : [{ key, number: await lookup.number(signal) }]
    },
    async checkup(signal): Promise<readonly Finding[]> {
      if (current !== null) return lineFindings(current.run, current.line)
      const { trouble } = lookup
      if (trouble !== null) return [troubleFinding(trouble, null)]
      const key = await host.deviceKey(signal)
      return lookup.isUnknown ? [numberUnknown(key)] : []
    },
    async run(line, listener, signal) {
      const lineTools = { ...tools, open, script, app, host }
      const run = new MacLineRun(lineTools, line, listener, signal)
      current = { run, line }
      try {
        await run.run()
      } finally {
        current = null
      }
    },
  }
}
