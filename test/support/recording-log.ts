import type { Log, LogFields, LogLevel } from '../../src/system/log.ts'

export type LogLine = readonly [LogLevel, string, LogFields]

/** A log that remembers. */
export function recordingLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push([level, message, fields])
  return {
    lines,
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
  }
}
