import { jsonLog, type Log } from '../system/log.ts'

/** The log for a person at a terminal: the same lines in short, warnings and errors only. */
export function terminalLog(write: (line: string) => void, now: () => number): Log {
  return jsonLog((line) => write(`${shortened(line)}\n`), now, 'warn')
}

function shortened(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown> // Our own.
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const head = `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(message)}`
  return [head, ...pairs].join('  ')
}
