// Runs the system's tools that manage the service, each by its absolute path. None needs more rights than the
// user has.

import type { ProcessEnd, RunProcess } from '../system/process.ts'

/** The service cannot be managed; the message says why and what to do. */
export class HostingError extends Error {
  override readonly name = 'HostingError'
}

type ToolOrder = {
  readonly path: string
  readonly args: readonly string[]
  /** Standard input; empty by default. */
  readonly input?: string | undefined
  /** The default is 30 s. */
  readonly timeoutMs?: number | undefined
  readonly outputBytesMax?: number | undefined
}

export type ToolAnswer = {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const TIMEOUT_MS = 30_000
const KILL_AFTER_MS = 5_000
const OUTPUT_LENGTH_MAX = 300

/** Returns the answer, whatever its exit code; null if the tool gave none. */
export async function tryTool(
  run: RunProcess,
  order: ToolOrder,
  signal: AbortSignal,
): Promise<ToolAnswer | null> {
  const end = await runTool(run, order, signal)
  return end.end === 'exited' ? end : null
}

/** Returns the answer, whatever its exit code; throws a HostingError if the tool gave none. */
export async function askTool(
  run: RunProcess,
  order: ToolOrder,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const end = await runTool(run, order, signal)
  if (end.end === 'exited') return end
  throw new HostingError(`${order.path} ${describeEnd(end)}.`)
}

/** Returns standard output; throws a HostingError unless the tool succeeds. `purpose` completes "Cannot …". */
export async function useTool(
  run: RunProcess,
  order: ToolOrder & { readonly purpose: string },
  signal: AbortSignal,
): Promise<string> {
  const answer = await askTool(run, order, signal)
  if (answer.exitCode === 0) return answer.stdout
  throw new HostingError(`Cannot ${order.purpose}: ${describeFailure(order.path, answer)}`)
}

export function describeFailure(path: string, { exitCode, stdout, stderr }: ToolAnswer): string {
  const said = (stderr.trim() || stdout.trim()).replaceAll(/\s+/g, ' ').slice(0, OUTPUT_LENGTH_MAX)
  return said === ''
    ? `${path} ended with ${exitCode}.`
    : `${said} (${path} ended with ${exitCode})`
}

function runTool(run: RunProcess, order: ToolOrder, signal: AbortSignal): Promise<ProcessEnd> {
  const { path, args, input, timeoutMs = TIMEOUT_MS, outputBytesMax } = order
  const killAfterMs = timeoutMs + KILL_AFTER_MS
  return run({ path, args, input, timeoutMs, killAfterMs, outputBytesMax }, signal)
}

function describeEnd(end: Exclude<ProcessEnd, { readonly end: 'exited' }>): string {
  if (end.end === 'not_started') return `cannot be run (${end.why})`
  return end.why === 'timeout' ? 'took too long' : 'was interrupted'
}
